import type { MutatingWebhook } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from '../../../api/patch/json-patch.ts';
import { statusErrors } from '../../../api/status.ts';
import type { AdmissionRequest } from '../chain.ts';
import { operationOf, type VersionedObjects } from '../matching/attributes.ts';
import { replaceWithMutated } from '../matching/mutated-object.ts';
import type { RuleIndex } from '../matching/rule-index.ts';
import type { Reinvocation } from '../matching/reinvocation.ts';
import { callWebhook, objectsToReview, type WebhookContext } from './dispatch.ts';
import type { Hook } from './hooks.ts';

/** One after the other, each on the result of the last. @throws ApiError */
export async function callMutatingWebhooks(
  hooks: RuleIndex<Hook<MutatingWebhook>>,
  request: AdmissionRequest,
  { deps, reinvocation }: { readonly deps: WebhookContext; readonly reinvocation: Reinvocation },
): Promise<void> {
  const { resource, subresource, operation } = request;
  reinvocation.begin(request.object);
  const { round } = reinvocation;
  for (const [index, matched] of hooks.matching({ operation: operationOf[operation], resource, subresource }).entries()) {
    const hook = matched.entry;
    if (!reinvocation.isDue(hook.id)) continue;
    const objects = await objectsToReview(matched, request, deps);
    if (objects === undefined) continue;
    const response = await callWebhook({ hook, objects, mutating: true, index, round }, request, deps);
    const changed = response !== undefined && response.patch.length > 0 && apply(request, objects, { operations: response.patch, webhook: hook.webhook.name });
    annotate(request, hook, { changed, operations: response?.patch ?? [], place: `round_${round}_index_${index}` });
    if (changed) reinvocation.changed();
    if (hook.webhook.reinvocationPolicy === 'IfNeeded') reinvocation.invoked(hook.id);
  }
  reinvocation.end(request.object);
}

interface Patch {
  readonly operations: readonly JsonPatchOperation[];
  readonly webhook: string;
}

/** @returns whether the object changed */
function apply(request: AdmissionRequest, { object, resource }: VersionedObjects, { operations, webhook }: Patch): boolean {
  if (object === undefined) {
    throw statusErrors.internal(`admission webhook ${JSON.stringify(webhook)} attempted to modify the object, which is not supported for this operation`);
  }
  return replaceWithMutated(request, { object, resource, made: patched(object, operations) });
}

function patched(object: KubeObject, operations: readonly JsonPatchOperation[]): unknown {
  try {
    return applyJsonPatch(object, operations);
  } catch (error) {
    if (error instanceof JsonPatchError) throw statusErrors.internal(error.message);
    throw error;
  }
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
    request.annotate(`patch.webhook.admission.k8s.io/${place}`, JSON.stringify({ ...who, patch: operations, patchType: 'JSONPatch' }), 'Request');
  }
}
