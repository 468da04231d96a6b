import { apiVersionOf, rootOf, type ServedResource, type ServedSubresource, type ServedVersion } from './served.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** The `x-kubernetes-action`. */
export type Action = 'list' | 'get' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection';

/** An operation, independent of the OpenAPI version. */
export interface Operation {
  readonly path: string;
  readonly method: Method;
  readonly id: string;
  readonly action: Action;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Every operation on the resources of a version, in the order of paths. */
export function operationsOf(served: ServedVersion): Operation[] {
  return served.resources.flatMap((resource) => [
    ...collectionOperations(served, resource),
    ...objectOperations(served, resource),
    ...resource.subresources.flatMap((subresource) => subresourceOperations(served, resource, subresource)),
  ]);
}

/** The version in the tags and ids of operations: 'RbacAuthorizationV1'. */
export function idPrefix({ group, version }: Pick<ServedVersion, 'group' | 'version'>): string {
  const words = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.');
  return [...words, version].map(capitalized).join('');
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** A verb on a collection and on one object. */
const onCollection: readonly (readonly [verb: string, method: Method, action: Action, word: string])[] = [
  ['list', 'get', 'list', 'list'],
  ['create', 'post', 'post', 'create'],
  ['deletecollection', 'delete', 'deletecollection', 'delete'],
];
const onObject: readonly (readonly [verb: string, method: Method, action: Action, word: string])[] = [
  ['get', 'get', 'get', 'read'],
  ['update', 'put', 'put', 'replace'],
  ['patch', 'patch', 'patch', 'patch'],
  ['delete', 'delete', 'delete', 'delete'],
  ['create', 'post', 'post', 'create'],
];

function collectionOperations(served: ServedVersion, resource: ServedResource): Operation[] {
  const base = { group: served.group, version: served.version, kind: resource.kind };
  const scope = resource.namespaced ? 'Namespaced' : '';
  const operations = onCollection
    .filter(([verb]) => resource.verbs.includes(verb))
    .map(([, method, action, word]): Operation => {
      const collection = action === 'deletecollection' ? 'Collection' : '';
      return { ...base, path: collectionPath(served, resource), method, action, id: `${word}${idPrefix(served)}${collection}${scope}${resource.kind}` };
    });
  if (!resource.namespaced || !resource.verbs.includes('list')) return operations;
  const everywhere: Operation = {
    ...base,
    path: `${rootOf(served)}/${resource.name}`,
    method: 'get',
    action: 'list',
    id: `list${idPrefix(served)}${resource.kind}ForAllNamespaces`,
  };
  return [everywhere, ...operations];
}

function objectOperations(served: ServedVersion, resource: ServedResource): Operation[] {
  const scope = resource.namespaced ? 'Namespaced' : '';
  return onObject
    .filter(([verb]) => verb !== 'create' && resource.verbs.includes(verb))
    .map(([, method, action, word]) => ({
      group: served.group,
      version: served.version,
      kind: resource.kind,
      path: `${collectionPath(served, resource)}/{name}`,
      method,
      action,
      id: `${word}${idPrefix(served)}${scope}${resource.kind}`,
    }));
}

function subresourceOperations(served: ServedVersion, resource: ServedResource, subresource: ServedSubresource): Operation[] {
  const scope = resource.namespaced ? 'Namespaced' : '';
  return onObject
    .filter(([verb]) => subresource.verbs.includes(verb))
    .map(([, method, action, word]) => ({
      group: subresource.group ?? served.group,
      version: subresource.version ?? served.version,
      kind: subresource.kind,
      path: `${collectionPath(served, resource)}/{name}/${subresource.name}`,
      method,
      action,
      id: `${word}${idPrefix(served)}${scope}${resource.kind}${capitalized(subresource.name)}`,
    }));
}

function collectionPath(served: ServedVersion, resource: ServedResource): string {
  return `${rootOf(served)}${resource.namespaced ? '/namespaces/{namespace}' : ''}/${resource.name}`;
}

/** 'apps_v1' */
export const tagOf = (served: Pick<ServedVersion, 'group' | 'version'>): string =>
  served.group === ''
    ? `core_${served.version}`
    : apiVersionOf(served)
        .replace(/\.k8s\.io/, '')
        .replaceAll('.', '')
        .replace('/', '_');
