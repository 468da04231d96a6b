import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { patchContentTypes, preparePatch } from '../../api/patch/index.ts';
import { statusErrors } from '../../api/status.ts';
import type { ApiResponse } from '../api.ts';
import { adoptNamespace, checkName } from './metadata.ts';
import { parseWriteOptions, type WriteOptions } from './options.ts';
import type { Call, Registry } from './registry.ts';
import { change, changedResponse, type Part } from './update.ts';

/** Changes an object by a patch; tried again on the newest version if somebody else was faster, unless the patch names a version. */
export async function patch(registry: Registry, call: Call, part: Part): Promise<ApiResponse> {
  const { resource, namespace, name } = call.route;
  const { kind } = resource;
  const options = parseWriteOptions(call.request.query, 'PatchOptions');
  const apply = patchOf(call, kind, options);
  const desired = (current: KubeObject | undefined): KubeObject => {
    if (current === undefined) throw statusErrors.notFound(kind, name);
    const object = apply(current);
    kind.defaults?.(object);
    adoptNamespace(object, kind, namespace);
    checkName(object, name);
    return object;
  };
  return changedResponse(call, await change(registry, call, { part, options, desired, createsAbsent: false }));
}

/** What a patch makes of an object: a new one, decoded, without defaults. @throws ApiError */
export type Patch = <T extends KubeObject>(current: T) => T;

/** The patch in a request's body. @throws ApiError 400, 413, 415 */
export function patchOf({ request, warnings }: Call, kind: Pick<Kind, 'group' | 'version' | 'kind' | 'type'>, { fieldValidation }: WriteOptions): Patch {
  const { body } = request;
  if (body.type === 'none') throw statusErrors.unsupportedMediaType('', patchContentTypes);
  const given = body.type === 'object' ? ({ type: 'value', value: body.object } as const) : ({ type: 'bytes', bytes: body.bytes } as const);
  const prepared = preparePatch({ contentType: body.contentType, body: given, kind, fieldValidation });
  return (current) => {
    const patched = prepared.apply(current);
    for (const warning of patched.warnings) warnings.add(warning);
    return patched.object;
  };
}
