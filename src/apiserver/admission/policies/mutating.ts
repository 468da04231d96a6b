/** MutatingAdmissionPolicies. */
import { type Expressions, loadExpressions } from '../../../api/admission/expressions.ts';
import { jsonValue } from '../../../api/admission/json-value.ts';
import { atomicsIn, merge, shapeOfKind } from '../../../api/apply/index.ts';
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, Mutation, Namespace } from '../../../api/generated/types.ts';
import { isJsonObject } from '../../../api/json.ts';
import type { KubeObject } from '../../../api/object.ts';
import { applyJsonPatch, JsonPatchError } from '../../../api/patch/json-patch.ts';
import { ApiError } from '../../../api/status.ts';
import type { Resource } from '../../objects/resources.ts';
import type { AdmissionRequest } from '../chain.ts';
import { namespaceOf, operationOf, versionedObjects } from '../matching/attributes.ts';
import { replaceWithMutated } from '../matching/mutated-object.ts';
import { evaluate, evaluateMatchConditions, type EvaluationContext } from '../matching/match-conditions.ts';
import type { Reinvocation } from '../matching/reinvocation.ts';
import type { RuleIndex } from '../matching/rule-index.ts';
import { admissionForbidden } from '../forbidden.ts';
import type { PolicyContext } from './policy-context.ts';
import { type BoundPolicy, matched, type PolicyHook } from './hooks.ts';
import { namespaceFor } from './namespace.ts';
import { ConfigurationError, paramResource, paramsOf } from './params.ts';
import { evaluationContextOf } from './evaluation-context.ts';

export type MutatingHook = PolicyHook<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>;

/** A mutation failed. */
class MutationError extends Error {}

interface Failure {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
}

export interface MutatingPolicyRound {
  readonly deps: PolicyContext;
  readonly reinvocation: Reinvocation;
}

/** One after the other, each on the result of the last. @throws ApiError */
export async function runMutatingPolicies(hooks: RuleIndex<MutatingHook>, request: AdmissionRequest, round: MutatingPolicyRound): Promise<void> {
  const { operation, resource, subresource } = request;
  if (operation === 'delete') return;
  const matches = hooks.matching({ operation: operationOf[operation], resource, subresource });
  if (matches.length === 0) return;
  const expressions = await loadExpressions();
  const failures: Failure[] = [];
  round.reinvocation.begin(request.object);
  for (const { entry } of matches) failures.push(...(await new MutatingPolicyRun(entry, { request, round, expressions }).failures()));
  round.reinvocation.end(request.object);
  if (failures.length > 0) throw refusal(request, failures);
}

interface MutatingPolicyInput {
  readonly request: AdmissionRequest;
  readonly round: MutatingPolicyRound;
  readonly expressions: Expressions;
}

/** One policy in one request. */
class MutatingPolicyRun {
  readonly #hook: MutatingHook;
  readonly #input: MutatingPolicyInput;
  readonly #failures: Failure[] = [];

  constructor(hook: MutatingHook, input: MutatingPolicyInput) {
    this.#hook = hook;
    this.#input = input;
  }

  async failures(): Promise<readonly Failure[]> {
    const { request, round } = this.#input;
    await this.#attempt(undefined, async () => {
      const resource = await matched(this.#hook, request, round.deps);
      if (resource === undefined) return;
      const { paramKind } = this.#hook.policy.spec;
      const params = paramKind === undefined ? undefined : paramResource(paramKind, round.deps.resources);
      for (const bound of this.#hook.bindings) await this.#attempt(bound, () => this.#apply(bound, resource, params));
    });
    return this.#failures;
  }

  async #attempt(bound: BoundPolicy | undefined, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.#fail(bound, `failed to configure ${bound === undefined ? 'policy' : 'binding'}: ${error.message}`, 'Forbidden');
    }
  }

  #fail(bound: BoundPolicy | undefined, message: string, reason: string): void {
    const { metadata, spec } = this.#hook.policy;
    if (spec.failurePolicy === 'Ignore') return;
    this.#failures.push({ policy: metadata.name, binding: bound?.binding.metadata.name, message, reason });
  }

  async #apply(bound: BoundPolicy, resource: Resource, kind: Resource | undefined): Promise<void> {
    const { request, round } = this.#input;
    const { deps } = round;
    if (bound.match !== undefined && (await matched(bound.match, request, deps)) === undefined) return;
    const all = await paramsOf(kind, bound.binding.spec.paramRef, { reader: deps.reader, namespace: namespaceOf(request) });
    const namespace = await namespaceFor(request, deps);
    for (const params of all) this.#invoke(bound, { resource, params, namespace });
  }

  #invoke(bound: BoundPolicy, at: Invocation): void {
    const { reinvocation } = this.#input.round;
    const { metadata, spec } = this.#hook.policy;
    const outcome = evaluateMatchConditions(spec.matchConditions ?? [], this.#context(at));
    if (outcome.type === 'failed') this.#fail(bound, outcome.message, 'Invalid');
    const id = [metadata.name, bound.binding.metadata.name, at.params?.metadata.namespace, at.params?.metadata.name].join('/');
    if (outcome.type !== 'met' || !reinvocation.isDue(id)) return;
    const changes = (spec.mutations ?? []).map((mutation) => this.#mutate(bound, mutation, at));
    // Unlike a webhook, a policy is also reinvoked after its own change.
    if (spec.reinvocationPolicy === 'IfNeeded') reinvocation.invoked(id);
    if (changes.includes(true)) reinvocation.changed();
  }

  /** A new context for each mutation: it sees the result of the last one. */
  #context({ resource, params, namespace }: Invocation): EvaluationContext {
    const { request, round, expressions } = this.#input;
    const setting = { expressions, request, objects: versionedObjects(request, resource), namespace, params, authorizer: round.deps.authorizer };
    return evaluationContextOf(this.#hook.policy.spec, setting);
  }

  #mutate(bound: BoundPolicy, mutation: Mutation, at: Invocation): boolean {
    const { request } = this.#input;
    const { resource } = at;
    const { object } = versionedObjects(request, resource);
    if (object === undefined) return false;
    try {
      return replaceWithMutated(request, { object, resource, made: mutated(mutation, { object, resource }, this.#context(at)) });
    } catch (error) {
      if (!(error instanceof MutationError)) throw error;
      this.#fail(bound, error.message, 'Invalid');
      return false;
    }
  }
}

interface Invocation {
  readonly resource: Resource;
  readonly params: KubeObject | null;
  readonly namespace: Namespace | undefined;
}

interface Subject {
  readonly object: KubeObject;
  readonly resource: Resource;
}

/** The object after one mutation. @throws MutationError */
function mutated(mutation: Mutation, subject: Subject, context: EvaluationContext): unknown {
  const { expression = '' } = (mutation.patchType === 'JSONPatch' ? mutation.jsonPatch : mutation.applyConfiguration) ?? {};
  const result = evaluate(expression.trim(), { ...context, scope: { ...context.scope, patches: true } });
  if (!result.ok) throw new MutationError(result.message);
  const value = jsonValue(result.value);
  return mutation.patchType === 'JSONPatch' ? patchedBy(value, subject.object) : appliedTo(subject, value);
}

function patchedBy(operations: unknown, object: KubeObject): unknown {
  if (!Array.isArray(operations) || !operations.every(isJsonObject)) {
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array');
  }
  try {
    return applyJsonPatch(object, operations);
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    // A failed `test` operation means that there is nothing to do.
    if (error.message.endsWith('test failed')) return object;
    throw new MutationError(`JSON Patch: ${error.message}`);
  }
}

/** Like server-side apply, but without managedFields. */
function appliedTo({ object, resource }: Subject, applied: unknown): unknown {
  if (!isJsonObject(applied)) throw new MutationError(`unsupported return type from ApplyConfiguration expression: ${typeof applied}`);
  const shape = shapeOfKind(resource.kind);
  const atomics = atomicsIn(shape, applied);
  if (atomics.length > 0) {
    throw new MutationError(`error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`);
  }
  return merge(shape, object, applied);
}

function refusal(request: AdmissionRequest, failures: readonly Failure[]): ApiError {
  const texts = failures.map(({ policy, binding, message }) =>
    binding === undefined
      ? `policy ${JSON.stringify(policy)} denied request: ${message}`
      : `policy '${policy}' with binding '${binding}' denied request: ${message}`,
  );
  const { code, details } = admissionForbidden(request, '');
  return new ApiError(code, failures[0]?.reason ?? 'Forbidden', texts[0] ?? '', { ...details, causes: texts.map((message) => ({ message })) });
}
