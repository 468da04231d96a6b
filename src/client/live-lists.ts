/** Lists from the server itself, for decisions that must not rely on a cache, which may be behind. */
import type { Kind } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Stored } from '../api/stored.ts';
import type { Client, Result, Selection } from './client.ts';

const pageSize = 500;

/** All objects of a kind, page by page. All pages are of one revision, which is no older than anything this process has seen. */
export async function listAll<T extends KubeObject>(client: Client, kind: Kind<T>, selection: Selection = {}): Promise<Result<readonly Stored<T>[]>> {
  const all: Stored<T>[] = [];
  for (let page: string | undefined; ; ) {
    const found = await client.list(kind, { ...selection, limit: pageSize, continue: page });
    if (!found.ok) return found;
    all.push(...found.value.items);
    page = found.value.metadata.continue;
    if (page === undefined || page === '') return { ok: true, value: all };
  }
}

/**
 * Lists that are shared by callers of about the same time: a thousand claims that are deleted together cost a few lists, not a
 * thousand. A caller gets a list that began after its call, never an older one.
 */
export class LiveLists<T extends KubeObject> {
  readonly #client: Client;
  readonly #kind: Kind<T>;
  readonly #waiting = new Map<string, Promise<Result<readonly Stored<T>[]>>>();
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(client: Client, kind: Kind<T>) {
    this.#client = client;
    this.#kind = kind;
  }

  /** All objects of the kind in a namespace; '': of a cluster-scoped kind, or in all namespaces. */
  in(namespace: string): Promise<Result<readonly Stored<T>[]>> {
    const joined = this.#waiting.get(namespace);
    if (joined !== undefined) return joined;
    const next = this.#afterRunning(namespace);
    this.#waiting.set(namespace, next);
    return next;
  }

  async #afterRunning(namespace: string): Promise<Result<readonly Stored<T>[]>> {
    await this.#running.get(namespace);
    this.#waiting.delete(namespace);
    const list = listAll(this.#client, this.#kind, namespace === '' ? {} : { namespace });
    this.#running.set(namespace, list);
    const result = await list;
    if (this.#running.get(namespace) === list) this.#running.delete(namespace);
    return result;
  }
}
