import { untypedKind, type Kind } from '../../kind.ts';
import { mutatingAdmissionPolicyKind } from './mutating-policies.ts';
import { mutatingAdmissionPolicyBindingKind, validatingAdmissionPolicyBindingKind } from './policy-bindings.ts';
import { validatingAdmissionPolicyKind } from './validating-policies.ts';
import { mutatingWebhookConfigurationKind, validatingWebhookConfigurationKind } from './webhook-configurations.ts';

/** What others have a say in: webhooks, and policies written as expressions. */
export const admissionKinds: readonly Kind[] = [
  untypedKind(mutatingAdmissionPolicyKind),
  untypedKind(mutatingAdmissionPolicyBindingKind),
  untypedKind(mutatingWebhookConfigurationKind),
  untypedKind(validatingAdmissionPolicyKind),
  untypedKind(validatingAdmissionPolicyBindingKind),
  untypedKind(validatingWebhookConfigurationKind),
];
