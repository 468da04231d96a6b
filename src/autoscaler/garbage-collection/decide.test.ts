import { expect, test } from 'vitest';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { decideGarbage } from './decide.ts';

const at = (seconds: number): number => Date.parse('2026-01-01T00:00:00Z') + seconds * 1000;

const claim = (name: string, { created, launched }: { readonly created: number; readonly launched: number }): NodeClaim =>
  ({
    metadata: { name, creationTimestamp: new Date(at(created)).toISOString() },
    status: { providerID: `aws:///a/${name}`, conditions: [{ type: 'Launched', status: 'True', lastTransitionTime: new Date(at(launched)).toISOString() }] },
  }) as unknown as NodeClaim;

const decided = (...claims: readonly NodeClaim[]) =>
  decideGarbage({ listed: { instances: [], at: at(100) }, claims, nodeOf: () => undefined }, at(110)).reasons.map(({ code, text }) => `${code} ${text}`);

test('a claim whose instance is not in the cloud any more is deleted', () => {
  expect(decided(claim('lost', { created: 0, launched: 5 }))).toEqual(['LostInstance lost']);
});

test('a claim is not lost because its instance was launched, late, after the cloud was asked', () => {
  expect(decided(claim('late', { created: 0, launched: 105 }))).toEqual([]);
});

test('an instance without a claim is ended, unless it is new', () => {
  const instances = [30, 105].map((seconds) => ({ providerID: `aws:///a/${seconds}`, claim: 'none', launchedAt: at(seconds) }));
  expect(decideGarbage({ listed: { instances, at: at(108) }, claims: [], nodeOf: () => undefined }, at(110)).actions).toEqual([
    { do: 'endInstance', providerID: 'aws:///a/30' },
  ]);
});
