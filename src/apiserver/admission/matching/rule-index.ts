import type { Resource, Resources } from '../../objects/resources.ts';
import { type MatchAttributes, matchedResource, type MatchCriteria } from './rules.ts';

export interface RuleMatch<T> {
  readonly entry: T;
  /** In the version that the entry's rules name. */
  readonly resource: Resource;
}

/** Webhooks or policies in their order, indexed by operation, resource and subresource on the first request of each combination. */
export class RuleIndex<T extends MatchCriteria> {
  readonly #resources: Resources;
  #entries: readonly T[] = [];
  #matched = new Map<Resource, Map<string, readonly RuleMatch<T>[]>>();
  #generation = -1;

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  replace(entries: readonly T[]): void {
    this.#entries = entries;
    this.#matched.clear();
  }

  matching(attributes: MatchAttributes): readonly RuleMatch<T>[] {
    // Custom kinds come and go, and may be equivalent to others.
    if (this.#generation !== this.#resources.generation) {
      this.#generation = this.#resources.generation;
      this.#matched.clear();
    }
    let ofResource = this.#matched.get(attributes.resource);
    if (ofResource === undefined) {
      ofResource = new Map();
      this.#matched.set(attributes.resource, ofResource);
    }
    const key = `${attributes.operation} ${attributes.subresource}`;
    let matched = ofResource.get(key);
    if (matched === undefined) {
      matched = this.#find(attributes);
      ofResource.set(key, matched);
    }
    return matched;
  }

  #find(attributes: MatchAttributes): readonly RuleMatch<T>[] {
    return this.#entries.flatMap((entry) => {
      const resource = matchedResource(entry, attributes, this.#resources);
      return resource === undefined ? [] : [{ entry, resource }];
    });
  }
}
