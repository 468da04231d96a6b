import type { DeleteOptions as Wire } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { checkDeleteOptions, type DeleteOptions, deleteOptionsOfQuery } from '../../objects/options.ts';
import { bodyType, type BodyType, type Call, decodeAsAny } from '../registry.ts';

const optionsOf = (group: string, version: string): BodyType<Wire & KubeObject> => bodyType(group, version, 'DeleteOptions');

/** From the body if there is one, else from the query. @throws ApiError 400, 415, 422 */
export function decodeDeleteOptions({ request, route }: Call): DeleteOptions {
  const { body, query } = request;
  if (body.type === 'none' || (body.type === 'bytes' && body.bytes.length === 0)) return checkDeleteOptions(deleteOptionsOfQuery(query));
  const { group, version } = route.resource.kind;
  // Clients send DeleteOptions in the object's group and version, in v1, or in meta.k8s.io/v1.
  const accepted = [optionsOf('', 'v1'), optionsOf(group, version), optionsOf('meta.k8s.io', 'v1')];
  return checkDeleteOptions(decodeAsAny(body, accepted, { fieldValidation: 'Ignore', warnings: new Set() }));
}
