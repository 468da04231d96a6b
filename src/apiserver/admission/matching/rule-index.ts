import type { Resource, Resources } from '../../objects/resources.ts';
import { type MatchAttributes, matchedResource, type MatchCriteria } from './rules.ts';

export interface RuleMatch<T> {
  readonly entry: T;
  /** As the entry's rules name it. */
  readonly resource: Resource;
}

/** Entries in the order in which they have a say. Which of them are about a kind of request is found out once, and then looked up. */
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

  matching(asked: MatchAttributes): readonly RuleMatch<T>[] {
    // Kinds that come and go at run time may be equivalent to others, and must not be kept.
    if (this.#generation !== this.#resources.generation) {
      this.#generation = this.#resources.generation;
      this.#matched.clear();
    }
    let ofResource = this.#matched.get(asked.resource);
    if (ofResource === undefined) {
      ofResource = new Map();
      this.#matched.set(asked.resource, ofResource);
    }
    const key = `${asked.operation} ${asked.subresource}`;
    let matched = ofResource.get(key);
    if (matched === undefined) {
      matched = this.#find(asked);
      ofResource.set(key, matched);
    }
    return matched;
  }

  #find(asked: MatchAttributes): readonly RuleMatch<T>[] {
    return this.#entries.flatMap((entry) => {
      const resource = matchedResource(entry, asked, this.#resources);
      return resource === undefined ? [] : [{ entry, resource }];
    });
  }
}
