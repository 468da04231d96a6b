import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { MetadataRules } from '../../api/validation/metadata.ts';
import { metadataRulesOf } from '../../api/validation/strategy.ts';
import type { Cancel } from '../../world/world.ts';

/** A served kind, with its derived facts computed once. */
export interface Resource {
  readonly kind: Kind;
  readonly apiVersion: string;
  /** The prefix of its keys: '/registry/pods/', '/registry/apps/deployments/'. */
  readonly prefix: string;
  /** The first bytes of every stored object: `{"kind":"Pod","apiVersion":"v1","metadata":{`. */
  readonly header: string;
  readonly metadataRules: MetadataRules;
  /** The resource in whose version the objects are stored: itself, unless it is another version of the same objects (events). */
  readonly base: Resource;
}

const ROOT = '/registry/';

export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  resource.kind.namespaced ? `${resource.prefix}${namespace}/${name}` : `${resource.prefix}${name}`;

/** The prefix that a list or a watch of a namespace ('': of all) reads. */
export const prefixOf = (resource: Resource, namespace: string): string =>
  resource.kind.namespaced && namespace !== '' ? `${resource.prefix}${namespace}/` : resource.prefix;

/** The served kinds, by path and by apiVersion and kind. */
export class Resources {
  readonly #byPath = new Map<string, Resource>();
  readonly #byKind = new Map<string, Resource>();
  readonly #versions = new Map<string, number>();
  readonly #defined = new Map<string, readonly Resource[]>();
  readonly #whenRedefined = new Map<string, Set<() => void>>();
  #generation = 0;

  constructor(kinds: readonly Kind[]) {
    const bases = new Map<string, Resource>();
    for (const kind of kinds) {
      if (kind.storage.convert !== undefined) continue;
      const resource = describe(kind);
      bases.set(kind.storage.resource, resource);
      this.#add(resource);
    }
    for (const kind of kinds) {
      if (kind.storage.convert === undefined) continue;
      const base = bases.get(kind.storage.resource);
      if (base === undefined) throw new Error(`no kind stores ${kind.storage.resource}, which ${kind.kind} is a view of`);
      this.#add({ ...describe(kind), base });
    }
  }

  #add(resource: Resource): void {
    this.#byPath.set(`${resource.apiVersion}/${resource.kind.plural}`, resource);
    this.#byKind.set(`${resource.apiVersion}/${resource.kind.kind}`, resource);
    this.#versions.set(resource.apiVersion, (this.#versions.get(resource.apiVersion) ?? 0) + 1);
  }

  #drop(resource: Resource): void {
    this.#byPath.delete(`${resource.apiVersion}/${resource.kind.plural}`);
    this.#byKind.delete(`${resource.apiVersion}/${resource.kind.kind}`);
    const left = (this.#versions.get(resource.apiVersion) ?? 0) - 1;
    if (left > 0) this.#versions.set(resource.apiVersion, left);
    else this.#versions.delete(resource.apiVersion);
  }

  /** Grows with every change of what is served. */
  get generation(): number {
    return this.#generation;
  }

  /** Serves the kinds of the CustomResourceDefinition of this name instead of its earlier ones; undefined: no longer. */
  define(name: string, kinds: { readonly base: Kind; readonly served: readonly Kind[] } | undefined): void {
    for (const resource of this.#defined.get(name) ?? []) this.#drop(resource);
    this.#defined.delete(name);
    this.#generation++;
    if (kinds === undefined) return;
    const base = describe(kinds.base);
    const resources = kinds.served.map((kind): Resource => ({ ...describe(kind), base }));
    this.#defined.set(name, resources);
    for (const resource of resources) this.#add(resource);
  }

  /** Calls once the definition of a resource changes or goes. */
  whenRedefined({ prefix }: Resource, call: () => void): Cancel {
    const calls = this.#whenRedefined.get(prefix) ?? new Set();
    this.#whenRedefined.set(prefix, calls.add(call));
    return () => {
      calls.delete(call);
      if (calls.size === 0 && this.#whenRedefined.get(prefix) === calls) this.#whenRedefined.delete(prefix);
    };
  }

  /** The definition of this name changed: watches of its objects must end. */
  redefined(name: string): void {
    const [resource] = this.#defined.get(name) ?? [];
    if (resource === undefined) return;
    const calls = this.#whenRedefined.get(resource.prefix);
    this.#whenRedefined.delete(resource.prefix);
    for (const call of calls ?? []) call();
  }

  /** `apiVersion`: 'v1', 'apps/v1'. */
  find(apiVersion: string, plural: string): Resource | undefined {
    return this.#byPath.get(`${apiVersion}/${plural}`);
  }

  findKind(apiVersion: string, kind: string): Resource | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** A kind that every server has. */
  require(apiVersion: string, plural: string): Resource {
    const found = this.find(apiVersion, plural);
    if (found === undefined) throw new Error(`the kind of ${apiVersion}/${plural} is not served`);
    return found;
  }

  serves(apiVersion: string): boolean {
    return this.#versions.has(apiVersion);
  }

  all(): IterableIterator<Resource> {
    return this.#byPath.values();
  }
}

function describe(kind: Kind): Resource {
  const apiVersion = apiVersionOf(kind);
  const described: Omit<Resource, 'base'> & { base?: Resource } = {
    kind,
    apiVersion,
    prefix: `${ROOT}${kind.storage.resource}/`,
    metadataRules: metadataRulesOf(kind),
    header: `{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`,
  };
  return Object.assign(described, { base: described as Resource });
}
