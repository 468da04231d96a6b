import type { Evaluator } from '../../../../api/quota/evaluator.ts';
import { evaluatorOf } from '../../../../api/quota/evaluators.ts';
import { growth } from '../../../../api/quota/usage.ts';
import type { Resource, Resources } from '../../../objects/resources.ts';
import type { AdmissionRequest, Operation } from '../../chain.ts';

export function evaluatorsOf(resources: Resources): ReadonlyMap<Resource, Evaluator> {
  return new Map(
    [...resources.all()].flatMap((resource) => {
      const evaluator = evaluatorOf(resource.kind);
      return evaluator === undefined ? [] : [[resource, evaluator]];
    }),
  );
}

/** Whether such a request can increase the usage. */
export function canUseMore({ kind }: Resource, operation: Operation, subresource: string): boolean {
  if (operation === 'delete') return false;
  if (subresource === '' && operation === 'create') return true;
  if (kind.group !== '' || operation !== 'update') return false;
  switch (kind.plural) {
    case 'pods':
      return subresource === '' || subresource === 'resize';
    case 'persistentvolumeclaims':
      return subresource === '' || subresource === 'status';
    case 'services':
      return subresource === '';
    default:
      return false;
  }
}

/**
 * Whether this request increases the usage. Most updates do not, and then no quota is read.
 * A resize is always checked: it may lack requests or limits that a quota demands.
 */
export function usesMore({ object, old, subresource }: AdmissionRequest, evaluator: Evaluator, now: number): boolean {
  if (old === undefined || subresource === 'resize') return true;
  return evaluator.scopeChanged(old, object) || growth(evaluator.usage(object, now), evaluator.usage(old, now)).size > 0;
}
