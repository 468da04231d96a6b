import type { MutatingWebhook } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from '../../../api/patch/json-patch.ts';
import { isJsonObject } from '../../../api/json.ts';
import { cloneObject, decode, deepEqual } from '../../../api/schema/index.ts';
import { DecodeError } from '../../../api/schema/decode.ts';
import { statusErrors } from '../../../api/status.ts';
import { adoptNamespace } from '../../registry/metadata.ts';
import type { Resource } from '../../registry/resources.ts';
import type { AdmissionRequest } from '../chain.ts';
import { converted, operationOf, type Versioned } from '../matching/attributes.ts';
import type { RuleBook } from '../matching/rule-book.ts';
import { call, wanted, type WebhookDependencies } from './dispatch.ts';
import type { Hook } from './hooks.ts';

/**
 * Who has to be asked again. A webhook that may be (reinvocationPolicy IfNeeded) is asked a second time if, after its first, anybody changed the
 * object; nobody is asked a third time.
 */
export class Reinvocation {
  readonly #invoked = new Set<string>();
  readonly #again = new Set<string>();
  #last: KubeObject | undefined;
  #repeats = false;
  /** Somebody has changed the object: everybody who changes objects has another look at it. */
  needed = false;

  /** Before the second round: what the others changed counts as well. */
  repeat(object: KubeObject): void {
    if (!deepEqual(object, this.#last)) this.#require();
    this.#repeats = true;
  }

  /** After the first. */
  finish(object: KubeObject): void {
    this.#last = cloneObject(object);
  }

  get round(): 0 | 1 {
    return this.#repeats ? 1 : 0;
  }

  isDue(id: string): boolean {
    return !this.#repeats || this.#again.has(id);
  }

  changed(): void {
    this.#require();
    this.needed = true;
  }

  invoked(id: string): void {
    this.#invoked.add(id);
  }

  #require(): void {
    for (const id of this.#invoked) this.#again.add(id);
    this.#invoked.clear();
  }
}

/** One after the other, each seeing what those before it made of the object. @throws ApiError */
export async function askMutating(
  hooks: RuleBook<Hook<MutatingWebhook>>,
  request: AdmissionRequest,
  { deps, reinvocation }: { readonly deps: WebhookDependencies; readonly reinvocation: Reinvocation },
): Promise<void> {
  const { resource, subresource, operation } = request;
  const { round } = reinvocation;
  for (const [index, matched] of hooks.about({ operation: operationOf[operation], resource, subresource }).entries()) {
    const hook = matched.entry;
    if (!reinvocation.isDue(hook.id)) continue;
    const objects = await wanted(matched, request, deps);
    if (objects === undefined) continue;
    const verdict = await call({ hook, objects, mutating: true, index, round }, request, deps);
    const changed = verdict !== undefined && verdict.patch.length > 0 && apply(request, objects, { operations: verdict.patch, webhook: hook.webhook.name });
    annotate(request, hook, { changed, operations: verdict?.patch ?? [], place: `round_${round}_index_${index}` });
    if (changed) reinvocation.changed();
    if (hook.webhook.reinvocationPolicy === 'IfNeeded') reinvocation.invoked(hook.id);
  }
}

interface Patch {
  readonly operations: readonly JsonPatchOperation[];
  readonly webhook: string;
}

/** @returns whether anything is different now */
function apply(request: AdmissionRequest, { object, resource }: Versioned, { operations, webhook }: Patch): boolean {
  if (object === undefined) {
    throw statusErrors.internal(`admission webhook ${JSON.stringify(webhook)} attempted to modify the object, which is not supported for this operation`);
  }
  const decoded = decodedAs(object, resource, patched(object, operations));
  adoptNamespace(decoded, request.resource.kind, request.namespace);
  if (deepEqual(decoded, object)) return false;
  replaceObject(request.object, converted(decoded, resource, request.resource));
  return true;
}

function patched(object: KubeObject, operations: readonly JsonPatchOperation[]): unknown {
  try {
    return applyJsonPatch(object, operations);
  } catch (error) {
    if (error instanceof JsonPatchError) throw statusErrors.internal(error.message);
    throw error;
  }
}

/** Decoded, and complete with its defaults. What is no object of its kind any more is the webhook's fault, not the client's. @throws ApiError 500 */
export function decodedAs({ kind = '', apiVersion = '' }: KubeObject, { kind: own }: Resource, value: unknown): KubeObject {
  if (!isJsonObject(value)) throw statusErrors.internal('the object would no longer be one');
  if (value['kind'] !== kind || value['apiVersion'] !== apiVersion) {
    throw statusErrors.internal(`an object of ${apiVersion} ${kind} cannot become one of ${String(value['apiVersion'])} ${String(value['kind'])}`);
  }
  // What is posted to a part of an object is of its own kind.
  const isOwn = kind === own.kind;
  try {
    const decoded = isOwn && own.custom !== undefined ? own.custom.decode(value).object : decode<KubeObject>(isOwn ? own.type : kind, value).object;
    if (isOwn) own.defaults?.(decoded);
    return decoded;
  } catch (error) {
    if (error instanceof DecodeError) throw statusErrors.internal(error.message);
    throw error;
  }
}

/** In place: everybody who works on the request holds this very object. */
export function replaceObject(target: KubeObject, source: KubeObject): void {
  const fields = target as unknown as Record<string, unknown>;
  for (const key of Object.keys(fields)) if (!Object.hasOwn(source, key)) delete fields[key];
  Object.assign(target, source);
}

interface Change extends Pick<Patch, 'operations'> {
  readonly changed: boolean;
  readonly place: string;
}

function annotate(request: AdmissionRequest, { configuration, webhook }: Hook, { changed, operations, place }: Change): void {
  if (request.annotate === undefined) return;
  const who = { configuration, webhook: webhook.name };
  request.annotate(`mutation.webhook.admission.k8s.io/${place}`, JSON.stringify({ ...who, mutated: changed }));
  if (operations.length > 0) {
    request.annotate(`patch.webhook.admission.k8s.io/${place}`, JSON.stringify({ ...who, patch: operations, patchType: 'JSONPatch' }));
  }
}
