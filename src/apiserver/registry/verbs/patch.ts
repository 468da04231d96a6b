import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { preparePatch, requirePatchType } from '../../../api/patch/index.ts';
import { statusErrors } from '../../../api/status.ts';
import type { ApiResponse } from '../../api.ts';
import { applyPatch, isApply } from './apply.ts';
import { adoptNamespace, checkName } from '../../objects/metadata.ts';
import { parseWriteOptions, type WriteOptions } from '../../objects/options.ts';
import type { Call, Registry } from '../registry.ts';
import { updateObject, updateResponse, type Part } from './update.ts';

/** Changes an object by a patch. After a conflict it is applied again to the newest version, unless the patch has a resourceVersion. */
export async function patch(registry: Registry, call: Call, part: Part): Promise<ApiResponse> {
  if (isApply(call)) return applyPatch(registry, call, part);
  const { resource, namespace, name } = call.route;
  const { kind } = resource;
  const { options, apply } = patchOf(call, kind);
  const desired = (current: KubeObject | undefined): KubeObject => {
    if (current === undefined) throw statusErrors.notFound(kind, name);
    const object = apply(current);
    kind.defaults?.(object);
    adoptNamespace(object, kind, namespace);
    checkName(object, name);
    return object;
  };
  return updateResponse(call, await updateObject(registry, call, { part, options, desired, createsAbsent: false }));
}

export interface RequestedPatch {
  readonly options: WriteOptions;
  /** The object after the patch: a new one, decoded, without defaults. @throws ApiError */
  readonly apply: <T extends KubeObject>(current: T) => T;
}

const noBytes = new Uint8Array(0);

/** The patch in a request's body, and its options. @throws ApiError 400, 413, 415, 422 */
export function patchOf({ request, warnings }: Call, kind: Pick<Kind, 'group' | 'version' | 'kind' | 'type' | 'custom'>): RequestedPatch {
  const { body, query } = request;
  const contentType = body.type === 'none' ? '' : body.contentType;
  // As in Kubernetes, an unsupported content type is reported before wrong options.
  requirePatchType(contentType);
  const options = parseWriteOptions(query, 'PatchOptions');
  const given =
    body.type === 'object'
      ? ({ type: 'value', value: body.object } as const)
      : ({ type: 'bytes', bytes: body.type === 'bytes' ? body.bytes : noBytes } as const);
  const prepared = preparePatch({ contentType, body: given, kind, fieldValidation: options.fieldValidation });
  const apply: RequestedPatch['apply'] = (current) => {
    const patched = prepared.apply(current);
    for (const warning of patched.warnings) warnings.add(warning);
    return patched.object;
  };
  return { options, apply };
}
