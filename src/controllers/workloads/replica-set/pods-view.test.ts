import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { isPodActive, isPodAvailable, isPodReady, isPodTerminating, nextAvailability } from '../../pods/state.ts';
import { PodsView } from './pods-view.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const set = (minReadySeconds: number): Stored<ReplicaSet> => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'team', uid: 'set', resourceVersion: '1', generation: 1 },
  spec: {
    minReadySeconds,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web', tier: 'front' } }, spec: { containers: [] } },
  },
  status: { replicas: 0 },
});

const podArbitrary = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  exists: fc.constantFrom(true, true, false),
  namespace: fc.constantFrom('team', 'team', 'team', 'other'),
  labels: fc.constantFrom({ app: 'web' }, { app: 'web', tier: 'front' }, { app: 'other' }),
  phase: fc.constantFrom('Pending', 'Running', 'Failed'),
  readyFor: fc.constantFrom(undefined, 'no time', 5, 6, 30),
  goes: fc.boolean(),
});

function podOf({ name, namespace, labels, phase, readyFor, goes }: typeof podArbitrary extends fc.Arbitrary<infer T> ? T : never): Stored<Pod> {
  const lastTransitionTime = typeof readyFor === 'number' ? new Date(now - readyFor * 1000).toISOString() : null;
  const conditions = readyFor === undefined ? [] : [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime }];
  const deletion = goes ? { deletionTimestamp: '2026-01-01T11:00:00Z' } : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `${namespace} ${name}`, resourceVersion: '1', labels, ...deletion },
    spec: { containers: [] },
    status: { phase, conditions },
  };
}

/** What the view should say, by a look at every pod. */
function counted(pods: readonly Stored<Pod>[], minReadySeconds: number) {
  const own = pods.filter(({ metadata }) => metadata.namespace === 'team');
  const selected = own.filter(({ metadata }) => metadata.labels?.['app'] === 'web');
  const active = selected.filter(isPodActive);
  return {
    active: active.length,
    names: active.map(({ metadata }) => metadata.name).toSorted(),
    terminating: selected.filter(isPodTerminating).length,
    fullyLabeled: active.filter(({ metadata }) => metadata.labels?.['tier'] === 'front').length,
    ready: active.filter(isPodReady).length,
    available: active.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
    next: nextAvailability(active, minReadySeconds, now),
    mismatched: own
      .filter((pod) => isPodActive(pod) && !selected.includes(pod))
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  };
}

test('the view that is kept up says what a look at every pod says', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 10), fc.array(podArbitrary, { maxLength: 20 }), (minReadySeconds, changes) => {
      const view = new PodsView(set(minReadySeconds), []);
      const pods = new Map<string, Stored<Pod>>();
      for (const change of changes) {
        const pod = podOf(change);
        const { uid } = pod.metadata;
        view.podChanged(pods.get(uid), change.exists ? pod : undefined);
        if (change.exists) pods.set(uid, pod);
        else pods.delete(uid);
        const names = (list: Iterable<Stored<Pod>>) => Array.from(list, ({ metadata }) => metadata.name).toSorted();
        const { active, terminating, fullyLabeled, ready } = view;
        const [available, next] = [view.available(now), view.nextAvailability(now)];
        const said = { active, names: names(view.activePods()), terminating, fullyLabeled, ready, available, next, mismatched: names(view.mismatched) };
        expect(said).toEqual(counted([...pods.values()], minReadySeconds));
      }
    }),
  );
});
