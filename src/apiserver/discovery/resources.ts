import { apiVersionOf, type Kind, specParts } from '../../api/kind.ts';
import { explanationKind } from '../../api/kinds/mooring/explanation.ts';
import { volumeBindingKind } from '../../api/kinds/mooring/volume-binding.ts';
import { rbacGroup } from '../../api/kinds/rbac/policy-rules.ts';
import { type ReviewKind, reviewKinds } from '../../api/kinds/authorization/reviews.ts';
import { shortSha256 } from './hash.ts';

/** A resource or subresource as discovery shows it. */
export interface DiscoveredResource {
  /** 'pods' */
  readonly name: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Tells clients whether two resources are the same objects. */
  readonly storageVersionHash: string;
  readonly subresources: readonly DiscoveredSubresource[];
}

export interface DiscoveredSubresource {
  /** 'status' */
  readonly name: string;
  /** What it takes and answers; group and version only where they are not the resource's own. */
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** All resources of one version of one group. */
export interface DiscoveredVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly DiscoveredResource[];
}

const readAndWrite = ['get', 'patch', 'update'];
const proxyVerbs = ['create', 'delete', 'get', 'patch', 'update'];

/** Subresources beyond status and scale, which follow from the kind itself. */
const furtherSubresources: Readonly<Record<string, readonly DiscoveredSubresource[]>> = {
  'v1/namespaces': [{ name: 'finalize', kind: 'Namespace', verbs: ['update'] }],
  'v1/pods': [
    { name: 'attach', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
    { name: 'binding', kind: 'Binding', verbs: ['create'] },
    { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
    { name: 'log', kind: 'Pod', verbs: ['get'] },
    { name: 'portforward', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
    { name: 'proxy', kind: 'PodProxyOptions', verbs: proxyVerbs },
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
  ],
  'v1/nodes': [{ name: 'proxy', kind: 'NodeProxyOptions', verbs: proxyVerbs }],
  'v1/services': [{ name: 'proxy', kind: 'ServiceProxyOptions', verbs: proxyVerbs }],
  'v1/serviceaccounts': [{ name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] }],
};

/** Resources that are no stored kind. */
const furtherResources: Readonly<Record<string, readonly DiscoveredResource[]>> = {
  v1: [
    {
      name: 'bindings',
      singular: 'binding',
      namespaced: true,
      kind: 'Binding',
      verbs: ['create'],
      shortNames: [],
      categories: [],
      storageVersionHash: '',
      subresources: [],
    },
  ],
  'mooring.dev/v1': [
    {
      name: explanationKind.plural,
      singular: explanationKind.singular,
      namespaced: explanationKind.namespaced,
      kind: explanationKind.kind,
      verbs: ['get', 'list'],
      shortNames: ['why'],
      categories: [],
      storageVersionHash: '',
      subresources: [],
    },
    {
      name: volumeBindingKind.plural,
      singular: 'volumebinding',
      namespaced: false,
      kind: volumeBindingKind.kind,
      verbs: ['create'],
      shortNames: [],
      categories: [],
      storageVersionHash: '',
      subresources: [],
    },
  ],
};

/** Groups in the order in which Kubernetes lists, and clients therefore prefer, them; unknown ones follow by name. */
const groupOrder: readonly string[] = [
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

/** The kinds served, by group and version, in discovery's order. */
export function discover(kinds: readonly Kind[]): readonly DiscoveredVersion[] {
  const versions = new Map<string, { group: string; version: string; resources: DiscoveredResource[] }>();
  const ofVersion = ({ group, version }: Pick<Kind, 'group' | 'version'>) => {
    const key = apiVersionOf({ group, version });
    const found = versions.get(key) ?? { group, version, resources: [...(furtherResources[key] ?? [])] };
    versions.set(key, found);
    return found;
  };
  for (const kind of kinds) ofVersion(kind).resources.push(describe(kind, kinds));
  // Where there are roles, one can ask what follows from them.
  if (kinds.some(({ group }) => group === rbacGroup)) {
    for (const review of Object.values(reviewKinds)) ofVersion(review).resources.push(describeReview(review));
  }
  for (const { resources } of versions.values()) resources.sort((a, b) => compare(a.name, b.name));
  return [...versions.values()].sort((a, b) => rank(a.group) - rank(b.group) || compare(a.group, b.group));
}

function rank(group: string): number {
  if (group === '') return -1;
  const at = groupOrder.indexOf(group);
  return at < 0 ? groupOrder.length : at;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function describe(kind: Kind, kinds: readonly Kind[]): DiscoveredResource {
  const stored = kinds.find((other) => other.storage.resource === kind.storage.resource && other.storage.convert === undefined) ?? kind;
  return {
    name: kind.plural,
    singular: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: [...kind.verbs].sort(),
    shortNames: kind.shortNames,
    categories: kind.categories,
    storageVersionHash: shortSha256(`${stored.group}/${stored.version}/${stored.kind}`),
    subresources: subresourcesOf(kind),
  };
}

const describeReview = ({ kind, plural, namespaced }: ReviewKind): DiscoveredResource => ({
  name: plural,
  singular: kind.toLowerCase(),
  namespaced,
  kind,
  verbs: ['create'],
  shortNames: [],
  categories: [],
  storageVersionHash: '',
  subresources: [],
});

function subresourcesOf(kind: Kind): readonly DiscoveredSubresource[] {
  const found: DiscoveredSubresource[] = [...(furtherSubresources[`${apiVersionOf(kind)}/${kind.plural}`] ?? [])];
  if (kind.status !== undefined) found.push({ name: 'status', kind: kind.kind, verbs: readAndWrite });
  if (kind.approval !== undefined) found.push({ name: 'approval', kind: kind.kind, verbs: readAndWrite });
  if (kind.parts !== undefined) found.push(...specParts.map((name) => ({ name, kind: kind.kind, verbs: readAndWrite })));
  if (kind.scale !== undefined) found.push({ name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: readAndWrite });
  return found.sort((a, b) => compare(a.name, b.name));
}
