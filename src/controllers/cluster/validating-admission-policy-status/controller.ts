import type { ValidatingAdmissionPolicy } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import { validatingAdmissionPolicyKind } from '../../../api/kinds/admissionregistration/validating-policies.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Client } from '../../../client/client.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { ObjectWrite } from '../../../client/decision.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { decideStatus } from './decide.ts';

export interface PolicyStatusContext {
  readonly client: Client;
  readonly informers: Informers;
}

/** Writes observedGeneration of ValidatingAdmissionPolicies. Keys are names. */
export function policyStatus({
  client,
  informers,
}: PolicyStatusContext): Controller<string, Stored<ValidatingAdmissionPolicy>, ObjectWrite<Stored<ValidatingAdmissionPolicy>>> {
  const policies = informers.cache(validatingAdmissionPolicyKind);
  return defineController({
    name: 'policy-status',
    sources: [source(validatingAdmissionPolicyKind, ({ after }) => (after === undefined ? [] : [after.metadata.name]))],
    snapshot: (name) => policies.getKey(name),
    decide: decideStatus,
    writer: new ObjectWriter(client, [untypedKind(validatingAdmissionPolicyKind)]),
    actions: {},
  });
}
