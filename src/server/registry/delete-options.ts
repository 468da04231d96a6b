import type { DeleteOptions as Wire } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import type { RequestBody } from '../api.ts';
import { checkDeleteOptions, type DeleteOptions, deleteOptionsOfQuery } from './options.ts';
import { type BodyType, type Call, decodeBody } from './registry.ts';

/** From the body if there is one, else from the query. @throws ApiError 400, 415, 422 */
export function decodeDeleteOptions({ request, route }: Call): DeleteOptions {
  const { body, query } = request;
  if (body.type === 'none' || (body.type === 'bytes' && body.bytes.length === 0)) return checkDeleteOptions(deleteOptionsOfQuery(query));
  const { group, version } = route.resource.kind;
  return checkDeleteOptions(
    decodeAsAny(body, [
      { group: '', version: 'v1' },
      { group, version },
      { group: 'meta.k8s.io', version: 'v1' },
    ]),
  );
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Clients send these options under the version of whatever they delete, or under that of all metadata. */
function decodeAsAny(body: RequestBody, versions: readonly GroupVersion[]): Wire {
  let refused: ApiError | undefined;
  for (const version of versions) {
    try {
      const expected: BodyType<Wire & KubeObject> = { ...version, kind: 'DeleteOptions', type: 'DeleteOptions' };
      return decodeBody(body, expected, { fieldValidation: 'Ignore', warnings: new Set() });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused ??= error;
    }
  }
  throw refused ?? new Error('no version was tried');
}
