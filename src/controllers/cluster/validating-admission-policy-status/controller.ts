import type { ValidatingAdmissionPolicy } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { validatingAdmissionPolicyKind } from '../../../api/kinds/admissionregistration/validating-policies.ts';
import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { type PolicyStatusAction, perform } from './actions.ts';
import { decideStatus } from './decide.ts';

/** Writes observedGeneration of ValidatingAdmissionPolicies. Keys are names. */
export function policyStatus({
  client,
  informers,
}: {
  readonly client: Client;
  readonly informers: Informers;
}): Controller<string, Stored<ValidatingAdmissionPolicy>, PolicyStatusAction> {
  const policies = informers.cache(validatingAdmissionPolicyKind);
  return {
    name: 'policy-status',
    sources: [source(validatingAdmissionPolicyKind, ({ after }) => (after === undefined ? [] : [after.metadata.name]))],
    snapshot: (name) => policies.getKey(name),
    decide: decideStatus,
    perform: (action) => perform(action, client),
    parallelism: 1,
  };
}
