/** Rollback by annotation, as extensions/v1beta1 clients request it. */
import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { recordOnce } from '../../../client/decision.ts';
import { type DeploymentAction, type DeploymentDecision, decided } from './actions.ts';
import { annotationsAfterRollback, readRevision, revisionOf, rollbackAnnotation } from './annotations.ts';
import { isSameTemplate, withoutHash } from './replica-sets.ts';

/** The requested revision; 0: the previous one. Undefined: no rollback is requested. */
export function rollbackRevision({ metadata }: Deployment): bigint | undefined {
  return readRevision(metadata.annotations?.[rollbackAnnotation] ?? '');
}

/** The request is cleared in any case. */
export function rollBack(deployment: Stored<Deployment>, sets: readonly Stored<ReplicaSet>[], asked: bigint): DeploymentDecision {
  const revision = asked === 0n ? lastRevision(sets) : asked;
  if (revision === 0n) return giveUp(deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find last revision.');
  const set = sets.find((each) => revisionOf(each) === revision);
  if (set === undefined) return giveUp(deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.');
  const name = deployment.metadata.name;
  if (isSameTemplate(set.spec.template, deployment.spec.template)) {
    return giveUp(deployment, 'DeploymentRollbackTemplateUnchanged', `The rollback revision contains the same template as current deployment "${name}"`);
  }
  const annotations = annotationsAfterRollback(deployment, set);
  const restored: Stored<Deployment> = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: { ...deployment.spec, template: withoutHash(set.spec.template) },
  };
  return decided('RollsBack', `it goes back to revision ${revision}`, [
    clear(restored, deployment),
    recordOnce({ about: deployment, type: 'Normal', reason: 'DeploymentRollback', message: `Rolled back deployment "${name}" to revision ${revision}` }),
  ]);
}

/** The second highest revision. */
function lastRevision(sets: readonly ReplicaSet[]): bigint {
  const [, second = 0n] = sets.flatMap((set) => revisionOf(set) ?? []).sort((a, b) => (a < b ? 1 : -1));
  return second;
}

const giveUp = (deployment: Stored<Deployment>, reason: string, message: string): DeploymentDecision =>
  decided('NoRollback', message, [recordOnce({ about: deployment, type: 'Warning', reason, message }), clear(deployment, deployment)]);

function clear(deployment: Stored<Deployment>, from: Stored<Deployment>): DeploymentAction {
  const { [rollbackAnnotation]: _, ...annotations } = deployment.metadata.annotations ?? {};
  return { do: 'update', object: { ...deployment, metadata: { ...deployment.metadata, annotations } }, from };
}
