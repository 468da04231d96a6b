import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind } from '../../../api/kind.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import { replicationControllerKind } from '../../../api/kinds/apps/replication-controller.ts';
import type { Client } from '../../../client/client.ts';
import type { Outcome } from '../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { Clock } from '../../../world/world.ts';
import { ownershipHandlers } from '../../pods/perform-ownership.ts';
import { PodControl } from '../../pods/pod-control.ts';
import { slowStart } from '../../pods/slow-start.ts';
import { podFromTemplate } from '../../pods/template.ts';
import type { ReplicaSetAction } from './actions.ts';
import { type FailureReason, isSameStatus, withFailure } from './status.ts';
import { kindOf, toWritten } from './variants.ts';

export interface ReplicaSetContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

type PodsAction = Extract<ReplicaSetAction, { readonly do: 'createPods' | 'deletePods' }>;
type Handled<Verb> = Extract<ReplicaSetAction, { readonly do: Verb }>;

export function replicaSetHandlers(context: ReplicaSetContext) {
  const pods = new PodControl(context);
  return {
    ...ownershipHandlers(context.client, [untypedKind(podKind), untypedKind(replicaSetKind), untypedKind(replicationControllerKind)]),
    async createPods(action: Handled<'createPods'>): Promise<Outcome> {
      const { set, count } = action;
      const outcome = await slowStart(Array.from({ length: count }), () => pods.create(podFromTemplate(set.spec.template, set, kindOf(set)), set));
      return await writeFailure(action, 'FailedCreate', { outcome, context });
    },
    async deletePods(action: Handled<'deletePods'>): Promise<Outcome> {
      const remove = async (pod: Stored<Pod>): Promise<Outcome> => {
        const outcome = await pods.delete(pod, action.set);
        return typeof outcome === 'object' ? { retry: `unable to delete pods: ${outcome.retry}` } : outcome;
      };
      const outcome = await slowStart(action.pods, remove, { first: action.pods.length });
      return await writeFailure(action, 'FailedDelete', { outcome, context });
    },
  };
}

interface ActionFailure {
  readonly outcome: Outcome;
  readonly context: ReplicaSetContext;
}

/** A failure becomes a condition. A crash before it is written loses nothing: the next attempt fails again. */
async function writeFailure(failed: PodsAction, reason: FailureReason, { outcome, context }: ActionFailure): Promise<Outcome> {
  if (typeof outcome !== 'object') return outcome;
  const status = withFailure(failed.status, reason, outcome.retry, context.clock.now());
  if (!isSameStatus(status, failed.set.status)) await context.client.updateStatus(kindOf(failed.set), toWritten({ ...failed.set, status }));
  return outcome;
}
