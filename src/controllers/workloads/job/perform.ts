import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind } from '../../../api/kind.ts';
import { jobKind } from '../../../api/kinds/batch/job.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { type Client, refOf } from '../../../client/client.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { Clock } from '../../../world/world.ts';
import { ownershipHandlers } from '../../pods/perform-ownership.ts';
import { PodControl } from '../../pods/pod-control.ts';
import { slowStart } from '../../pods/slow-start.ts';
import type { JobAction } from './actions.ts';
import type { Backoff } from './backoff.ts';
import { TRACKING_FINALIZER } from './tracked-pod.ts';

export interface JobContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

type Handled<Verb> = Extract<JobAction, { readonly do: Verb }>;

/** `failures`: the back-off by the uid of a Job. */
export function jobHandlers(context: JobContext, failures: Map<string, Backoff>) {
  const { client } = context;
  const control = new PodControl(context);
  return {
    ...ownershipHandlers(client, [untypedKind(podKind), untypedKind(jobKind)]),
    createPods: ({ pods, job }: Handled<'createPods'>) => slowStart(pods, (pod) => control.create(pod, job)),
    deletePods: ({ pods, job }: Handled<'deletePods'>) => allAtOnce(pods, (pod) => control.delete(pod, job)),
    /** The finalizer is removed first, so that the pod is not counted. After a crash in between the pod is still surplus. */
    dropPods: ({ pods, job }: Handled<'dropPods'>) =>
      allAtOnce(pods, async (pod) => {
        const released = await releasePod(pod, client);
        return released === 'done' ? await control.delete(pod, job) : released;
      }),
    releasePods: ({ pods }: Handled<'releasePods'>) => allAtOnce(pods, (pod) => releasePod(pod, client)),
    async rememberFailures({ job, backoff }: Handled<'rememberFailures'>): Promise<Outcome> {
      failures.set(job.metadata.uid, backoff);
      return 'done';
    },
  };
}

const allAtOnce = (pods: readonly Stored<Pod>[], perform: (pod: Stored<Pod>) => Promise<Outcome>): Promise<Outcome> =>
  slowStart(pods, perform, { first: pods.length });

/** The uid in the patch protects a new pod of the same name. */
export async function releasePod(pod: Stored<Pod>, client: Client): Promise<Outcome> {
  const metadata = { uid: pod.metadata.uid, '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] };
  const result = await client.patch(podKind, refOf(pod), { type: 'strategic', body: { metadata } });
  if (result.ok || result.reason === 'notFound') return 'done';
  // Another pod has that name: the cache will show it.
  return result.reason === 'invalid' ? 'conflict' : outcomeOf(result);
}
