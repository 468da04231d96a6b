import type { EtcdClient } from './client.ts';
import type { EtcdKeys } from './keys.ts';
import type { Mirror } from './mirror.ts';
import { pagesOf } from './read-state.ts';

/** Keys and revisions only: small messages. */
const PAGE_SIZE = 10_000;

export interface Compared {
  readonly client: EtcdClient;
  readonly keys: EtcdKeys;
  readonly mirror: Mirror;
  /** Undefined: the mirror is at etcd's revision, and is compared as of it. Otherwise etcd's newest state is, and events may be under way for so long. */
  readonly eventsTakeMs: number | undefined;
}

/** A key that etcd and the mirror have at different revisions; undefined: they are the same. */
export async function findDifference({ client, keys, mirror, eventsTakeMs }: Compared): Promise<string | undefined> {
  let revision = eventsTakeMs === undefined ? mirror.revision() : 0;
  const found = new Map<string, number>();
  for await (const { kvs, revision: read } of pagesOf(client, keys, { pageSize: PAGE_SIZE, revision, keysOnly: true })) {
    for (const { key, modRevision } of kvs) found.set(keys.decode(key), keys.revisionOf(modRevision));
    revision = read;
  }
  if (eventsTakeMs !== undefined) await mirror.reach(revision, eventsTakeMs);
  const { entries } = await mirror.range({ from: '', to: AFTER_ALL, revision: Math.min(revision, mirror.revision()) });
  for (const { key, modRevision } of entries) {
    if (found.get(key) !== modRevision) return key;
    found.delete(key);
  }
  const [missing] = found.keys();
  return missing;
}

/** No key has it. */
const AFTER_ALL = '\uffff\uffff';
