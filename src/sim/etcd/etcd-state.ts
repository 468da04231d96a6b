import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type Compare,
  Compare_CompareTarget,
  Event_EventType,
  type KeyValueSchema,
  type RangeRequest,
  type RequestOp,
  type TxnRequest,
} from '../../grpc/generated/etcd.ts';
import { RpcError } from '../../grpc/status.ts';

/** One revision of one key. Keys are bytes, one character each, so that they sort as bytes do. */
export interface StoredVersion {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
  /** Writes since the creation; 0: deleted. */
  readonly version: number;
}

export const keyText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** A range of keys, as etcd's requests name it. */
export interface KeyRange {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
}

export type OperationResult =
  | { readonly type: 'put' }
  | { readonly type: 'delete'; readonly deleted: number }
  | { readonly type: 'range'; readonly versions: readonly StoredVersion[] };

/** What etcd's members agree on: every revision since the first. */
export class EtcdState {
  /** Revision `i + 2` is at `#log[i]`. */
  readonly #log: (readonly StoredVersion[])[] = [];
  /** At the newest revision: most questions are about that one. */
  #newest = new Map<string, StoredVersion>();
  compacted = 0;

  get revision(): number {
    return this.#log.length + 1;
  }

  /** The writes of one revision. */
  at(revision: number): readonly StoredVersion[] {
    return this.#log[revision - 2] ?? [];
  }

  /** What a version replaced; undefined: nothing, or it is compacted. */
  before({ key, modRevision }: StoredVersion): StoredVersion | undefined {
    return modRevision - 1 < this.compacted ? undefined : this.#keysAt(modRevision - 1).get(key);
  }

  /** @throws RpcError OutOfRange */
  range(request: RangeRequest, revision = Number(request.revision) || this.revision): { versions: readonly StoredVersion[]; count: number; more: boolean } {
    if (revision > this.revision) throw answer('OutOfRange', 'etcdserver: mvcc: required revision is a future revision');
    if (revision < this.compacted) throw answer('OutOfRange', 'etcdserver: mvcc: required revision has been compacted');
    const all = [...this.#keysAt(revision).values()].filter(({ key }) => isIn(key, request)).sort((a, b) => (a.key < b.key ? -1 : 1));
    const limit = Number(request.limit) || all.length;
    const versions = request.countOnly ? [] : all.slice(0, limit);
    return { versions, count: all.length, more: !request.countOnly && all.length > limit };
  }

  /** @throws RpcError InvalidArgument */
  txn({ compare, success, failure }: TxnRequest, maxOperations: number): { succeeded: boolean; results: readonly OperationResult[] } {
    if (Math.max(compare.length, success.length, failure.length) > maxOperations)
      throw answer('InvalidArgument', 'etcdserver: too many operations in txn request');
    const keys = this.#newest;
    const succeeded = compare.every((each) => holds(each, keys));
    const written: StoredVersion[] = [];
    const results = (succeeded ? success : failure).map((operation) => this.#perform(operation, keys, written));
    if (written.length > 0) this.#log.push(written);
    applyTo(keys, written);
    return { succeeded, results };
  }

  /** @throws RpcError OutOfRange */
  compact(revision: number): void {
    if (revision <= this.compacted) throw answer('OutOfRange', 'etcdserver: mvcc: required revision has been compacted');
    if (revision > this.revision) throw answer('OutOfRange', 'etcdserver: mvcc: required revision is a future revision');
    this.compacted = revision;
  }

  /** The newest revisions never happened. */
  lose(revisions: number): void {
    this.#log.splice(this.#log.length - revisions);
    this.#newest = applyTo(new Map(), this.#log.flat());
  }

  #perform({ request }: RequestOp, keys: ReadonlyMap<string, StoredVersion>, written: StoredVersion[]): OperationResult {
    const modRevision = this.revision + 1;
    if (request.case === 'requestPut') {
      const key = keyText(request.value.key);
      const before = keys.get(key);
      written.push({
        key,
        value: request.value.value,
        modRevision,
        createRevision: before?.createRevision ?? modRevision,
        version: (before?.version ?? 0) + 1,
      });
      return { type: 'put' };
    }
    if (request.case === 'requestDeleteRange') {
      const key = keyText(request.value.key);
      if (!keys.has(key)) return { type: 'delete', deleted: 0 };
      written.push({ key, value: new Uint8Array(), modRevision, createRevision: 0, version: 0 });
      return { type: 'delete', deleted: 1 };
    }
    const found = request.case === 'requestRange' ? keys.get(keyText(request.value.key)) : undefined;
    return { type: 'range', versions: found === undefined ? [] : [found] };
  }

  #keysAt(revision: number): ReadonlyMap<string, StoredVersion> {
    return revision === this.revision ? this.#newest : applyTo(new Map(), this.#log.slice(0, revision - 1).flat());
  }
}

function applyTo(keys: Map<string, StoredVersion>, written: readonly StoredVersion[]): Map<string, StoredVersion> {
  for (const version of written) {
    if (version.version === 0) keys.delete(version.key);
    else keys.set(version.key, version);
  }
  return keys;
}

export function isIn(key: string, { key: from, rangeEnd }: KeyRange): boolean {
  const first = keyText(from);
  return rangeEnd.length === 0 ? key === first : key >= first && key < keyText(rangeEnd);
}

export const eventType = ({ version }: StoredVersion): Event_EventType => (version === 0 ? Event_EventType.DELETE : Event_EventType.PUT);

const answer = (code: RpcError['code'], message: string): RpcError => new RpcError(code, message, { isAnswer: true });

/** Mooring compares revisions and versions for equality. */
function holds({ key, target, targetUnion }: Compare, keys: ReadonlyMap<string, StoredVersion>): boolean {
  const found = keys.get(keyText(key));
  const actual = target === Compare_CompareTarget.VERSION ? found?.version : found?.modRevision;
  return BigInt(actual ?? 0) === (targetUnion.value ?? 0n);
}

export const keyValueOf = ({ key, value, createRevision, modRevision, version }: StoredVersion): MessageInitShape<typeof KeyValueSchema> => ({
  key: Buffer.from(key, 'latin1'),
  value,
  createRevision: BigInt(createRevision),
  modRevision: BigInt(modRevision),
  version: BigInt(version),
});
