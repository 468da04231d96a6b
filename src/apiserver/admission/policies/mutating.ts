/** What policies make of an object before it is validated. */
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

/** A policy that cannot do what it should. */
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

/** One after the other, each seeing what those before it made of the object. @throws ApiError */
export async function runMutatingPolicies(hooks: RuleIndex<MutatingHook>, request: AdmissionRequest, rounds: MutatingPolicyRound): Promise<void> {
  const { operation, resource, subresource } = request;
  if (operation === 'delete') return;
  const about = hooks.matching({ operation: operationOf[operation], resource, subresource });
  if (about.length === 0) return;
  const expressions = await loadExpressions();
  const failures: Failure[] = [];
  rounds.reinvocation.begin(request.object);
  for (const { entry } of about) failures.push(...(await new MutatingPolicyRun(entry, { request, rounds, expressions }).failures()));
  rounds.reinvocation.end(request.object);
  if (failures.length > 0) throw refusal(request, failures);
}

interface MutatingPolicyInput {
  readonly request: AdmissionRequest;
  readonly rounds: MutatingPolicyRound;
  readonly expressions: Expressions;
}

/** What one policy does with one request. */
class MutatingPolicyRun {
  readonly #hook: MutatingHook;
  readonly #work: MutatingPolicyInput;
  readonly #failures: Failure[] = [];

  constructor(hook: MutatingHook, work: MutatingPolicyInput) {
    this.#hook = hook;
    this.#work = work;
  }

  async failures(): Promise<readonly Failure[]> {
    const { request, rounds } = this.#work;
    await this.#attempt(undefined, async () => {
      const resource = await matched(this.#hook, request, rounds.deps);
      if (resource === undefined) return;
      const { paramKind } = this.#hook.policy.spec;
      const params = paramKind === undefined ? undefined : paramResource(paramKind, rounds.deps.resources);
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
    const { request, rounds } = this.#work;
    const { deps } = rounds;
    if (bound.match !== undefined && (await matched(bound.match, request, deps)) === undefined) return;
    const all = await paramsOf(kind, bound.binding.spec.paramRef, { reader: deps.reader, namespace: namespaceOf(request) });
    const namespace = await namespaceFor(request, deps);
    for (const params of all) this.#invoke(bound, { resource, params, namespace });
  }

  #invoke(bound: BoundPolicy, at: Invocation): void {
    const { reinvocation } = this.#work.rounds;
    const { metadata, spec } = this.#hook.policy;
    const outcome = evaluateMatchConditions(spec.matchConditions ?? [], this.#scene(at));
    if (outcome.type === 'failed') this.#fail(bound, outcome.message, 'Invalid');
    const id = [metadata.name, bound.binding.metadata.name, at.params?.metadata.namespace, at.params?.metadata.name].join('/');
    if (outcome.type !== 'met' || !reinvocation.isDue(id)) return;
    const changes = (spec.mutations ?? []).map((mutation) => this.#mutate(bound, mutation, at));
    // Unlike a webhook, a policy that changed something is asked again itself.
    if (spec.reinvocationPolicy === 'IfNeeded') reinvocation.invoked(id);
    if (changes.includes(true)) reinvocation.changed();
  }

  /** Anew for each mutation: it sees what the last one made of the object. */
  #scene({ resource, params, namespace }: Invocation): EvaluationContext {
    const { request, rounds, expressions } = this.#work;
    const setting = { expressions, request, objects: versionedObjects(request, resource), namespace, params, authorizer: rounds.deps.authorizer };
    return evaluationContextOf(this.#hook.policy.spec, setting);
  }

  #mutate(bound: BoundPolicy, mutation: Mutation, at: Invocation): boolean {
    const { request } = this.#work;
    const { resource } = at;
    const { object } = versionedObjects(request, resource);
    if (object === undefined) return false;
    try {
      return replaceWithMutated(request, { object, resource, made: mutated(mutation, { object, resource }, this.#scene(at)) });
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
function mutated(mutation: Mutation, subject: Subject, scene: EvaluationContext): unknown {
  const { expression = '' } = (mutation.patchType === 'JSONPatch' ? mutation.jsonPatch : mutation.applyConfiguration) ?? {};
  const result = evaluate(expression.trim(), { ...scene, scope: { ...scene.scope, patches: true } });
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
    // A test that fails says that nothing is to be done.
    if (error.message.endsWith('test failed')) return object;
    throw new MutationError(`JSON Patch: ${error.message}`);
  }
}

/** As by server-side apply, but nobody comes to own anything. */
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
