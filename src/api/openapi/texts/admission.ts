/** Group admissionregistration.k8s.io. */
export const admissionTexts: Readonly<Record<string, string>> = {
  ValidatingWebhookConfiguration: `Webhooks that may refuse writes.
webhooks All that match a request are called, at the same time.`,
  MutatingWebhookConfiguration: `Webhooks that may change objects before they are stored.
webhooks All that match a request are called, one after the other; configurations in the order of their names.`,
  ValidatingWebhook: `A webhook that may refuse requests.
name Its name, a domain of at least three parts.
clientConfig Its address, and the CA of its certificate.
rules Which requests it matches. Writes of webhook configurations and policies never match.
failurePolicy What happens if the call fails. Fail: the request is refused. Ignore: it goes on.
matchPolicy Equivalent: the rules also match other versions of their resources. Exact: only the named ones.
namespaceSelector Only objects in namespaces with these labels.
objectSelector Only objects with these labels, before or after the change.
matchConditions Only requests for which all of these expressions are true.
sideEffects Whether it has side effects: None, or NoneOnDryRun.
timeoutSeconds The timeout of a call, from 1 to 30 seconds.
admissionReviewVersions The versions of AdmissionReview that it supports, the preferred one first.`,
  MutatingWebhook: `A webhook that may change objects.
name Its name, a domain of at least three parts.
clientConfig Its address, and the CA of its certificate.
rules Which requests it matches.
failurePolicy What happens if the call fails. Fail: the request is refused. Ignore: it goes on.
reinvocationPolicy IfNeeded: it is called again if the object changes after its first call. Never: it is called once.`,
  ValidatingAdmissionPolicy: `Rules about what may be written, as expressions (CEL). It does nothing without a binding.
spec The rules.
status The result of type checking the expressions.`,
  ValidatingAdmissionPolicySpec: `Rules about what may be written.
paramKind The kind of its parameters, if it has any.
matchConstraints Which requests it matches.
matchConditions Only requests for which all of these expressions are true.
variables Expressions with names, for use in the others as variables.name.
validations Expressions that have to be true.
auditAnnotations Annotations of the request's audit event.
failurePolicy What happens if an expression fails. Fail: the request is refused. Ignore: it goes on.`,
  ValidatingAdmissionPolicyBinding: `Binds a policy to resources and params.
spec Which policy, with which parameters, for what, and what is done.`,
  ValidatingAdmissionPolicyBindingSpec: `How a policy is used.
policyName The policy.
paramRef Its parameters.
matchResources Only these of the requests that the policy matches.
validationActions What happens if a validation fails: Deny, Warn, Audit.`,
  MutatingAdmissionPolicy: `Changes to what is written, as expressions (CEL). It does nothing without a binding.
spec The changes.`,
  MutatingAdmissionPolicyBinding: `Binds a policy to resources and params.
spec Which policy, with which parameters, and for what.`,
};
