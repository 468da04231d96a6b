import type { ValidatingAdmissionPolicy } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { type Decision, type ObjectWrite, updateStatus } from '../../../client/decision.ts';

/**
 * Marks the policy as observed. Its expressions were compiled by validation. They are not type-checked against the schemas of the matched
 * kinds, so there are never warnings.
 */
export function decideStatus(policy: Stored<ValidatingAdmissionPolicy>): Decision<ObjectWrite<Stored<ValidatingAdmissionPolicy>>> {
  const { metadata, status } = policy;
  const { generation = 0 } = metadata;
  if (generation <= (status.observedGeneration ?? 0)) return { actions: [], reasons: [{ code: 'Observed', text: 'its status is up to date' }] };
  return { actions: updateStatus(policy, { ...policy, status: { ...status, observedGeneration: generation, typeChecking: {} } }), reasons: [] };
}
