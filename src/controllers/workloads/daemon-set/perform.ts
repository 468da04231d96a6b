import { untypedKind } from '../../../api/kind.ts';
import { controllerRevisionKind } from '../../../api/kinds/apps/controller-revision.ts';
import { daemonSetKind } from '../../../api/kinds/apps/daemon-set.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { type Client, refOf, type Result } from '../../../client/client.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import type { RecentMap } from '../../../client/recent-map.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { Clock } from '../../../world/world.ts';
import { ownershipHandlers } from '../../pods/perform-ownership.ts';
import { PodControl } from '../../pods/pod-control.ts';
import { slowStart } from '../../pods/slow-start.ts';
import type { DaemonSetAction } from './actions.ts';
import { HASH_LABEL } from './daemon-pod.ts';
import type { FailureBackoff } from './failure-backoff.ts';

export interface DaemonSetContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

type Handled<Verb> = Extract<DaemonSetAction, { readonly do: Verb }>;

/** `failures`: the back-off by DaemonSet and node. */
export function daemonSetHandlers(context: DaemonSetContext, failures: RecentMap<string, FailureBackoff>) {
  const { client } = context;
  const control = new PodControl(context);
  return {
    ...ownershipHandlers(client, [untypedKind(podKind), untypedKind(controllerRevisionKind), untypedKind(daemonSetKind)]),
    createPods: ({ pods, set }: Handled<'createPods'>) => slowStart(pods, (pod) => control.create(pod, set)),
    deletePods: ({ pods, set }: Handled<'deletePods'>) => slowStart(pods, (pod) => control.delete(pod, set), { first: pods.length }),
    async rememberFailure({ key, backoff }: Handled<'rememberFailure'>): Promise<Outcome> {
      failures.set(key, backoff);
      return 'done';
    },
    async createRevision({ revision }: Handled<'createRevision'>): Promise<Outcome> {
      const result = await client.create(controllerRevisionKind, revision);
      // The namespace is terminating, and the DaemonSet with it.
      return !result.ok && result.reason === 'terminating' ? 'done' : outcomeOf(result);
    },
    renumberRevision: async ({ revision, number }: Handled<'renumberRevision'>): Promise<Outcome> =>
      outcomeOf(await client.update(controllerRevisionKind, { ...revision, revision: number })),
    deleteRevision: async ({ revision }: Handled<'deleteRevision'>): Promise<Outcome> =>
      doneIfGone(await client.delete(controllerRevisionKind, refOf(revision), { preconditions: { uid: revision.metadata.uid } })),
    async relabelPod({ pod, hash }: Handled<'relabelPod'>): Promise<Outcome> {
      const body = { metadata: { uid: pod.metadata.uid, labels: { [HASH_LABEL]: hash } } };
      return doneIfGone(await client.patch(podKind, refOf(pod), { type: 'merge', body }));
    },
  };
}

/** DaemonSets times nodes on which pods failed; beyond, the oldest back-off is forgotten. */
export const rememberedFailures = 100_000;

const doneIfGone = (result: Result<unknown>): Outcome => (!result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result));
