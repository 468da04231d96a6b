import { isSameContent, type StoreContent } from '../content.ts';
import { type Entry, StoreError } from '../contract.ts';
import { EtcdClient, type EtcdEndpoint } from './client.ts';
import { readFailure, writeFailure } from './errors.ts';
import { refuseTooOld } from './etcd-version.ts';
import { beginFilling, openPrefix } from './format.ts';
import type { EtcdKeys } from './keys.ts';
import { readState } from './read-state.ts';
import { MAX_OPERATIONS } from './transactions.ts';

export interface EtcdPlace {
  /** The members of one etcd cluster; their channels are closed at the end. */
  readonly endpoints: readonly EtcdEndpoint[];
  readonly prefix: string;
}

const TIMEOUT_MS = 30_000;
const PAGE_SIZE = 5_000;
/** Of the values of one transaction: etcd's limit for a request is 1.5 MiB. */
const MAX_BYTES = 1 << 20;
/** Transactions under way. */
const PARALLEL = 8;

async function withClient<T>(endpoints: readonly EtcdEndpoint[], task: (client: EtcdClient) => Promise<T>): Promise<T> {
  const client = new EtcdClient(endpoints, TIMEOUT_MS);
  try {
    const { version } = await client.status();
    refuseTooOld(version);
    return await task(client);
  } catch (error) {
    throw readFailure(error);
  } finally {
    client.close();
  }
}

/** All keys at one revision. @throws StoreError `foreign` if there is no store */
export function readEtcdStore({ endpoints, prefix }: EtcdPlace): Promise<StoreContent> {
  return withClient(endpoints, async (client) => {
    const { clusterId, keys } = await openPrefix(client, prefix);
    return { clusterId, ...(await contentOf(client, keys)) };
  });
}

async function contentOf(client: EtcdClient, keys: EtcdKeys): Promise<Pick<StoreContent, 'revision' | 'entries'>> {
  const { revision, versions } = await readState({ client, keys, pageSize: PAGE_SIZE });
  return { revision, entries: versions };
}

/**
 * Creates a store with this content under an empty prefix. Its revisions are after that of the content. Until all is written, and read again,
 * no server can use it; an attempt that was interrupted is begun anew.
 * @throws StoreError
 */
export function fillEtcdStore({ endpoints, prefix }: EtcdPlace, content: StoreContent): Promise<void> {
  return withClient(endpoints, async (client) => {
    const { keys, complete } = await beginFilling(client, prefix, content);
    const batches = batchesOf(content.entries);
    const write = async (): Promise<void> => {
      for (const batch of batches) {
        const success = batch.map(({ key, value }) => ({ request: { case: 'requestPut' as const, value: { key: keys.encode(key), value } } }));
        await client.txn({ success }).catch((error: unknown) => Promise.reject(writeFailure(error)));
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, write));
    const written = await contentOf(client, keys);
    if (!isSameContent(written.entries, content.entries))
      throw new StoreError(
        'corrupt',
        `etcd has other objects under ${prefix} than were written: ${written.entries.length} instead of ${content.entries.length}`,
      );
    await complete();
  });
}

type Copied = Pick<Entry, 'key' | 'value'>;

/** Shared by all writers: each takes the next. */
function* batchesOf(entries: readonly Copied[]): Generator<readonly Copied[], undefined> {
  let batch: Copied[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = entry.key.length + entry.value.byteLength;
    if (batch.length >= MAX_OPERATIONS || (batch.length > 0 && bytes + size > MAX_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
