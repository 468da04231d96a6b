import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind } from '../../../api/kind.ts';
import { deploymentKind } from '../../../api/kinds/apps/deployment.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import type { Client } from '../../../client/client.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { Clock } from '../../../world/world.ts';
import { ownershipHandlers } from '../../pods/perform-ownership.ts';
import type { DeploymentAction } from './actions.ts';
import { progressing, withCondition } from './conditions.ts';
import { hasDeadline } from './status.ts';

export interface DeploymentContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

export const deploymentHandlers = (context: DeploymentContext) => ({
  ...ownershipHandlers(context.client, [untypedKind(deploymentKind), untypedKind(replicaSetKind)]),
  createSet: ({ deployment, set }: Extract<DeploymentAction, { readonly do: 'createSet' }>) => createSet(deployment, set, context),
});

/** A refusal becomes a condition. A crash before it is written loses nothing: the next attempt is refused again. */
async function createSet(deployment: Stored<Deployment>, set: ReplicaSet, { client, recorder, clock }: DeploymentContext): Promise<Outcome> {
  const result = await client.create(replicaSetKind, set);
  const outcome = outcomeOf(result);
  if (result.ok || typeof outcome !== 'object') return outcome;
  // The namespace is terminating, and the Deployment with it.
  if (result.reason === 'terminating') return 'conflict';
  const message = `Failed to create new replica set "${set.metadata.name ?? ''}": ${outcome.retry}`;
  const failed = withCondition(deployment.status, progressing('False', 'ReplicaSetCreateError', message, clock.now()));
  if (hasDeadline(deployment) && failed !== deployment.status) await client.updateStatus(deploymentKind, { ...deployment, status: failed });
  recorder.record(deployment, { type: 'Warning', reason: 'ReplicaSetCreateError', message });
  return outcome;
}
