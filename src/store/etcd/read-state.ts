import type { KeyValue } from '../../grpc/generated/etcd.ts';
import { StoreError } from '../contract.ts';
import type { EtcdClient } from './client.ts';
import { readFailure } from './errors.ts';
import type { EtcdKeys } from './keys.ts';
import type { EtcdState } from './mirror.ts';
import type { MirroredVersion } from './mirrored-version.ts';

export interface ReadStateOptions {
  readonly client: EtcdClient;
  readonly keys: EtcdKeys;
  /** Keys of one answer. */
  readonly pageSize: number;
}

/** How often a compaction may overtake the reading of all pages. */
const MAX_ATTEMPTS = 5;

/** Reads all keys at one revision, page by page. @throws StoreError */
export async function readState(options: ReadStateOptions): Promise<EtcdState> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readPages(options);
    } catch (error) {
      const failure = readFailure(error);
      if (failure.code !== 'compacted' || attempt >= MAX_ATTEMPTS) throw failure;
    }
  }
}

async function readPages({ client, keys, pageSize }: ReadStateOptions): Promise<EtcdState> {
  const versions: MirroredVersion[] = [];
  let revision = 0;
  for await (const page of pagesOf(client, keys, { pageSize, revision: 0, keysOnly: false })) {
    ({ revision } = page);
    for (const kv of page.kvs) versions.push(keys.version(kv));
  }
  return { revision, versions };
}

/** Of all keys at one revision. `revision` 0: the newest. */
export async function* pagesOf(
  client: EtcdClient,
  keys: EtcdKeys,
  { pageSize, revision, keysOnly }: { readonly pageSize: number; readonly revision: number; readonly keysOnly: boolean },
): AsyncGenerator<{ readonly revision: number; readonly kvs: readonly KeyValue[] }> {
  const { data } = keys;
  let at = keys.etcdRevision(revision);
  for (let { key } = data; ; ) {
    const { header, kvs, more } = await client.range({ key, rangeEnd: data.rangeEnd, limit: BigInt(pageSize), revision: at, keysOnly });
    // The first page decides the revision of the others.
    if (at === 0n) at = header?.revision ?? 0n;
    if (at === 0n) throw new StoreError('unavailable', 'etcd answered without a revision');
    yield { revision: keys.revisionOf(at), kvs };
    const last = kvs.at(-1);
    if (!more || last === undefined) return;
    key = afterKey(last.key);
  }
}

/** The first key that follows. */
function afterKey(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
