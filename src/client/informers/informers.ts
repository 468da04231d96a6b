import { type Kind, qualifiedResource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { World } from '../../world/world.ts';
import type { Cache } from './cache.ts';
import type { Client, Selection, WriteObserver } from '../client.ts';
import { Informer } from './informer.ts';

export interface InformersOptions {
  readonly client: Client;
  readonly world: World;
  readonly pageSize?: number;
  /** Which objects of a resource (`pods`, `jobs.batch`) the client may read; undefined: all. */
  readonly selectionOf?: (resource: string) => Selection | undefined;
}

/** The informers of one process: one for each kind that a controller needs, shared by all controllers. */
export class Informers {
  readonly #options: InformersOptions;
  readonly #informers = new Map<string, Informer<KubeObject>>();
  #started = false;

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /** The cache of a kind; it fills once the informers are started. */
  cache<T extends KubeObject>(kind: Kind<T>): Cache<T> {
    const name = qualifiedResource(kind);
    const known = this.#informers.get(name);
    // Filled from this kind's path alone: its objects are of this kind.
    if (known !== undefined) return known.cache as unknown as Cache<T>;
    const { selectionOf, ...options } = this.#options;
    const selection = selectionOf?.(name);
    const informer = new Informer<T>({ ...options, kind, ...(selection === undefined ? {} : { selection }) });
    this.#informers.set(name, informer as unknown as Informer<KubeObject>);
    if (this.#started) informer.start();
    return informer.cache;
  }

  start(): void {
    this.#started = true;
    for (const informer of this.#informers.values()) informer.start();
  }

  /** Resolves once every cache asked for so far holds what existed when its informer started. */
  async synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced()));
  }

  /** For a kind that is no longer served: its objects are reported as deleted, and `cache` makes a new cache for it. */
  drop(kind: Kind): void {
    const informer = this.#informers.get(qualifiedResource(kind));
    this.#informers.delete(qualifiedResource(kind));
    informer?.stop();
    informer?.cache.clear();
  }

  stop(): void {
    for (const informer of this.#informers.values()) informer.stop();
  }

  /** For every client of this process that writes. */
  get observer(): WriteObserver {
    return {
      written: (kind, object) => this.#informers.get(qualifiedResource(kind))?.cache.written(object),
      removed: (kind, gone) => this.#informers.get(qualifiedResource(kind))?.cache.removed(gone),
    };
  }
}
