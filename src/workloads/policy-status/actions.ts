import type { ValidatingAdmissionPolicy } from '../../api/generated/types.ts';
import { validatingAdmissionPolicyKind } from '../../api/kinds/admission/validating-policies.ts';
import type { Client } from '../../machinery/client.ts';
import { type Decision as AnyDecision, type Outcome, outcomeOf } from '../../machinery/loop.ts';

export interface Action {
  readonly type: 'update-status';
  readonly policy: ValidatingAdmissionPolicy;
}

export type Decision = AnyDecision<Action>;

export const perform = async ({ policy }: Action, client: Client): Promise<Outcome> =>
  outcomeOf(await client.updateStatus(validatingAdmissionPolicyKind, policy));
