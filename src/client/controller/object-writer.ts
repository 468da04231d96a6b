import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { type Client, refOf } from '../client.ts';
import type { ObjectWrite } from '../decision.ts';
import { type Outcome, outcomeOf } from './loop.ts';
import type { Result } from '../result.ts';

/**
 * Performs the writes of decisions, each compared and swapped on the resourceVersion that its decision read.
 *
 * A decision may write one object twice (its spec, then its status), and both writes carry the resourceVersion from before
 * the first. What the same list made of that version is no conflict; what another writer made of it is, and that includes
 * another list of the same controller:
 *
 *     decided at 7:  update b from a@7, then updateStatus c from b
 *     update b        → the server has @9
 *     updateStatus c  → sent as @9: fails if the object is at @10 meanwhile
 */
export class ObjectWriter {
  readonly #client: Client;
  readonly #kinds: ReadonlyMap<string, Kind>;
  /** Written objects, and the resourceVersions that they got. */
  readonly #written = new WeakMap<KubeObject, string>();

  constructor(client: Client, kinds: readonly Kind[]) {
    this.#client = client;
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]));
  }

  async perform(write: ObjectWrite): Promise<Outcome> {
    return outcomeOf(await this.attempt(write));
  }

  /** The same, with the server's answer. Deleting an object that is gone already succeeds. */
  async attempt(write: ObjectWrite): Promise<Result<KubeObject | undefined>> {
    const { object } = write;
    const kind = this.#kinds.get(object.kind);
    if (kind === undefined) throw new Error(`the writer has no kind ${object.kind}`);
    switch (write.do) {
      case 'create':
        return this.#client.create(kind, object);
      case 'update':
        return this.#remember(object, await this.#client.update(kind, this.#current(write)));
      case 'updateStatus':
        return this.#remember(object, await this.#client.updateStatus(kind, this.#current(write)));
      case 'delete':
        return this.#delete(kind, object, write.ifUnchanged === true);
    }
  }

  #current({ object, from }: { readonly object: KubeObject; readonly from: KubeObject }): KubeObject {
    const resourceVersion = this.#written.get(from);
    return resourceVersion === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion } };
  }

  #remember(object: KubeObject, result: Result<Stored>): Result<Stored> {
    if (result.ok) this.#written.set(object, result.value.metadata.resourceVersion);
    return result;
  }

  async #delete(kind: Kind, object: KubeObject, ifUnchanged: boolean): Promise<Result<undefined>> {
    const { uid, resourceVersion } = object.metadata;
    const version = ifUnchanged && resourceVersion !== undefined ? { resourceVersion } : {};
    const result = await this.#client.delete(kind, refOf(object), uid === undefined ? {} : { preconditions: { uid, ...version } });
    return result.ok || result.reason === 'notFound' ? { ok: true, value: undefined } : result;
  }
}
