import type { Kind } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Client } from './client.ts';
import { type Outcome, outcomeOf } from './loop.ts';
import { RecentMap } from './recent-map.ts';
import type { Result } from './result.ts';

/** One write of one object, as a decision asks for it. */
export interface ObjectWrite {
  readonly do: 'create' | 'update' | 'updateStatus' | 'delete';
  readonly object: KubeObject;
}

/**
 * Does the writes of decisions, each compared and swapped on the resourceVersion that its decision saw.
 *
 * A decision may write one object twice (its spec, then its status), and both writes carry the resourceVersion from before
 * the first. What the writer itself made of that version is no conflict; what anybody else made of it is:
 *
 *     decided at 7:  update a@7, then updateStatus a@7
 *     update a@7        → the server has a@9
 *     updateStatus a@7  → sent as a@9: fails if somebody wrote a@10 meanwhile
 */
export class ObjectWriter {
  readonly #client: Client;
  readonly #kinds: ReadonlyMap<string, Kind>;
  /** 'uid@before' → the resourceVersion that our own write left. */
  readonly #own = new RecentMap<string, string>(rememberedWrites);

  constructor(client: Client, kinds: readonly Kind[]) {
    this.#client = client;
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]));
  }

  async perform(write: ObjectWrite): Promise<Outcome> {
    return outcomeOf(await this.attempt(write));
  }

  /** The same, for those who have to know what came of it. Deleting what is gone already succeeds. */
  async attempt({ do: what, object }: ObjectWrite): Promise<Result<KubeObject | undefined>> {
    const kind = this.#kinds.get(object.kind);
    if (kind === undefined) throw new Error(`nobody said how to write a ${object.kind}`);
    switch (what) {
      case 'create':
        return this.#client.create(kind, object);
      case 'update':
        return this.#update(object, (current) => this.#client.update(kind, current));
      case 'updateStatus':
        return this.#update(object, (current) => this.#client.updateStatus(kind, current));
      case 'delete':
        return this.#delete(kind, object);
    }
  }

  async #update(object: KubeObject, send: (object: KubeObject) => Promise<Result<KubeObject>>): Promise<Result<KubeObject>> {
    const { uid = '', resourceVersion = '' } = object.metadata;
    const seen = `${uid}@${resourceVersion}`;
    const own = this.#own.get(seen);
    const result = await send(own === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion: own } });
    if (result.ok) this.#own.set(seen, result.value.metadata.resourceVersion ?? '');
    return result;
  }

  async #delete(kind: Kind, { metadata }: KubeObject): Promise<Result<undefined>> {
    const { namespace, name = '', uid } = metadata;
    const result = await this.#client.delete(kind, { namespace, name }, uid === undefined ? {} : { preconditions: { uid } });
    return result.ok || result.reason === 'notFound' ? { ok: true, value: undefined } : result;
  }
}

/** A list is done in a moment; nobody comes back to a version that was seen a thousand writes ago. */
const rememberedWrites = 1000;
