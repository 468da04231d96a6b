import type { ValidatingAdmissionPolicy } from '../../api/generated/types.ts';
import { validatingAdmissionPolicyKind } from '../../api/kinds/admission/validating-policies.ts';
import type { Client } from '../../machinery/client.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, source } from '../../machinery/loop.ts';
import { type Action, perform } from './actions.ts';
import { decideStatus } from './decide.ts';

/** Says of each policy which form of it was looked at. Keys are names. */
export function policyStatus({
  client,
  informers,
}: {
  readonly client: Client;
  readonly informers: Informers;
}): Controller<string, ValidatingAdmissionPolicy, Action> {
  const policies = informers.cache(validatingAdmissionPolicyKind);
  return {
    name: 'policy-status',
    sources: [source(validatingAdmissionPolicyKind, ({ after }) => (after === undefined ? [] : [after.metadata.name ?? '']))],
    snapshot: (name) => policies.getKey(name),
    decide: decideStatus,
    perform: (action) => perform(action, client),
    parallelism: 1,
  };
}
