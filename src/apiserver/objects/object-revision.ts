/**
 * One revision of one object, decoded at most once and never encoded twice. What is in the store is the object's JSON
 * without its resourceVersion, which is the revision that the store gave it: the wire form is those bytes with the
 * version spliced in right behind `"metadata":{`, where every stored object begins alike (`Resource.header`).
 */
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { deepEqual, deepFreeze } from '../../api/schema/index.ts';
import type { Entry } from '../../store/contract.ts';
import type { Splice, ObjectRevision } from '../api.ts';
import type { Resource } from './resources.ts';

export class StoredRevision implements ObjectRevision, Splice {
  readonly revision: number;
  readonly bytes: Uint8Array;
  readonly #resource: Resource;
  #object: Stored | undefined;
  #sealed = false;
  #views: Map<Resource, ObjectRevision> | undefined;

  /** `object`: what the bytes say, if somebody knows it already; it is not to be changed any more. Revision 0: none yet (dry run). */
  constructor(resource: Resource, bytes: Uint8Array, written: { readonly revision: number; readonly object?: KubeObject | undefined }) {
    this.#resource = resource;
    this.bytes = bytes;
    this.revision = written.revision;
    this.#object = written.object as Stored | undefined;
  }

  get object(): Stored {
    const object = (this.#object ??= JSON.parse(textOf(this.bytes)) as Stored);
    if (!this.#sealed) {
      this.#sealed = true;
      if (this.revision > 0) object.metadata.resourceVersion = String(this.revision);
      deepFreeze(object);
    }
    return object;
  }

  json(): Uint8Array {
    const { bytes, at } = this;
    if (this.revision === 0) return bytes;
    const version = `"resourceVersion":"${this.revision}",`;
    const spliced = Buffer.allocUnsafe(bytes.length + version.length);
    spliced.set(bytes.subarray(0, at), 0);
    spliced.write(version, at, 'latin1');
    spliced.set(bytes.subarray(at), at + version.length);
    return spliced;
  }

  get at(): number {
    return this.#resource.header.length;
  }

  get splice(): Splice | undefined {
    return this.revision === 0 ? undefined : this;
  }

  /** Nobody is likely to ask for this revision again: its bytes are enough to answer who does. */
  forget(): void {
    this.#object = undefined;
    this.#sealed = false;
    this.#views = undefined;
  }

  /** The same object as it was when somebody removed it: its last state, with the revision of its removal. */
  removedAt(revision: number): StoredRevision {
    const object = this.#object === undefined ? undefined : { ...this.#object, metadata: { ...this.#object.metadata } };
    return new StoredRevision(this.#resource, this.bytes, { revision, object });
  }

  /** The object as another kind shows it. */
  as(resource: Resource): ObjectRevision {
    if (resource === this.#resource) return this;
    this.#views ??= new Map();
    let view = this.#views.get(resource);
    if (view === undefined) {
      view = new ConvertedRevision(resource, this);
      this.#views.set(resource, view);
    }
    return view;
  }
}

class ConvertedRevision implements ObjectRevision {
  readonly revision: number;
  readonly #resource: Resource;
  readonly #stored: ObjectRevision;
  #object: Stored | undefined;
  #json: Uint8Array | undefined;

  constructor(resource: Resource, stored: ObjectRevision) {
    this.#resource = resource;
    this.#stored = stored;
    this.revision = stored.revision;
  }

  get object(): Stored {
    const convert = this.#resource.kind.storage.convert;
    return (this.#object ??= convert === undefined ? this.#stored.object : (deepFreeze(convert.fromStored(this.#stored.object)) as Stored));
  }

  json(): Uint8Array {
    return (this.#json ??= Buffer.from(JSON.stringify(this.object)));
  }
}

/** The memo of a write: the object that the bytes were made from, before the store gave it a revision. */
export class WrittenObject {
  readonly object: KubeObject;
  constructor(object: KubeObject) {
    this.object = object;
  }
}

/** An entry of the store as an object of a resource; made once per entry, and kept in its memo. */
export function revisionOf(resource: Resource, entry: Entry): ObjectRevision {
  const { memo } = entry;
  if (memo instanceof StoredRevision) return memo.as(resource);
  const object = memo instanceof WrittenObject ? memo.object : undefined;
  const stored = new StoredRevision(resource.base, entry.value, { revision: entry.modRevision, object });
  entry.memo = stored;
  return stored.as(resource);
}

/** A removed entry as watchers see it. */
export function removedRevisionOf(resource: Resource, last: Entry, revision: number): ObjectRevision {
  revisionOf(resource.base, last);
  return (last.memo as StoredRevision).removedAt(revision).as(resource);
}

const utf8 = new TextEncoder();

/** Frees what was decoded of an entry that has a successor. Whoever holds the object keeps it. */
export function forgetDecoded({ memo }: Entry): void {
  if (memo instanceof StoredRevision) memo.forget();
}

export interface EncodedObject {
  /** In the form of the resource it is stored as, and no longer to be changed. */
  readonly object: KubeObject;
  readonly bytes: Uint8Array;
}

/** What goes into the store for an object. Takes the object over: whoever made it must not touch it again. */
export function encode(resource: Resource, given: KubeObject): EncodedObject {
  const { base } = resource;
  const convert = resource.kind.storage.convert;
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = convert === undefined || resource === base ? given : convert.toStored(given);
  // Left out, not deleted: an object that lost a key is slow to print.
  const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...kept } = metadata;
  // Kind, version and metadata come first, in this order: `Resource.header` relies on it.
  const object: KubeObject = { kind: base.kind.kind, apiVersion: base.apiVersion, metadata: kept, ...rest };
  // In a buffer of their own: the store keeps them, and a slice would keep the whole pool that it comes from.
  return { object, bytes: utf8.encode(JSON.stringify(object)) };
}

/** Whether an object that was encoded says the same as one that is stored, but for the version. */
export function equalsRevision({ object }: EncodedObject, { object: stored }: ObjectRevision): boolean {
  const { resourceVersion: _, ...metadata } = stored.metadata;
  return deepEqual(object, { ...stored, metadata });
}

/** An object that is answered but was not stored: of a dry run. */
export function dryRunRevision(resource: Resource, encoded: EncodedObject, revision: number): ObjectRevision {
  return new StoredRevision(resource.base, encoded.bytes, { revision, object: encoded.object }).as(resource);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
