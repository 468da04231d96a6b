/** ValidatingAdmissionPolicies. */
import { type Expressions, loadExpressions } from '../../../api/admission/expressions.ts';
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
  Validation,
} from '../../../api/generated/types.ts';
import { ApiError } from '../../../api/status.ts';
import type { Resource } from '../../objects/resources.ts';
import type { AdmissionRequest } from '../chain.ts';
import { namespaceOf, operationOf, type VersionedObjects, versionedObjects } from '../matching/attributes.ts';
import { evaluate, evaluateMatchConditions, POLICY_BUDGET, type EvaluationContext } from '../matching/match-conditions.ts';
import type { RuleIndex } from '../matching/rule-index.ts';
import { admissionForbidden } from '../forbidden.ts';
import { type BoundPolicy, matched, type PolicyHook } from './hooks.ts';
import { namespaceFor } from './namespace.ts';
import { ConfigurationError, paramResource, paramsOf } from './params.ts';
import { type EvaluationInput, evaluationContextOf } from './evaluation-context.ts';
import type { PolicyContext } from './policy-context.ts';

type ValidatingHook = PolicyHook<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>;

/** One failed validation of a policy. */
interface PolicyDecision {
  readonly message: string;
  readonly reason: string;
  /** The index of the validation. */
  readonly index: number;
}

interface Denial extends Pick<PolicyDecision, 'message' | 'reason'> {
  readonly policy: string;
  readonly binding: string | undefined;
}

/** All policies run, and the first denial, in their order, is the error. @throws ApiError */
export async function runValidatingPolicies(hooks: RuleIndex<ValidatingHook>, request: AdmissionRequest, deps: PolicyContext): Promise<void> {
  const { operation, resource, subresource } = request;
  const matches = hooks.matching({ operation: operationOf[operation], resource, subresource });
  if (matches.length === 0) return;
  const expressions = await loadExpressions();
  const denials: Denial[] = [];
  for (const { entry } of matches) denials.push(...(await new ValidatingPolicyRun(entry, { request, deps, expressions }).denials()));
  const [first] = denials;
  if (first !== undefined) throw refusal(request, first);
}

interface ValidatingPolicyInput {
  readonly request: AdmissionRequest;
  readonly deps: PolicyContext;
  readonly expressions: Expressions;
}

class ValidatingPolicyRun {
  readonly #hook: ValidatingHook;
  readonly #input: ValidatingPolicyInput;
  readonly #denials: Denial[] = [];
  readonly #annotations = new Map<string, Set<string>>();

  constructor(hook: ValidatingHook, input: ValidatingPolicyInput) {
    this.#hook = hook;
    this.#input = input;
  }

  async denials(): Promise<readonly Denial[]> {
    const { request, deps } = this.#input;
    const name = this.#hook.policy.metadata.name;
    await this.#configured(undefined, async () => {
      const resource = await matched(this.#hook, request, deps);
      if (resource === undefined) return;
      const { paramKind } = this.#hook.policy.spec;
      const params = paramKind === undefined ? undefined : paramResource(paramKind, deps.resources);
      const objects = versionedObjects(request, resource);
      for (const bound of this.#hook.bindings) await this.#configured(bound, () => this.#apply(bound, objects, params));
    });
    for (const [key, values] of this.#annotations) request.annotate?.(`${name}/${key}`, [...values].join(', '));
    return this.#denials;
  }

  /** The failurePolicy decides about a misconfigured policy or binding. */
  async #configured(bound: BoundPolicy | undefined, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof ConfigurationError) && !(error instanceof ApiError)) throw error;
      if (this.#hook.policy.spec.failurePolicy === 'Ignore') return;
      this.#deny({ message: `failed to configure ${bound === undefined ? 'policy' : 'binding'}: ${error.message}`, reason: '' }, bound);
    }
  }

  #deny({ message, reason }: Pick<PolicyDecision, 'message' | 'reason'>, bound: BoundPolicy | undefined): void {
    this.#denials.push({ message, reason, policy: this.#hook.policy.metadata.name, binding: bound?.binding.metadata.name });
  }

  async #apply(bound: BoundPolicy<ValidatingAdmissionPolicyBinding>, objects: VersionedObjects, params: Resource | undefined): Promise<void> {
    const { request, deps, expressions } = this.#input;
    if (bound.match !== undefined && (await matched(bound.match, request, deps)) === undefined) return;
    const all = await paramsOf(params, bound.binding.spec.paramRef, { reader: deps.reader, namespace: namespaceOf(request) });
    const namespace = await namespaceFor(request, deps);
    for (const one of all) this.#judge(bound, { expressions, request, objects, namespace, params: one, authorizer: deps.authorizer });
  }

  #judge(bound: BoundPolicy<ValidatingAdmissionPolicyBinding>, input: EvaluationInput): void {
    const { spec } = this.#hook.policy;
    const context = evaluationContextOf(spec, input);
    const lenient = spec.failurePolicy === 'Ignore';
    const outcome = evaluateMatchConditions(spec.matchConditions ?? [], context);
    if (outcome.type === 'unmet' || (outcome.type === 'failed' && lenient)) return;
    if (outcome.type === 'failed') return this.#act(bound, { message: outcome.message, reason: '', index: 0 });
    for (const decision of policyDecisions(spec, context)) this.#act(bound, decision);
    context.budget.left = POLICY_BUDGET;
    for (const annotation of spec.auditAnnotations ?? []) this.#annotate(annotation, context, lenient ? undefined : bound);
  }

  #act({ binding, match }: BoundPolicy<ValidatingAdmissionPolicyBinding>, decision: PolicyDecision): void {
    const { request } = this.#input;
    const policy = this.#hook.policy.metadata.name;
    const { name } = binding.metadata;
    for (const action of binding.spec.validationActions ?? []) {
      if (action === 'Deny') this.#deny(decision, { binding, match });
      if (action === 'Warn') {
        request.warnings.add(`Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${name}': ${decision.message}`);
      }
      if (action === 'Audit') {
        const { message, index: expressionIndex } = decision;
        const failure = { message, policy, binding: name, expressionIndex, validationActions: binding.spec.validationActions };
        request.annotate?.('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]));
      }
    }
  }

  /** `strict`: an error in the expression is a denial by this binding; undefined: it is ignored. */
  #annotate({ key, valueExpression }: AuditAnnotation, context: EvaluationContext, strict: BoundPolicy | undefined): void {
    const result = evaluate(valueExpression.trim(), context);
    if (!result.ok) {
      if (strict !== undefined) this.#deny({ message: result.message, reason: '' }, strict);
      return;
    }
    const value = typeof result.value === 'string' ? result.value.trim().slice(0, MAX_ANNOTATION) : '';
    if (value === '') return;
    this.#annotations.set(key, (this.#annotations.get(key) ?? new Set()).add(value));
  }
}

const MAX_ANNOTATION = 10 * 1024;
const MAX_MESSAGE = 5 * 1024;

/** Pure: the failed validations. */
function policyDecisions({ validations = [], failurePolicy }: ValidatingAdmissionPolicySpec, context: EvaluationContext): PolicyDecision[] {
  const failed = (message: string, index: number): PolicyDecision[] => (failurePolicy === 'Ignore' ? [] : [{ message, reason: '', index }]);
  const found: PolicyDecision[] = [];
  for (const [index, validation] of validations.entries()) {
    const result = evaluate(validation.expression, context);
    // The exceeded budget replaces all other results.
    if (!result.ok && result.exhausted === true) return failed(result.message, 0);
    if (!result.ok) found.push(...failed(result.message, index));
    else if (result.value !== true) found.push({ message: messageOf(validation, context), reason: validation.reason ?? 'Invalid', index });
  }
  return found;
}

/** The messageExpression; if it does not give a single line, the message. */
function messageOf({ expression, message = '', messageExpression = '' }: Validation, context: EvaluationContext): string {
  if (messageExpression !== '') {
    const made = evaluate(messageExpression, { ...context, scope: { ...context.scope, authorizer: false } });
    const text = made.ok && typeof made.value === 'string' ? made.value.trim() : '';
    if (text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_MESSAGE) return text;
  }
  return message.trim() === '' ? `failed expression: ${expression.trim()}` : message.trim();
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 };

function refusal(request: AdmissionRequest, { policy, binding, message, reason }: Denial): ApiError {
  const by = binding === undefined ? `ValidatingAdmissionPolicy '${policy}'` : `ValidatingAdmissionPolicy '${policy}' with binding '${binding}'`;
  const text = `${by} denied request: ${message}`;
  const plain = admissionForbidden(request, text);
  const known = reason === '' ? 'Invalid' : reason;
  return new ApiError(codes[known] ?? 422, known, plain.message, { ...plain.details, causes: [{ message: text }] });
}
