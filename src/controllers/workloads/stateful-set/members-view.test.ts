import fc from 'fast-check';
import { expect, test } from 'vitest';
import { setDraft } from '../../../../test/controllers/stateful-set/set-cluster.ts';
import { modelOf } from '../../../../test/controllers/stateful-set/set-model.ts';
import type { PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { isPodAvailable, nextAvailability } from '../../pods/state.ts';
import { decideSet } from './decide.ts';
import { claimOf, claimTemplates, isMemberOf, isWithin, memberOf, ordinalOf, ordinalsOf, revisionOf } from './identity.ts';
import { ascending, descending } from './in-order.ts';
import { type Members, MembersView } from './members-view.ts';
import { historyOf } from './revisions.ts';
import { isRunningAndReady, isTerminating } from './status.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const at = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString();

const sets = fc.record({
  podManagementPolicy: fc.constantFrom('OrderedReady', 'Parallel'),
  replicas: fc.nat(5),
  ordinals: fc.record({ start: fc.nat(2) }),
  minReadySeconds: fc.constantFrom(0, 10),
  persistentVolumeClaimRetentionPolicy: fc.record({ whenDeleted: fc.constantFrom('Retain', 'Delete'), whenScaled: fc.constantFrom('Retain', 'Delete') }),
  updateStrategy: fc.constantFrom({ type: 'OnDelete' }, { type: 'RollingUpdate' }, { type: 'RollingUpdate', rollingUpdate: { partition: 2 } }),
  grows: fc.boolean(),
});

const podChange = fc.record({
  ordinal: fc.nat(7),
  exists: fc.constantFrom(true, true, true, false),
  phase: fc.constantFrom('Pending', 'Running', 'Running', 'Running', 'Failed'),
  /** Since how many seconds it is ready. */
  readyFor: fc.constantFrom(undefined, 'no time', 5, 30),
  goes: fc.constantFrom(false, false, true),
  outdated: fc.boolean(),
  selected: fc.constantFrom(true, true, true, true, false),
  identified: fc.constantFrom(true, true, true, false),
});
const claimChange = fc.record({
  ordinal: fc.nat(7),
  claim: fc.constantFrom('missing', 'right', 'right', 'terminating', 'owned', 'expanding', 'small'),
});
type PodChange = typeof podChange extends fc.Arbitrary<infer T> ? T : never;
type ClaimChange = typeof claimChange extends fc.Arbitrary<infer T> ? T : never;

const modelFor = ({ grows, ...spec }: typeof sets extends fc.Arbitrary<infer T> ? T : never) => {
  const model = modelOf(setDraft(spec.replicas, spec));
  if (grows) model.set.metadata.annotations = { 'mooring.dev/grow-claims': 'true' };
  return model;
};
type Model = ReturnType<typeof modelFor>;

function podOf({ set }: Model, change: PodChange): Stored<Pod> | undefined {
  if (!change.exists) return undefined;
  const { ordinal, phase, readyFor, goes, outdated, selected, identified } = change;
  const template = set.spec.template;
  const revision = outdated ? 'web-old' : historyOf(set, { own: [], named: () => undefined }).update.revision;
  const draft = memberOf(set, ordinal, { template, revision });
  const labels = { ...draft.metadata?.labels, ...(selected ? {} : { app: 'other' }), ...(identified ? {} : { 'statefulset.kubernetes.io/pod-name': 'x' }) };
  const lastTransitionTime = typeof readyFor === 'number' ? at(readyFor) : null;
  const conditions = readyFor === undefined ? [] : [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime }];
  return {
    ...draft,
    metadata: {
      ...draft.metadata,
      name: `web-${ordinal}`,
      uid: `uid-${ordinal}`,
      resourceVersion: '1',
      labels,
      ...(goes ? { deletionTimestamp: at(0) } : {}),
    },
    status: { phase, conditions },
  } as Stored<Pod>;
}

function claimFor({ set }: Model, { ordinal, claim }: ClaimChange): readonly [string, Stored<PersistentVolumeClaim> | undefined] {
  const [template] = claimTemplates(set);
  if (template === undefined) throw new Error('the set has a claim template');
  const made = claimOf(set, template, ordinal);
  const name = made.metadata.name ?? '';
  if (claim === 'missing') return [name, undefined];
  const request = claim === 'expanding' ? '9Gi' : claim === 'small' ? '1Mi' : (template.spec.resources.requests?.['storage'] ?? '1Gi');
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: `web-${ordinal}`, uid: `uid-${ordinal}`, controller: true }];
  const metadata = {
    ...made.metadata,
    name,
    uid: name,
    resourceVersion: '1',
    ...(claim === 'terminating' ? { deletionTimestamp: at(0) } : {}),
    ...(claim === 'owned' ? { ownerReferences } : {}),
  };
  const status = { phase: 'Bound', capacity: { storage: claim === 'small' ? '1Mi' : '1Gi' } };
  return [name, { ...made, metadata, spec: { ...made.spec, resources: { requests: { storage: request } } }, status }];
}

/** By a look at every pod and every ordinal. */
function allMembers({ set }: Model, controlled: readonly Stored<Pod>[]): Members {
  const matches = (pod: Stored<Pod>) => isMemberOf(set, pod) && pod.metadata.labels?.['app'] === 'web';
  const pods = controlled.filter(matches);
  const { start, end } = ordinalsOf(set);
  const wanted = Array.from({ length: end - start }, (_, i) => start + i);
  const condemned = pods
    .map(ordinalOf)
    .filter((ordinal) => !isWithin({ start, end }, ordinal))
    .sort(ascending);
  const available = (pod: Stored<Pod>) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  return {
    replicas: pods.length,
    readyReplicas: pods.filter(isRunningAndReady).length,
    availableReplicas: () => pods.filter((pod) => isRunningAndReady(pod) && available(pod)).length,
    stayingReplicas: (revision) => pods.filter((pod) => !isTerminating(pod) && revisionOf(pod) === revision).length,
    revisions: () => pods.map(revisionOf),
    nextAvailability: () => nextAvailability(pods, set.spec.minReadySeconds ?? 0, now),
    at: (ordinal) => pods.find((pod) => ordinalOf(pod) === ordinal),
    mismatched: controlled.filter((pod) => !matches(pod)),
    unsettled: () => wanted,
    unavailable: () => wanted,
    outdated: () => wanted.toReversed(),
    toExpand: () => wanted.toReversed(),
    condemned: () => condemned.toReversed(),
    condemnedStaying: () => condemned.toReversed(),
    condemnedUnmarked: () => condemned.toReversed(),
    condemnedUnavailable: () => condemned,
  };
}

test('a decision from the view that is kept up is the one from a look at every ordinal', () => {
  const changes = fc.array(fc.oneof(podChange, claimChange), { minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(sets, changes, (spec, list) => {
      const model = modelFor(spec);
      const pods = new Map<number, Stored<Pod>>();
      const claims = new Map<string, Stored<PersistentVolumeClaim>>();
      const claim = (name: string) => claims.get(name);
      const view = new MembersView({ set: model.set, claim }, []);
      for (const change of list) {
        if ('claim' in change) {
          const [name, made] = claimFor(model, change);
          if (made === undefined) claims.delete(name);
          else claims.set(name, made);
          view.claimChanged(change.ordinal);
        } else {
          const [before, after] = [pods.get(change.ordinal), podOf(model, change)];
          if (after === undefined) pods.delete(change.ordinal);
          else pods.set(change.ordinal, after);
          view.podChanged(before, after);
        }
        const decide = (members: Members) => decideSet({ set: model.set, members, orphans: [], revisions: [], revision: () => undefined, claim }, now);
        // In the order of the ordinals: the order of arrival is that of the view alone.
        const inOrder = [...pods.keys()].sort(descending).flatMap((ordinal) => pods.get(ordinal) ?? []);
        expect(unordered(decide(view))).toEqual(unordered(decide(allMembers(model, inOrder))));
      }
    }),
    { numRuns: 100 },
  );
});

/** Pods are released in any order. */
function unordered({ actions, ...rest }: ReturnType<typeof decideSet>) {
  if (!actions.some((action) => action.do === 'release')) return { actions, ...rest };
  return { actions: actions.map((action) => JSON.stringify(action)).toSorted(), ...rest };
}
