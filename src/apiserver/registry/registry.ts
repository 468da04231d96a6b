import type { KubeObject } from '../../api/object.ts';
import { decodeRequest, type FieldValidation } from '../../api/decode-request.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import type { Kind } from '../../api/kind.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { AdmissionChain } from '../admission/chain.ts';
import type { ApiRequest, RequestBody } from '../api.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { KeyLocks } from '../objects/locks.ts';
import type { ListCache } from '../objects/list-cache.ts';
import type { Resources } from '../objects/resources.ts';
import type { Route } from './route.ts';
import type { WriteTarget } from '../objects/transaction.ts';

/** What every verb works with. */
export interface Registry {
  readonly store: Store;
  readonly resources: Resources;
  readonly world: World;
  readonly admission: AdmissionChain;
  readonly locks: KeyLocks;
  readonly listCache: ListCache;
  /** Asked whether a write of an absent object may create it. Absent: everybody may. */
  readonly authorizer?: Authorizer | undefined;
}

/** One request on its way. Warnings are added by whoever has one, and go out with the answer. */
export interface Call {
  readonly request: ApiRequest;
  readonly route: Route;
  readonly warnings: Set<string>;
}

export const targetOf = (registry: Registry, call: Call, name = call.route.name): WriteTarget => ({
  store: registry.store,
  locks: registry.locks,
  fence: call.request.fence,
  kind: call.route.resource.kind,
  name,
});

const bodyTypes: ReadonlyMap<string, 'json' | 'yaml' | 'protobuf'> = new Map([
  ['', 'json'],
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'],
]);

const acceptedBodies = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

const noBytes = new Uint8Array(0);

/** A type of the schema that a body may be decoded as, and its TypeScript twin. */
export interface BodyType<T extends KubeObject = KubeObject> extends Pick<Kind, 'group' | 'version' | 'kind' | 'type' | 'custom'> {
  readonly decodesTo?: T;
}

/** What the body of a request holds. @throws ApiError 400, 415 */
export function decodeBody<T extends KubeObject>(
  body: RequestBody,
  expected: BodyType<T>,
  options: { readonly fieldValidation: FieldValidation; readonly warnings: Set<string> },
): T {
  const { fieldValidation } = options;
  const decoded = decodeRequest<T>({ expected, body: parsedBody(body), fieldValidation });
  for (const warning of decoded.warnings) options.warnings.add(warning);
  return decoded.object;
}

/** As the first of several versions of one type that takes it; what the first of them minds is what the client hears. @throws ApiError 400, 415 */
export function decodeAsAny<T extends KubeObject>(
  body: RequestBody,
  versions: readonly BodyType<T>[],
  options: { readonly fieldValidation: FieldValidation; readonly warnings: Set<string> },
): T {
  let refused: ApiError | undefined;
  for (const version of versions) {
    try {
      return decodeBody(body, version, options);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused ??= error;
    }
  }
  throw refused ?? new Error('no version was tried');
}

/** An object of a served kind, complete with its defaults. @throws ApiError 400, 415 */
export function decodeObject(
  body: RequestBody,
  kind: Kind,
  options: { readonly fieldValidation: FieldValidation; readonly warnings: Set<string> },
): KubeObject {
  const object = decodeBody(body, kind, options);
  kind.defaults?.(object);
  return object;
}

function parsedBody(body: RequestBody): Parameters<typeof decodeRequest>[0]['body'] {
  if (body.type === 'object') return { type: 'value', value: body.object };
  if (body.type === 'none') return { type: 'json', bytes: noBytes };
  const type = bodyTypes.get(body.contentType);
  if (type === undefined) throw statusErrors.unsupportedMediaType(acceptedBodies);
  return { type, bytes: body.bytes };
}

/** A type that is no kind of the registry. */
export const bodyType = <T extends KubeObject>(group: string, version: string, kind: string): BodyType<T> => ({ group, version, kind, type: kind });
