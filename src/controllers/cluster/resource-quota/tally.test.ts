import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod, ResourceQuota } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { podEvaluator } from '../../../api/quota/pods.ts';
import { type Meter, meterOf, readAll } from '../../../api/quota/meter.ts';
import { formatUsage } from '../../../api/quota/usage.ts';
import { Tally } from './tally.ts';

const quota: ResourceQuota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'default' },
  spec: { hard: { pods: '9', 'count/pods': '9', 'requests.memory': '9Gi' }, scopes: ['NotTerminating'] },
  status: {},
};
const meter = meterOf(quota, podEvaluator) as Meter;

interface Look {
  readonly memory: string;
  readonly phase: string;
  /** Second of its deletion, with a grace period of ten seconds; undefined: it is not deleted. */
  readonly going: number | undefined;
  readonly deadline: boolean;
}

const pod = (uid: string, { memory, phase, going, deadline }: Look): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: uid,
    namespace: 'default',
    uid,
    resourceVersion: '1',
    ...(going === undefined ? {} : { deletionTimestamp: new Date(going * 1000).toISOString(), deletionGracePeriodSeconds: 10 }),
  },
  spec: { containers: [{ name: 'c', resources: { requests: { memory } } }], ...(deadline ? { activeDeadlineSeconds: 5 } : {}) },
  status: { phase },
});
const running: Look = { memory: '1Gi', phase: 'Running', going: undefined, deadline: false };
const said = (tally: Tally) => formatUsage(tally.total());

describe('a tally', () => {
  test('begins at zero and follows creations, changes and deletions', () => {
    const tally = new Tally([meter]);
    const [small, large] = [pod('a', running), pod('a', { ...running, memory: '3Gi' })];
    const busy: Stored<Pod> = { ...large, status: { ...large.status, podIP: '10.0.0.1' } };
    expect(said(tally)).toEqual({ pods: '0', 'count/pods': '0', 'requests.memory': '0' });
    expect(tally.change(meter, { before: undefined, after: small }, 0)).toBe(true);
    expect(tally.change(meter, { before: small, after: large }, 0)).toBe(true);
    expect(said(tally)).toEqual({ pods: '1', 'count/pods': '1', 'requests.memory': '3Gi' });
    expect(tally.change(meter, { before: large, after: busy }, 0)).toBe(false);
    tally.change(meter, { before: large, after: undefined }, 0);
    expect(said(tally)).toEqual({ pods: '0', 'count/pods': '0', 'requests.memory': '0' });
  });

  test('knows when an object will stop counting, and subtracts what it counted', () => {
    const tally = new Tally([meter]);
    const going = pod('a', { ...running, going: 100 });
    tally.change(meter, { before: undefined, after: pod('a', running) }, 0);
    expect(tally.change(meter, { before: pod('a', running), after: going }, 0)).toBe(true);
    expect(tally.nextEnd).toBe(110_000);
    tally.advance(110_000);
    expect(said(tally)).toMatchObject({ pods: '1' });
    tally.advance(110_001);
    expect(said(tally)).toEqual({ pods: '0', 'count/pods': '1', 'requests.memory': '0' });
    expect(tally.nextEnd).toBeUndefined();
    tally.change(meter, { before: going, after: undefined }, 120_000);
    expect(said(tally)).toEqual({ pods: '0', 'count/pods': '0', 'requests.memory': '0' });
  });

  test('always equals a full count', () => {
    const looks: fc.Arbitrary<Look> = fc.record({
      memory: fc.constantFrom('1Gi', '512Mi', '100M'),
      phase: fc.constantFrom('Pending', 'Running', 'Succeeded'),
      going: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
      deadline: fc.boolean(),
    });
    const steps = fc.array(
      fc.record({ uid: fc.constantFrom('a', 'b', 'c', 'd'), look: fc.option(looks, { nil: undefined }), pause: fc.integer({ min: 0, max: 15_000 }) }),
    );
    fc.assert(
      fc.property(steps, (all) => {
        const tally = new Tally([meter]);
        const pods = new Map<string, Stored<Pod>>();
        let now = 0;
        for (const { uid, look, pause } of all) {
          now += pause;
          const [before, after] = [pods.get(uid), look === undefined ? undefined : pod(uid, look)];
          if (before !== undefined || after !== undefined) tally.change(meter, { before, after }, now);
          if (after === undefined) pods.delete(uid);
          else pods.set(uid, after);
          tally.advance(now);
          expect(values(tally.total())).toEqual(values(readAll(meter, pods.values(), now)));
          const ends = [...pods.values()].flatMap((each) => podEvaluator.endsAt?.(each) ?? []).filter((end) => end >= now);
          if (ends.length > 0) expect(tally.nextEnd).toBeLessThanOrEqual(Math.min(...ends));
        }
      }),
    );
  });
});

/** Sums may be in any of the formats of their terms. */
const values = (usage: ReturnType<Tally['total']>) => [...usage].map(([name, { unscaled, exponent }]) => `${name} ${unscaled * 10n ** BigInt(exponent)}`);
