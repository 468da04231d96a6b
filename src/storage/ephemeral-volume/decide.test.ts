import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { RecordedEvent } from '../../client/decision.ts';
import type { Draft } from '../../client/client.ts';
import { decideClaims, type EphemeralVolumeSnapshot } from './decide.ts';

const template = { metadata: {}, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
const pod = (volumes: NonNullable<Pod['spec']['volumes']>, metadata: object = {}, phase = 'Pending'): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'team', uid: 'u1', resourceVersion: '1', ...metadata },
  spec: { containers: [], volumes },
  status: { phase },
});
const ephemeral = (name: string, more: object = {}) => ({ name, ephemeral: { volumeClaimTemplate: { ...template, ...more } } });
const claim = (name: string, owner: string | undefined, more: object = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name,
    namespace: 'team',
    ...(owner === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: owner, controller: true }] }),
    ...more,
  },
  spec: { resources: {} },
  status: {},
});

const now = 1_000_000;
const snapshotOf = (of: Stored<Pod>, claims: readonly PersistentVolumeClaim[] = [], last?: RecordedEvent): EphemeralVolumeSnapshot => {
  const byName = new Map(claims.map((each) => [each.metadata.name, each]));
  return { pod: of, claim: (name) => byName.get(name), lastEvent: () => last };
};
const done = (snapshot: EphemeralVolumeSnapshot) =>
  decideClaims(snapshot, now).actions.map((action) => (action.do === 'recordEvent' ? action.event.message : `create ${action.claim.metadata?.name ?? ''}`));
const foreign = 'ephemeral volume scratch: PVC team/web-scratch was not created for pod team/web (pod is not owner)';

describe('a pod with generic ephemeral volumes', () => {
  test('gets a claim for each, made as its template says and owned by it', () => {
    const labelled = ephemeral('scratch', { metadata: { labels: { kind: 'scratch' }, annotations: { a: 'b' }, finalizers: ['x/y'], name: 'ignored' } });
    expect(decideClaims(snapshotOf(pod([labelled])), now).actions).toEqual([
      {
        do: 'create-claim',
        pod: pod([labelled]),
        volume: 'scratch',
        claim: {
          metadata: {
            namespace: 'team',
            name: 'web-scratch',
            labels: { kind: 'scratch' },
            annotations: { a: 'b' },
            ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1', controller: true, blockOwnerDeletion: true }],
          },
          spec: template.spec,
        },
      },
    ]);
    expect(done(snapshotOf(pod([ephemeral('a'), { name: 'plain', emptyDir: {} }, ephemeral('b')])))).toEqual(['create web-a', 'create web-b']);
  });

  test.each([
    ['its own claim', [claim('web-scratch', 'u1')], []],
    ['its own claim, which is being deleted', [claim('web-scratch', 'u1', { deletionTimestamp: '2026-01-01T00:00:00Z' })], []],
    ['a claim of that name without an owner', [claim('web-scratch', undefined)], [foreign]],
    ['the claim of an earlier pod of that name', [claim('web-scratch', 'u0')], [foreign]],
    [
      'a claim that it owns but does not control',
      [claim('web-scratch', undefined, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' }] })],
      [foreign],
    ],
  ])('and %s', (_, claims, expected) => expect(done(snapshotOf(pod([ephemeral('scratch')]), claims))).toEqual(expected));

  test('that cannot have one of its claims does not get those behind it', () => {
    expect(done(snapshotOf(pod([ephemeral('first'), ephemeral('scratch'), ephemeral('last')]), [claim('web-scratch', 'u0')]))).toEqual([
      'create web-first',
      foreign,
    ]);
  });

  test('gets the event, and again while that lasts', () => {
    const conflict = (last?: RecordedEvent) => decideClaims(snapshotOf(pod([ephemeral('scratch')]), [claim('web-scratch', 'u0')], last), now);
    const recordedAt = (at: number): RecordedEvent => ({ reason: 'FailedBinding', message: foreign, at });
    expect(conflict().actions).toMatchObject([{ event: { type: 'Warning', reason: 'FailedBinding' }, rememberAs: 'u1' }]);
    expect(conflict(recordedAt(now - 10_000)).actions).toEqual([]);
    expect(conflict(recordedAt(now - 10_000)).again).toBe(now + 5000);
    expect(conflict(recordedAt(now - 3_600_000)).actions).toHaveLength(1);
    expect(conflict(recordedAt(now - 60_000)).reasons).toMatchObject([{ code: 'ForeignClaim', next: 'user' }]);
  });

  test('needs none any more if it is being deleted; if it has finished it does', () => {
    expect(done(snapshotOf(pod([ephemeral('a')], { deletionTimestamp: '2026-01-01T00:00:00Z' })))).toEqual([]);
    expect(done(snapshotOf(pod([ephemeral('a')], {}, 'Succeeded')))).toEqual(['create web-a']);
  });
});

describe('for every snapshot', () => {
  const names = ['a', 'b', 'c', 'd'];
  const worlds = fc
    .record({
      volumes: fc.uniqueArray(fc.constantFrom(...names)),
      owned: fc.uniqueArray(fc.constantFrom(...names)),
      taken: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 1 }),
      going: fc.boolean(),
    })
    .map(({ volumes, owned, taken, going }) => ({
      pod: pod(
        volumes.map((name) => ephemeral(name)),
        going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {},
      ),
      claims: [...owned.filter((name) => !taken.includes(name)).map((name) => claim(`web-${name}`, 'u1')), ...taken.map((name) => claim(`web-${name}`, 'u0'))],
    }));
  const asStored = (draft: Draft<PersistentVolumeClaim>) => ({ ...claim('', undefined), ...draft }) as PersistentVolumeClaim;
  /** The claims after the first `count` actions. */
  const after = (snapshot: EphemeralVolumeSnapshot, claims: readonly PersistentVolumeClaim[], count = Infinity) => [
    ...claims,
    ...decideClaims(snapshot, now)
      .actions.slice(0, count)
      .flatMap((action) => (action.do === 'create-claim' ? asStored(action.claim) : [])),
  ];

  test('it settles, and decides the same from the same', () => {
    fc.assert(
      fc.property(worlds, ({ pod: of, claims }) => {
        const first = decideClaims(snapshotOf(of, claims), now);
        expect(decideClaims(snapshotOf(of, claims), now)).toEqual(first);
        const last = first.actions.at(-1);
        const recorded = last?.do === 'recordEvent' ? { ...last.event, at: now } : undefined;
        expect(done(snapshotOf(of, after(snapshotOf(of, claims), claims), recorded))).toEqual([]);
      }),
    );
  });

  test('a crash after any action leaves the rest to be done, and nothing twice', () => {
    fc.assert(
      fc.property(worlds, fc.nat(5), ({ pod: of, claims }, count) => {
        const whole = after(snapshotOf(of, claims), claims);
        const some = after(snapshotOf(of, claims), claims, count);
        expect(after(snapshotOf(of, some), some)).toEqual(whole);
        expect(new Set(whole.map(({ metadata }) => metadata.name)).size).toBe(whole.length);
      }),
    );
  });
});
