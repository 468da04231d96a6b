/**
 * One revision of one object, decoded at most once and never encoded twice. The store holds the object's JSON
 * without its resourceVersion, which is the revision that the store assigns. The wire form is those bytes with the
 * version spliced in right behind `"metadata":{`; all objects of a resource begin with the same bytes (`Resource.header`).
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

  /** `object`: the decoded bytes, if the caller has them; it must not change any more. Revision 0: a dry run. */
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

  get isDecoded(): boolean {
    return this.#object !== undefined;
  }

  /** Drops the decoded object. A later reader of this revision decodes it again. */
  forget(): void {
    this.#object = undefined;
    this.#sealed = false;
    this.#views = undefined;
  }

  /** The last state of a removed object, with the revision of its removal. */
  removedAt(revision: number): StoredRevision {
    const object = this.#object === undefined ? undefined : { ...this.#object, metadata: { ...this.#object.metadata } };
    return new StoredRevision(this.#resource, this.bytes, { revision, object });
  }

  /** The object in the version of another resource. */
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

/** The object of an entry, in the version of a resource. Made once per entry and kept in its memo. */
export function revisionOf(resource: Resource, entry: Entry): ObjectRevision {
  const { memo } = entry;
  if (memo instanceof StoredRevision) return memo.as(resource);
  const object = memo instanceof WrittenObject ? memo.object : undefined;
  const stored = new StoredRevision(resource.base, entry.value, { revision: entry.modRevision, object });
  entry.memo = stored;
  return stored.as(resource);
}

/** The last state of a removed entry, for watchers. */
export function removedRevisionOf(resource: Resource, last: Entry, revision: number): ObjectRevision {
  revisionOf(resource.base, last);
  return (last.memo as StoredRevision).removedAt(revision).as(resource);
}

const utf8 = new TextEncoder();

/** Frees the decoded object of an entry that has a successor, or that is rarely read. Callers that hold the object keep it. */
export function forgetDecoded({ memo }: Entry): void {
  if (memo instanceof StoredRevision) memo.forget();
}

export const isDecoded = ({ memo }: Entry): boolean => memo instanceof WrittenObject || (memo instanceof StoredRevision && memo.isDecoded);

export interface EncodedObject {
  /** In its storage version, frozen from now on. */
  readonly object: KubeObject;
  readonly bytes: Uint8Array;
}

/** The bytes that are stored for an object. Takes the object over: the caller must not change it again. */
export function encode(resource: Resource, given: KubeObject): EncodedObject {
  const { base } = resource;
  const convert = resource.kind.storage.convert;
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = convert === undefined || resource === base ? given : convert.toStored(given);
  // Left out, not deleted: V8 serializes an object slowly after a delete.
  const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...kept } = metadata;
  // Kind, version and metadata come first, in this order: `Resource.header` relies on it.
  const object: KubeObject = { kind: base.kind.kind, apiVersion: base.apiVersion, metadata: kept, ...rest };
  // In a buffer of its own: the store keeps the bytes, and a slice would keep the whole pool.
  return { object, bytes: utf8.encode(JSON.stringify(object)) };
}

/** Whether an encoded object equals a stored one, apart from the resourceVersion. */
export function equalsRevision({ object }: EncodedObject, { object: stored }: ObjectRevision): boolean {
  const { resourceVersion: _, ...metadata } = stored.metadata;
  return deepEqual(object, { ...stored, metadata });
}

/** The object that a dry run answers with. */
export function dryRunRevision(resource: Resource, encoded: EncodedObject, revision: number): ObjectRevision {
  return new StoredRevision(resource.base, encoded.bytes, { revision, object: encoded.object }).as(resource);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
