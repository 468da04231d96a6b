import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { notWaiting } from '../volumes/mount-events.ts';
import type { VolumeAction } from './actions.ts';
import { reconcileVolumes, type PodVolumesSnapshot, type VolumeEntry } from './reconcile.ts';
import type { PublishedRecord } from './journal.ts';
import type { PodVolume } from './pod-volume.ts';

const now = Date.UTC(2026, 0, 1);
const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid', resourceVersion: '1' } } as Stored<Pod>;
const volume = (name: string) => ({ key: `uid/${name}`, podVolume: name, onNode: { name } }) as PodVolume;
const ready = (name: string, changes: Partial<VolumeEntry> = {}): VolumeEntry => ({
  state: { state: 'ready', name },
  volume: volume(name),
  staging: 'needless',
  growth: undefined,
  published: undefined,
  busy: false,
  notBefore: undefined,
  ...changes,
});
const wanted = (...volumes: readonly VolumeEntry[]): PodVolumesSnapshot => ({ type: 'wanted', pod, volumes, memory: notWaiting });
const done = ({ actions }: { readonly actions: readonly VolumeAction[] }) =>
  actions.map((action) =>
    'volume' in action ? `${action.do} ${action.volume.podVolume}` : 'record' in action ? `${action.do} ${action.record.key}` : action.do,
  );

describe('a pod whose volumes are wanted', () => {
  test('gets each volume mounted: for the node first, where that is needed', () =>
    expect(done(reconcileVolumes(wanted(ready('a'), ready('b', { staging: 'missing' }), ready('c', { staging: 'done' })), now))).toEqual([
      'publish a',
      'stage b',
      'publish c',
    ]));

  test('one that waits, is busy or has just failed keeps no other waiting', () => {
    const unattached: VolumeEntry = { ...ready('u'), state: { state: 'unattached', name: 'u' } };
    const decision = reconcileVolumes(wanted(unattached, ready('b', { busy: true }), ready('f', { notBefore: now + 500 }), ready('a')), now);
    // Since when it waits is remembered: patience ends.
    expect(done(decision)).toEqual(['publish a', 'remember']);
    expect(decision.again).toBe(now + 500);
  });

  test('what is mounted stays so, whatever has become of its claim', () => {
    const lost: VolumeEntry = { ...ready('a', { published: { stale: false, again: undefined } }), state: { state: 'unclaimed', name: 'a', error: 'gone' } };
    expect(reconcileVolumes(wanted(lost), now)).toMatchObject({ actions: [], reasons: [{ code: 'Mounted' }] });
  });

  test('what has changed, or is due, is made anew', () => {
    const due = ready('due', { published: { stale: false, again: now } });
    const later = ready('later', { published: { stale: false, again: now + 60_000 } });
    const decision = reconcileVolumes(wanted(ready('stale', { published: { stale: true, again: undefined } }), due, later), now);
    expect(done(decision)).toEqual(['publish stale', 'publish due']);
    expect(decision.again).toBe(now + 60_000);
  });

  test('is told, and that is remembered after it was told', () => {
    const failing: VolumeEntry = { ...ready('a'), state: { state: 'failing', name: 'a', reason: 'FailedMount', message: 'no' } };
    expect(done(reconcileVolumes(wanted(failing), now))).toEqual(['record-event', 'remember']);
  });
});

describe('a pod that leaves', () => {
  const record = (key: string) => ({ type: 'published', key, podUid: 'uid' }) as PublishedRecord;
  const leaves = (...keys: readonly string[]): PodVolumesSnapshot => ({
    type: 'unwanted',
    uid: 'uid',
    records: keys.map((key) => ({ record: record(key), busy: key === 'busy', notBefore: key === 'failed' ? now + 500 : undefined })),
    hasDirectory: true,
  });

  test('has its volumes unmounted, and its directory removed once the last is', () => {
    expect(done(reconcileVolumes(leaves('a', 'busy', 'failed'), now))).toEqual(['unpublish a']);
    expect(reconcileVolumes(leaves('a', 'busy', 'failed'), now).again).toBe(now + 500);
    expect(done(reconcileVolumes(leaves('busy'), now))).toEqual([]);
    expect(done(reconcileVolumes(leaves(), now))).toEqual(['clean']);
  });
});

/** Everything that can be with one volume. */
const anySnapshot = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c'),
    staging: fc.constantFrom('needless' as const, 'missing' as const, 'done' as const),
    published: fc.option(fc.record({ stale: fc.boolean(), again: fc.option(fc.integer({ min: now - 10, max: now + 10 }), { nil: undefined }) }), {
      nil: undefined,
    }),
    busy: fc.boolean(),
    notBefore: fc.option(fc.integer({ min: now - 10, max: now + 10 }), { nil: undefined }),
    attached: fc.boolean(),
  })
  .map(({ name, attached, ...entry }): VolumeEntry => ready(name, { ...entry, ...(attached ? {} : { state: { state: 'unattached', name } }) }));

/** The volume as it is once an action on it has succeeded. */
const after = (entry: VolumeEntry, actions: readonly string[]): VolumeEntry => {
  const { name } = entry.state;
  if (actions.includes(`stage ${name}`)) return { ...entry, staging: 'done', notBefore: undefined };
  return actions.includes(`publish ${name}`) ? { ...entry, published: { stale: false, again: undefined }, notBefore: undefined } : entry;
};

describe('whatever there is', () => {
  const distinct = fc.uniqueArray(anySnapshot, { selector: ({ state }) => state.name });

  test('it settles: each volume takes two steps at most, and then nothing is left to do', () =>
    fc.assert(
      fc.property(distinct, (entries) => {
        let volumes = entries;
        let memory = notWaiting;
        const look = (): PodVolumesSnapshot => ({ type: 'wanted', pod, volumes, memory });
        for (let pass = 0; pass < 2; pass++) {
          const decision = reconcileVolumes(look(), now);
          const actions = done(decision);
          volumes = volumes.map((entry) => after(entry, actions));
          for (const action of decision.actions) if (action.do === 'remember') memory = action.mounts;
        }
        expect(reconcileVolumes(look(), now).actions).toEqual([]);
      }),
    ));

  test('the same entry gives the same actions, and nothing is done to what is busy', () =>
    fc.assert(
      fc.property(distinct, (entries) => {
        const decision = reconcileVolumes(wanted(...entries), now);
        expect(reconcileVolumes(wanted(...entries), now)).toEqual(decision);
        const busy = entries.filter((entry) => entry.busy).map(({ state }) => state.name);
        for (const action of done(decision)) expect(busy).not.toContain(action.split(' ')[1]);
      }),
    ));

  test('any part of the actions leads to the same end', () =>
    fc.assert(
      fc.property(distinct, fc.nat(3), (entries, cut) => {
        const run = (volumes: readonly VolumeEntry[], first: number): readonly VolumeEntry[] => {
          let next = volumes;
          for (let pass = 0; pass < 9; pass++) {
            const actions = done(reconcileVolumes(wanted(...next), now));
            const some = pass === 0 ? actions.slice(0, first) : actions;
            next = next.map((entry) => after(entry, some));
          }
          return next;
        };
        expect(run(entries, cut)).toEqual(run(entries, 9));
      }),
    ));
});
