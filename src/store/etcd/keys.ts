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

  /** `prefix`: '/mooring'. @throws StoreError `foreign` for one that is none */
  constructor(prefix: string) {
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

  version(kv: KeyValue, memo?: unknown): MirroredVersion {
    return new MirroredVersion({
      key: this.decode(kv.key),
      value: kv.value,
      createRevision: Number(kv.createRevision),
      modRevision: Number(kv.modRevision),
      writes: Number(kv.version),
      memo,
    });
  }
}
