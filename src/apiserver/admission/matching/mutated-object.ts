/** Objects after a mutation by a webhook or a policy. */
import type { Scale } from '../../../api/generated/types.ts';
import { isJsonObject } from '../../../api/json.ts';
import type { KubeObject } from '../../../api/object.ts';
import { decode, deepEqual } from '../../../api/schema/index.ts';
import { DecodeError } from '../../../api/schema/decode.ts';
import { statusErrors } from '../../../api/status.ts';
import { adoptNamespace } from '../../objects/metadata.ts';
import type { Resource } from '../../objects/resources.ts';
import type { AdmissionRequest } from '../chain.ts';
import { converted, isScale } from './attributes.ts';

/** Replaces the object of a request by the mutated one. `resource`: the version it is in. @returns whether it changed. @throws ApiError */
export function replaceWithMutated(request: AdmissionRequest, { object, resource, made }: { object: KubeObject; resource: Resource; made: unknown }): boolean {
  const decoded = decodedAs(object, resource, made);
  adoptNamespace(decoded, request.resource.kind, request.namespace);
  if (deepEqual(decoded, object)) return false;
  if (isScale(request)) {
    request.resource.kind.scale?.setReplicas(request.object, (decoded as Scale).spec.replicas ?? 0);
    return true;
  }
  replaceObject(request.object, converted(decoded, resource, request.resource));
  return true;
}

/** Decoded, with defaults. A mutation that breaks the object is an error of the webhook or policy, not of the client. @throws ApiError 500 */
function decodedAs({ kind, apiVersion }: KubeObject, { kind: own }: Resource, value: unknown): KubeObject {
  if (!isJsonObject(value)) throw statusErrors.internal('the object would no longer be one');
  if (value['kind'] !== kind || value['apiVersion'] !== apiVersion) {
    throw statusErrors.internal(`an object of ${apiVersion} ${kind} cannot become one of ${String(value['apiVersion'])} ${String(value['kind'])}`);
  }
  // An object posted to a subresource has its own kind.
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

/** In place: all plugins share this object. */
function replaceObject(target: KubeObject, source: KubeObject): void {
  const fields = target as unknown as Record<string, unknown>;
  for (const key of Object.keys(fields)) if (!Object.hasOwn(source, key)) delete fields[key];
  Object.assign(target, source);
}
