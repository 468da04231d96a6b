import type { EtcdClient } from './client.ts';
import type { EtcdKeys } from './keys.ts';
import type { Mirror } from './mirror.ts';
import { pagesOf } from './read-state.ts';

/** Keys and revisions only: small messages. */
const PAGE_SIZE = 10_000;

/** A key that etcd and the mirror have at different revisions, as of the mirror's revision now; undefined: they are the same. */
export async function findDifference(client: EtcdClient, keys: EtcdKeys, mirror: Mirror): Promise<string | undefined> {
  const revision = mirror.revision();
  const found = new Map<string, number>();
  for await (const { kvs } of pagesOf(client, keys, { pageSize: PAGE_SIZE, revision, keysOnly: true })) {
    for (const { key, modRevision } of kvs) found.set(keys.decode(key), keys.revisionOf(modRevision));
  }
  const { entries } = await mirror.range({ from: '', to: AFTER_ALL, revision });
  for (const { key, modRevision } of entries) {
    if (found.get(key) !== modRevision) return key;
    found.delete(key);
  }
  const [missing] = found.keys();
  return missing;
}

/** No key has it. */
const AFTER_ALL = '\uffff\uffff';
