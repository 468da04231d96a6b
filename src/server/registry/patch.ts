import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { statusErrors } from '../../api/status.ts';
import type { ApiResponse } from '../api.ts';
import { adoptNamespace, checkName } from './metadata.ts';
import { parseWriteOptions } from './options.ts';
import type { Call, Registry } from './registry.ts';
import { change, changedResponse, type Part } from './update.ts';

export async function patch(registry: Registry, call: Call, part: Part): Promise<ApiResponse> {
  const { resource, namespace, name } = call.route;
  const { kind } = resource;
  const options = parseWriteOptions(call.request.query, 'PatchOptions');
  const { apply } = patchedBy(call, kind);
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

/** What a patch makes of an object: a new one, decoded. */
export interface Patch {
  apply(current: KubeObject): KubeObject;
}

export function patchedBy(call: Call, type: Pick<Kind, 'group' | 'version' | 'kind' | 'type'>): Patch {
  void call;
  void type;
  throw statusErrors.notImplemented('patches are not available yet');
}
