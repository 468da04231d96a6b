import { prefixEnd, StoreError } from '../contract.ts';
import type { KeyValue } from '../../grpc/generated/etcd.ts';
import { MirroredVersion } from './mirrored-version.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Where a store lies in etcd. With the prefix '/mooring', the key '/registry/pods/default/web' is '/mooring/data/registry/pods/default/web'.
 * '/mooring/format' says whose data it is, '/mooring/compaction' when it was compacted last.
 */
export class EtcdKeys {
  readonly #data: string;
  readonly format: Uint8Array;
  readonly compaction: Uint8Array;
  /** All that the store writes. */
  readonly all: { readonly key: Uint8Array; readonly rangeEnd: Uint8Array };
  /** All keys of the store's users. */
  readonly data: { readonly key: Uint8Array; readonly rangeEnd: Uint8Array };

  /** The revisions of the store are those of etcd, and so many more: they go on where those of an earlier store ended. */
  readonly #revisionOffset: number;

  /** `prefix`: '/mooring'. @throws StoreError `foreign` for one that is none */
  constructor(prefix: string, revisionOffset = 0) {
    this.#revisionOffset = revisionOffset;
    const trimmed = prefix.replace(/\/+$/, '');
    if (!trimmed.startsWith('/')) throw new StoreError('foreign', `${JSON.stringify(prefix)} is no prefix of etcd keys: it begins with "/", as /mooring does`);
    this.#data = `${trimmed}/data`;
    this.format = encoder.encode(`${trimmed}/format`);
    this.compaction = encoder.encode(`${trimmed}/compaction`);
    this.all = { key: encoder.encode(`${trimmed}/`), rangeEnd: encoder.encode(prefixEnd(`${trimmed}/`)) };
    this.data = { key: encoder.encode(`${this.#data}/`), rangeEnd: encoder.encode(prefixEnd(`${this.#data}/`)) };
  }

  encode(key: string): Uint8Array {
    return encoder.encode(this.#data + key);
  }

  decode(key: Uint8Array): string {
    return decoder.decode(key).slice(this.#data.length);
  }

  /** The store's revision for one of etcd; 0: none. */
  revisionOf(etcdRevision: bigint | undefined): number {
    return etcdRevision === undefined || etcdRevision === 0n ? 0 : Number(etcdRevision) + this.#revisionOffset;
  }

  /** Etcd's revision for one of the store; 0 stays 0. Before the first revision of etcd, there is none that it could read. */
  etcdRevision(revision: number): bigint {
    return revision === 0 ? 0n : BigInt(Math.max(1, revision - this.#revisionOffset));
  }

  version(kv: KeyValue, memo?: unknown): MirroredVersion {
    return new MirroredVersion({
      key: this.decode(kv.key),
      value: kv.value,
      createRevision: this.revisionOf(kv.createRevision),
      modRevision: this.revisionOf(kv.modRevision),
      writes: Number(kv.version),
      memo,
    });
  }
}
