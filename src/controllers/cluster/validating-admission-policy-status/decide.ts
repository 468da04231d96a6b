import type { ValidatingAdmissionPolicy } from '../../../api/generated/types.ts';
import type { PolicyStatusDecision } from './actions.ts';

/**
 * A policy is told apart from one that nobody has looked at yet. Its expressions were compiled when it was written; against the fields of the kinds that
 * it is about they are not checked, so there is nothing to warn of.
 */
export function decideStatus(policy: ValidatingAdmissionPolicy): PolicyStatusDecision {
  const { metadata, status } = policy;
  const { generation = 0 } = metadata;
  if (generation <= (status.observedGeneration ?? 0)) return { actions: [], reasons: [{ code: 'Observed', text: 'its status is about its newest form' }] };
  return { actions: [{ type: 'update-status', policy: { ...policy, status: { ...status, observedGeneration: generation, typeChecking: {} } } }], reasons: [] };
}
