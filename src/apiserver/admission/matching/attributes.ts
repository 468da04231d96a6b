/** The attributes of a write as webhooks and expressions see them (upstream: admission.Attributes). */
import type { KubeObject } from '../../../api/object.ts';
import type { User } from '../../api.ts';
import type { Resource } from '../../objects/resources.ts';
import { scaleOf } from '../../objects/scale.ts';
import type { AdmissionRequest } from '../chain.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export const operationOf = { create: 'CREATE', update: 'UPDATE', delete: 'DELETE', connect: 'CONNECT' } as const;

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The namespace of a Namespace is its own name. */
export const namespaceOf = (request: AdmissionRequest): string => (isNamespaces(request.resource) ? nameOf(request) : request.namespace);

export const isNamespaces = ({ kind }: Resource): boolean => kind.group === '' && kind.plural === 'namespaces';

/** '': it is not generated yet. */
export const nameOf = ({ name, object }: AdmissionRequest): string => (name === '' ? (object.metadata.name ?? '') : name);

/** An object posted to a subresource (a Binding, an Eviction) has its own kind. */
export function kindOf({ object, resource, subresource }: AdmissionRequest): GroupVersionKind {
  if (isScale({ resource, subresource })) return { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  const { group, version, kind } = resource.kind;
  if (subresource === '' || object.kind === undefined || object.kind === kind) return { group, version, kind };
  const [ofVersion = '', ofGroup = ''] = (object.apiVersion ?? '').split('/').toReversed();
  return { group: ofGroup, version: ofVersion, kind: object.kind };
}

/** The objects in the version that a rule names; undefined: there is none. */
export interface VersionedObjects {
  readonly resource: Resource;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
}

export const objectOf = (request: AdmissionRequest): KubeObject | undefined => (request.operation === 'delete' ? undefined : request.object);

export function versionedObjects(request: AdmissionRequest, resource: Resource): VersionedObjects {
  const show = (object: KubeObject): KubeObject => scaleIn(request, object) ?? converted(object, request.resource, resource);
  const object = objectOf(request);
  return { resource, object: object === undefined ? undefined : show(object), old: request.old === undefined ? undefined : show(request.old) };
}

/** A write of the /scale subresource. */
export const isScale = ({ resource, subresource }: Pick<AdmissionRequest, 'resource' | 'subresource'>): boolean =>
  subresource === 'scale' && resource.kind.scale !== undefined;

function scaleIn({ resource, subresource }: AdmissionRequest, object: KubeObject): KubeObject | undefined {
  const { scale } = resource.kind;
  return scale === undefined || subresource !== 'scale' ? undefined : scaleOf(scale, object);
}

/** The object in another version. */
export function converted(object: KubeObject, from: Resource, to: Resource): KubeObject {
  if (from === to) return object;
  const stored = from.kind.storage.convert?.toStored(object) ?? object;
  return to.kind.storage.convert?.fromStored(stored) ?? stored;
}

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const userInfoOf = ({ name, uid = '', groups, extra = {} }: User): UserInfo => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(Object.keys(extra).length === 0 ? {} : { extra }),
});

/** `resource`: the one that the rule names, which may be another version of the requested one. */
export function requestAttributes(request: AdmissionRequest, resource: Resource) {
  const { operation, subresource, user, dryRun } = request;
  const requestKind = kindOf(request);
  const { group, version, plural } = request.resource.kind;
  const requestResource = { group, version, resource: plural };
  const same = resource === request.resource;
  const kind = same ? requestKind : { group: resource.kind.group, version: resource.kind.version, kind: resource.kind.kind };
  const [name, namespace] = [nameOf(request), namespaceOf(request)];
  return {
    kind,
    resource: same ? requestResource : { group: resource.kind.group, version: resource.kind.version, resource: resource.kind.plural },
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind,
    requestResource,
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation: operationOf[operation],
    userInfo: userInfoOf(user),
    dryRun,
    options: optionsOf(request),
  };
}

const optionKinds = { create: 'CreateOptions', update: 'UpdateOptions', delete: 'DeleteOptions' } as const;

/** A connection has none: its object is what was asked for. */
function optionsOf({ operation, dryRun, options = {} }: AdmissionRequest): Readonly<Record<string, unknown>> | null {
  if (operation === 'connect') return null;
  const { fieldManager = '', fieldValidation, gracePeriodSeconds, orphanDependents, propagationPolicy, preconditions } = options;
  const { uid, resourceVersion } = preconditions ?? { uid: undefined, resourceVersion: undefined };
  const known = {
    gracePeriodSeconds,
    preconditions: uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion },
    orphanDependents,
    propagationPolicy,
    dryRun: dryRun ? ['All'] : undefined,
    fieldManager: fieldManager === '' ? undefined : fieldManager,
    fieldValidation,
  };
  const given = Object.entries(known).filter(([, value]) => value !== undefined);
  return { kind: optionKinds[operation], apiVersion: 'meta.k8s.io/v1', ...Object.fromEntries(given) };
}
