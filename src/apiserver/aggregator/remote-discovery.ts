import type { DiscoveredResource, DiscoveredSubresource, DiscoveredVersion } from '../discovery/resources.ts';

const maxResources = 1_000;

interface ListedResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly storageVersionHash: string;
}

/** The resources that an APIResourceList of another server lists. What is none, or is not well-formed, is left out. */
export function discoveredVersion({ group, version }: Pick<DiscoveredVersion, 'group' | 'version'>, body: Uint8Array): DiscoveredVersion {
  const listed = listedResources(body);
  const resources = listed
    .filter(({ name }) => !name.includes('/'))
    .map((resource): DiscoveredResource => {
      const { name, singularName: singular, namespaced, kind, verbs, shortNames, categories, storageVersionHash } = resource;
      const subresources = listed.filter((other) => other.name.startsWith(`${name}/`)).map((other) => subresourceOf(other, name));
      return { name, singular, namespaced, kind, verbs, shortNames, categories, storageVersionHash, subresources };
    });
  return { group, version, resources };
}

const subresourceOf = ({ name, kind, group, version, verbs }: ListedResource, resource: string): DiscoveredSubresource => ({
  name: name.slice(resource.length + 1),
  kind,
  ...(group === '' ? {} : { group }),
  ...(version === '' ? {} : { version }),
  verbs,
});

function listedResources(body: Uint8Array): ListedResource[] {
  const { resources } = parsedObject(body);
  return Array.isArray(resources) ? resources.slice(0, maxResources).flatMap(listedResource) : [];
}

function parsedObject(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function listedResource(value: unknown): ListedResource[] {
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Readonly<Record<string, unknown>>;
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  const texts = (name: string): string[] => (Array.isArray(fields[name]) ? fields[name].filter((each) => typeof each === 'string') : []);
  if (text('name') === '' || text('kind') === '') return [];
  return [
    {
      name: text('name'),
      singularName: text('singularName'),
      namespaced: fields['namespaced'] === true,
      kind: text('kind'),
      group: text('group'),
      version: text('version'),
      verbs: texts('verbs'),
      shortNames: texts('shortNames'),
      categories: texts('categories'),
      storageVersionHash: text('storageVersionHash'),
    },
  ];
}
