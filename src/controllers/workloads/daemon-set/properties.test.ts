import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ControllerRevision, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { DaemonSetAction, PodDraft, RevisionDraft } from './actions.ts';
import { targetNode } from './daemon-pod.ts';
import { decideDaemonSet } from './decide.ts';
import { daemonSet, node, now, pod, revision, snapshotOf, type SampleObjects } from './samples.ts';

describe('for any snapshot', () => {
  const names = ['n1', 'n2', 'n3'];
  const worlds = fc
    .record({
      nodes: fc.uniqueArray(fc.record({ name: fc.constantFrom(...names), effect: fc.constantFrom(undefined, undefined, 'NoSchedule', 'NoExecute') }), {
        selector: ({ name }) => name,
      }),
      pods: fc.array(
        fc.record({
          on: fc.constantFrom(...names, 'gone'),
          hash: fc.constantFrom('v1', 'v2'),
          phase: fc.constantFrom('Running', 'Running', 'Failed', 'Succeeded'),
          ready: fc.boolean(),
          waiting: fc.boolean(),
          created: fc.constantFrom('01', '02', '03'),
        }),
        { maxLength: 6 },
      ),
      revisions: fc.subarray([revision(1, 'v1'), revision(2, 'v2'), revision(3, 'v3'), revision(4, 'v2', 'double')]),
      surge: fc.boolean(),
      limit: fc.nat(2),
    })
    .map(
      ({ nodes, pods, revisions, surge, limit }): SampleObjects => ({
        set: daemonSet({
          revisionHistoryLimit: limit,
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: surge ? { maxSurge: 1, maxUnavailable: 0 } : { maxSurge: 0, maxUnavailable: 1 } },
        }),
        nodes: nodes.map(({ name, effect }) => node(name, effect === undefined ? {} : { taints: [{ key: 'k', effect }] })),
        pods: pods.map(({ on, hash, ...more }, i) => pod(`p${i}`, on, hash, more)),
        revisions,
      }),
    );

  let made = 0;
  const asPod = (draft: PodDraft): Stored<Pod> => {
    const name = `new${made++}`;
    return {
      ...draft,
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...draft.metadata, name, uid: name, creationTimestamp: '2026-11-16T12:00:00Z' },
      status: pod('x', 'n1', 'v2').status,
    } as Stored<Pod>;
  };
  const asRevision = (draft: RevisionDraft): Stored<ControllerRevision> =>
    ({
      ...draft,
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { ...draft.metadata, uid: `made ${draft.metadata?.name ?? ''}` },
    }) as Stored<ControllerRevision>;
  const withoutUid = <T extends Stored>(all: readonly T[] = [], gone: readonly T[]) =>
    all.filter(({ metadata }) => !gone.some((each) => each.metadata.uid === metadata.uid));

  /** The objects after these actions: deleted pods are gone and new ones ready at once. */
  function after(world: SampleObjects, actions: readonly DaemonSetAction[]): SampleObjects {
    return actions.reduce<SampleObjects>((state, action) => {
      switch (action.do) {
        case 'createPods':
          return { ...state, pods: [...(state.pods ?? []), ...action.pods.map(asPod)] };
        case 'deletePods':
          return { ...state, pods: withoutUid(state.pods, action.pods) };
        case 'createRevision':
          return { ...state, revisions: [...(state.revisions ?? []), asRevision(action.revision)] };
        case 'deleteRevision':
          return { ...state, revisions: withoutUid(state.revisions, [action.revision]) };
        case 'renumberRevision':
          return { ...state, revisions: (state.revisions ?? []).map((each) => (each === action.revision ? { ...each, revision: action.number } : each)) };
        case 'relabelPod':
          return {
            ...state,
            pods: (state.pods ?? []).map((each) =>
              each === action.pod
                ? { ...each, metadata: { ...each.metadata, labels: { ...each.metadata.labels, 'controller-revision-hash': action.hash } } }
                : each,
            ),
          };
        case 'updateStatus':
          return { ...state, set: action.object };
        default:
          return state;
      }
    }, world);
  }

  /** The kubelets have started all pods: they are ready. */
  const allReady = (world: SampleObjects): SampleObjects => ({
    ...world,
    pods: (world.pods ?? []).map((each) => (each.status.phase === 'Running' ? { ...each, status: pod('x', 'n1', 'v2').status } : each)),
  });

  function settled(world: SampleObjects): SampleObjects {
    let state = world;
    for (let i = 0; i < 40; i++) {
      const { actions } = decideDaemonSet(snapshotOf(state), now);
      if (actions.length > 0) state = after(state, actions);
      else if (decideDaemonSet(snapshotOf(allReady(state)), now).actions.length > 0) state = allReady(state);
      else return state;
    }
    return expect.fail('it does not settle');
  }

  const places = ({ pods = [] }: SampleObjects) =>
    pods.map((each) => `${targetNode(each) ?? ''} ${each.metadata.labels?.['controller-revision-hash'] ?? ''}`).sort();
  const portrait = (world: SampleObjects) => ({ places: places(world), status: world.set?.status, revisions: (world.revisions ?? []).length });

  test('it settles: one new pod on each eligible node, and none elsewhere', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const end = settled(world);
        expect(decideDaemonSet(snapshotOf(end), now).actions).toEqual([]);
        for (const { metadata, spec } of end.nodes ?? []) {
          const here = places(end).filter((place) => place.startsWith(`${metadata.name} `));
          const [effect] = (spec.taints ?? []).map((taint) => taint.effect);
          if (effect === 'NoExecute') expect(here).toEqual([]);
          else if (effect === undefined) expect(here).toHaveLength(1);
        }
        expect(decideDaemonSet(snapshotOf(world), now)).toEqual(decideDaemonSet(snapshotOf(world), now));
      }),
      { numRuns: 300 },
    );
  });

  test('after a crash anywhere it comes to the same end', () => {
    fc.assert(
      fc.property(worlds, fc.nat(5), (world, cut) => {
        const { actions } = decideDaemonSet(snapshotOf(world), now);
        expect(portrait(settled(after(world, actions.slice(0, cut))))).toEqual(portrait(settled(world)));
      }),
      { numRuns: 300 },
    );
  });

  test('without maxSurge at most one more pod becomes unavailable', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        fc.pre(world.set?.spec.updateStrategy.rollingUpdate?.maxSurge === 0);
        let state = world;
        const available = ({ pods = [], nodes = [] }: SampleObjects) =>
          nodes.filter(({ metadata }) =>
            pods.some((each) => targetNode(each) === metadata.name && each.status.phase === 'Running' && each.status.conditions !== undefined),
          ).length;
        for (let i = 0; i < 40; i++) {
          const { actions } = decideDaemonSet(snapshotOf(state), now);
          if (actions.length === 0) return;
          const removed = actions.flatMap((action) => (action.do === 'deletePods' ? action.pods : []));
          const isRolling = decideDaemonSet(snapshotOf(state), now).reasons[0]?.code === 'RollingUpdate';
          if (isRolling) expect(available({ ...state, pods: withoutUid(state.pods, removed) })).toBeGreaterThanOrEqual(available(state) - 1);
          state = after(state, actions);
        }
      }),
    );
  });
});
