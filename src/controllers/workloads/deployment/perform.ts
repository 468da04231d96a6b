import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind, type Kind } from '../../../api/kind.ts';
import { deploymentKind } from '../../../api/kinds/apps/deployment.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Client } from '../../../client/client.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { Clock } from '../../../world/world.ts';
import { performOwnership } from '../../pods/perform-ownership.ts';
import type { DeploymentAction } from './actions.ts';
import { progressing, withCondition } from './conditions.ts';
import { hasDeadline } from './status.ts';

export interface DeploymentContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

export function deploymentWorker(context: DeploymentContext): (action: DeploymentAction) => Promise<Outcome> {
  const { client, recorder } = context;
  const writer = new ObjectWriter(client, [untypedKind(deploymentKind), untypedKind(replicaSetKind)]);
  return async (action) => {
    switch (action.do) {
      case 'createSet':
        return await createSet(action.deployment, action.set, context);
      case 'update':
      case 'updateStatus':
      case 'delete':
        return await writer.perform(action);
      case 'tell':
        recorder.record(action.about, action.report);
        return 'done';
      default:
        return await performOwnership(action, client, kindOf);
    }
  };
}

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

const kindOf = ({ kind }: KubeObject): Kind => (kind === deploymentKind.kind ? untypedKind(deploymentKind) : untypedKind(replicaSetKind));
