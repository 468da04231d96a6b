/** Going back by an annotation: what clients did before they could change the template themselves. */
import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { EventDraft } from '../../../client/decision.ts';
import { type DeploymentAction, type DeploymentDecision, decided } from './actions.ts';
import { annotationsAfterRollback, revisionOf, rollbackAnnotation } from './annotations.ts';
import { isSameTemplate, withoutHash } from './replica-sets.ts';

/** The revision to go back to; 0: the last one. Undefined: nobody asked. */
export function rollbackRevision({ metadata }: Deployment): number | undefined {
  const text = metadata.annotations?.[rollbackAnnotation] ?? '';
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}

/** Whatever comes of it, it is asked for no longer. */
export function rollBack(deployment: Deployment, sets: readonly ReplicaSet[], asked: number): DeploymentDecision {
  const revision = asked === 0 ? lastRevision(sets) : asked;
  if (revision === 0) return giveUp(deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find last revision.');
  const set = sets.find((each) => revisionOf(each) === revision);
  if (set === undefined) return giveUp(deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.');
  const name = deployment.metadata.name ?? '';
  if (isSameTemplate(set.spec.template, deployment.spec.template)) {
    return giveUp(deployment, 'DeploymentRollbackTemplateUnchanged', `The rollback revision contains the same template as current deployment "${name}"`);
  }
  const annotations = annotationsAfterRollback(deployment, set);
  const restored: Deployment = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: { ...deployment.spec, template: withoutHash(set.spec.template) },
  };
  return decided('RollsBack', `it goes back to revision ${revision}`, [
    clear(restored, deployment),
    eventAction(deployment, { type: 'Normal', reason: 'DeploymentRollback', message: `Rolled back deployment "${name}" to revision ${revision}` }),
  ]);
}

/** The second highest. */
function lastRevision(sets: readonly ReplicaSet[]): number {
  const [, second = 0] = sets.flatMap((set) => revisionOf(set) ?? []).sort((a, b) => b - a);
  return second;
}

const giveUp = (deployment: Deployment, reason: string, message: string): DeploymentDecision =>
  decided('NoRollback', message, [eventAction(deployment, { type: 'Warning', reason, message }), clear(deployment, deployment)]);

const eventAction = (about: Deployment, report: EventDraft): DeploymentAction => ({ do: 'tell', about, report });

function clear(deployment: Deployment, from: Deployment): DeploymentAction {
  const { [rollbackAnnotation]: _, ...annotations } = deployment.metadata.annotations ?? {};
  return { do: 'update', object: { ...deployment, metadata: { ...deployment.metadata, annotations } }, from };
}
