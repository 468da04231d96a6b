import type { DiscoveredResource, DiscoveredSubresource, DiscoveredVersion } from './resources.ts';

/** The documents of discovery, as plain data in the order in which Kubernetes prints their fields. */

/** Its kind is the name of its type, too; some have never had an apiVersion. */
export interface DiscoveryDocument {
  readonly kind: string;
  readonly apiVersion?: string;
  readonly [field: string]: unknown;
}

const groupVersionOf = ({ group, version }: Pick<DiscoveredVersion, 'group' | 'version'>): string => (group === '' ? version : `${group}/${version}`);

/** /api */
export const apiVersions = (serverAddress: string): DiscoveryDocument => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
});

interface ApiGroup {
  readonly name: string;
  readonly versions: readonly object[];
  readonly preferredVersion: object | undefined;
}

/** Named groups, each with all of its versions. */
export function apiGroups(versions: readonly DiscoveredVersion[]): readonly ApiGroup[] {
  const names = [...new Set(versions.map(({ group }) => group))].filter((name) => name !== '');
  return names.map((name) => {
    const listed = versions.filter(({ group }) => group === name).map((each) => ({ groupVersion: groupVersionOf(each), version: each.version }));
    return { name, versions: listed, preferredVersion: listed[0] };
  });
}

/** /apis */
export const apiGroupList = (versions: readonly DiscoveredVersion[]): DiscoveryDocument => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: apiGroups(versions),
});

/** /apis/apps */
export function apiGroup(versions: readonly DiscoveredVersion[], name: string): DiscoveryDocument | undefined {
  const group = apiGroups(versions).find((each) => each.name === name);
  return group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...group };
}

/** /api/v1, /apis/apps/v1. The core group's has never had an apiVersion. */
export function apiResourceList(version: DiscoveredVersion): DiscoveryDocument {
  const head = version.group === '' ? { kind: 'APIResourceList' } : { kind: 'APIResourceList', apiVersion: 'v1' };
  return { ...head, groupVersion: groupVersionOf(version), resources: version.resources.flatMap(legacyResources) };
}

function legacyResources(resource: DiscoveredResource): readonly object[] {
  const { name, singular, namespaced, kind, verbs, shortNames, categories, storageVersionHash } = resource;
  const main = {
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(storageVersionHash === '' ? {} : { storageVersionHash }),
  };
  return [main, ...resource.subresources.map((subresource) => legacySubresource(resource, subresource))];
}

const legacySubresource = (resource: DiscoveredResource, { name, kind, group, version, verbs }: DiscoveredSubresource): object => ({
  name: `${resource.name}/${name}`,
  singularName: '',
  namespaced: resource.namespaced,
  ...(group === undefined ? {} : { group }),
  ...(version === undefined ? {} : { version }),
  kind,
  verbs,
});

/** /api and /apis at once, for clients that ask for it: all groups, versions and resources in one answer. */
export function aggregated(versions: readonly DiscoveredVersion[], apiVersion: string): object {
  const names = [...new Set(versions.map(({ group }) => group))];
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: names.map((name) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.filter(({ group }) => group === name).map(aggregatedVersion),
    })),
  };
}

const aggregatedVersion = ({ version, resources }: DiscoveredVersion): object => ({
  version,
  resources: resources.map(aggregatedResource),
  freshness: 'Current',
});

function aggregatedResource(resource: DiscoveredResource): object {
  const { name, singular, namespaced, kind, verbs, shortNames, categories, subresources } = resource;
  return {
    resource: name,
    responseKind: { group: '', version: '', kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources: subresources.map(aggregatedSubresource) }),
  };
}

const aggregatedSubresource = ({ name, kind, group = '', version = '', verbs }: DiscoveredSubresource): object => ({
  subresource: name,
  responseKind: { group, version, kind },
  verbs,
});
