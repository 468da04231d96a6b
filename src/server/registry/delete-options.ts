import type { DeleteOptions as Wire } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ApiRequest } from '../api.ts';
import { checkDeleteOptions, type DeleteOptions, deleteOptionsOfQuery } from './options.ts';
import { decodeBody, plainType } from './registry.ts';

const deleteOptions = plainType('', 'v1', 'DeleteOptions');

/** From the body if there is one, else from the query. @throws ApiError 400, 415, 422 */
export function decodeDeleteOptions({ body, query }: ApiRequest): DeleteOptions {
  if (body.type === 'none' || (body.type === 'bytes' && body.bytes.length === 0)) return checkDeleteOptions(deleteOptionsOfQuery(query));
  const given = decodeBody<Wire & KubeObject>(body, deleteOptions, { fieldValidation: 'Ignore', warnings: new Set() });
  return checkDeleteOptions(given);
}
