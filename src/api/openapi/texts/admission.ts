/** Group admissionregistration.k8s.io. */
export const admissionTexts: Readonly<Record<string, string>> = {
  ValidatingWebhookConfiguration: `Webhooks that may refuse what is about to be written.
webhooks All that are about a request are asked, at the same time.`,
  MutatingWebhookConfiguration: `Webhooks that may change what is about to be written.
webhooks All that are about a request are asked, one after the other; configurations in the order of their names.`,
  ValidatingWebhook: `A webhook that may refuse requests.
name Its name, a domain of at least three parts.
clientConfig Where it is, and whose certificates it has.
rules Which requests it is about. Never those about webhooks and policies.
failurePolicy What happens if it cannot be asked. Fail: the request is refused. Ignore: it goes on.
matchPolicy Equivalent: also about other versions of what the rules name. Exact: only about what they name.
namespaceSelector Only objects in namespaces with these labels.
objectSelector Only objects with these labels, before or after the change.
matchConditions Only requests for which all of these expressions are true.
sideEffects Whether it does anything elsewhere: None, or NoneOnDryRun.
timeoutSeconds How long it is waited for, from 1 to 30 seconds.
admissionReviewVersions The versions of AdmissionReview that it understands, the preferred one first.`,
  MutatingWebhook: `A webhook that may change objects.
name Its name, a domain of at least three parts.
clientConfig Where it is, and whose certificates it has.
rules Which requests it is about.
failurePolicy What happens if it cannot be asked. Fail: the request is refused. Ignore: it goes on.
reinvocationPolicy IfNeeded: it is called again if the object changes after its first call. Never: it is called once.`,
  ValidatingAdmissionPolicy: `Rules about what may be written, as expressions (CEL). It does nothing without a binding.
spec The rules.
status What was found out about the expressions.`,
  ValidatingAdmissionPolicySpec: `Rules about what may be written.
paramKind The kind of its parameters, if it has any.
matchConstraints Which requests it is about.
matchConditions Only requests for which all of these expressions are true.
variables Expressions with names, for use in the others as variables.name.
validations Expressions that have to be true.
auditAnnotations What the audit log says of the request.
failurePolicy What happens if an expression fails. Fail: the request is refused. Ignore: it goes on.`,
  ValidatingAdmissionPolicyBinding: `Puts a policy to use.
spec Which policy, with which parameters, for what, and what is done.`,
  ValidatingAdmissionPolicyBindingSpec: `How a policy is used.
policyName The policy.
paramRef Its parameters.
matchResources Only these requests, of those that the policy is about.
validationActions What is done with what is not valid: Deny, Warn, Audit.`,
  MutatingAdmissionPolicy: `Changes to what is written, as expressions (CEL). It does nothing without a binding.
spec The changes.`,
  MutatingAdmissionPolicyBinding: `Puts a policy to use.
spec Which policy, with which parameters, and for what.`,
};
