import type { Pod, ReplicaSet, ReplicaSetStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind, type Kind } from '../../../api/kind.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type Client, refOf } from '../../../client/client.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { Clock } from '../../../world/world.ts';
import { createdPod, deletedPod, failedCreate, failedDelete } from '../../pods/events.ts';
import { performOwnership } from '../../pods/perform-ownership.ts';
import { slowStart } from '../../pods/slow-start.ts';
import { podFromTemplate } from '../../pods/template.ts';
import type { ReplicaSetAction } from './actions.ts';
import { type FailureReason, isSameStatus, withFailure } from './status.ts';

export interface ReplicaSetContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

export async function perform(action: ReplicaSetAction, context: ReplicaSetContext): Promise<Outcome> {
  switch (action.do) {
    case 'createPods': {
      const { set, count } = action;
      const outcome = await slowStart(Array.from({ length: count }), () => createPod(set, context));
      return await recordFailure(action, 'FailedCreate', { outcome, context });
    }
    case 'deletePods': {
      const { set, pods } = action;
      const outcome = await slowStart(pods, (pod) => deletePod(pod, set, context), { first: pods.length });
      return await recordFailure(action, 'FailedDelete', { outcome, context });
    }
    case 'updateStatus':
      return outcomeOf(await updateStatus(action, action.status, context.client));
    default:
      return await performOwnership(action, context.client, kindOf);
  }
}

async function createPod(set: Stored<ReplicaSet>, { client, recorder }: ReplicaSetContext): Promise<Outcome> {
  const result = await client.create(podKind, podFromTemplate(set.spec.template, set, replicaSetKind));
  if (result.ok) {
    recorder.record(set, createdPod(result.value.metadata.name));
    return 'done';
  }
  // The namespace is terminating, and the ReplicaSet with it.
  if (result.reason === 'terminating') return 'done';
  const outcome = outcomeOf(result);
  if (typeof outcome === 'object') recorder.record(set, failedCreate(outcome.retry));
  return outcome;
}

async function deletePod(pod: Stored<Pod>, set: Stored<ReplicaSet>, { client, recorder }: ReplicaSetContext): Promise<Outcome> {
  const { name, uid } = pod.metadata;
  const result = await client.delete(podKind, refOf(pod), { preconditions: { uid } });
  if (result.ok) recorder.record(set, deletedPod(name));
  if (result.ok || result.reason === 'notFound') return 'done';
  const outcome = outcomeOf(result);
  if (typeof outcome !== 'object') return outcome;
  recorder.record(set, failedDelete(outcome.retry));
  return { retry: `unable to delete pods: ${outcome.retry}` };
}

interface ActionFailure {
  readonly outcome: Outcome;
  readonly context: ReplicaSetContext;
}

/** A failure becomes a condition. A crash before it is written loses nothing: the next attempt fails again. */
async function recordFailure(failed: PodsAction, reason: FailureReason, { outcome, context }: ActionFailure): Promise<Outcome> {
  if (typeof outcome !== 'object') return outcome;
  const status = withFailure(failed.status, reason, outcome.retry, context.clock.now());
  if (!isSameStatus(status, failed.set.status)) await updateStatus(failed, status, context.client);
  return outcome;
}

type PodsAction = Extract<ReplicaSetAction, { readonly status: ReplicaSetStatus }>;

const updateStatus = ({ set }: PodsAction, status: ReplicaSetStatus, client: Client) => client.updateStatus(replicaSetKind, { ...set, status });

const kindOf = ({ kind }: KubeObject): Kind => (kind === podKind.kind ? untypedKind(podKind) : untypedKind(replicaSetKind));
