import type { ValidatingAdmissionPolicy } from '../../../api/generated/types.ts';
import { validatingAdmissionPolicyKind } from '../../../api/kinds/admissionregistration/validating-policies.ts';
import type { Client } from '../../../client/client.ts';
import type { Decision } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

export interface PolicyStatusAction {
  readonly type: 'update-status';
  readonly policy: ValidatingAdmissionPolicy;
}

export type PolicyStatusDecision = Decision<PolicyStatusAction>;

export const perform = async ({ policy }: PolicyStatusAction, client: Client): Promise<Outcome> =>
  outcomeOf(await client.updateStatus(validatingAdmissionPolicyKind, policy));
