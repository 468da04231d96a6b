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

/** The context of all verbs. */
export interface Registry {
  readonly store: Store;
  readonly resources: Resources;
  readonly world: World;
  readonly admission: AdmissionChain;
  readonly locks: KeyLocks;
  readonly listCache: ListCache;
  /** Decides whether an update of an absent object may create it. Absent: every user may. */
  readonly authorizer?: Authorizer | undefined;
}

/** One request. All steps add their warnings, which are sent with the response. */
export interface Call {
  readonly request: ApiRequest;
  readonly route: Route;
  readonly warnings: Set<string>;
}

export const targetOf = (registry: Registry, call: Call, name = call.route.name): WriteTarget => ({
  store: registry.store,
  world: registry.world,
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

/** A type of the schema that a body may be decoded as, and its TypeScript type. */
export interface BodyType<T extends KubeObject = KubeObject> extends Pick<Kind, 'group' | 'version' | 'kind' | 'type' | 'custom'> {
  readonly decodesTo?: T;
}

/** The decoded body of a request. @throws ApiError 400, 415 */
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

/** Decoded as the first of several versions that accepts the body. If none does, the client gets the error of the first. @throws ApiError 400, 415 */
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

/** An object of a served kind, with its defaults. @throws ApiError 400, 415 */
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

/** A type that the registry does not store. */
export const bodyType = <T extends KubeObject>(group: string, version: string, kind: string): BodyType<T> => ({ group, version, kind, type: kind });
