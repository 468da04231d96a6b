import { Compare_CompareResult, Compare_CompareTarget } from '../../grpc/generated/etcd.ts';
import { StoreError } from '../contract.ts';
import type { EtcdClient } from './client.ts';
import { readFailure, writeFailure } from './errors.ts';
import { EtcdKeys } from './keys.ts';

/** The layout of the keys that this program reads. With 2, revisions have an offset. */
const FORMAT = 2;

export interface ClusterIds {
  /** The cluster whose data must be there: nothing is created. */
  readonly expectedClusterId?: string;
  /** A UUID, the identity of a store that is created. */
  readonly newClusterId: string;
}

/** What '/mooring/format' says. */
interface StoreFormat {
  readonly format: number;
  readonly clusterId: string;
  readonly revisionOffset: number;
  /** All objects are being written by "moor store": they are not complete. */
  readonly isFilling: boolean;
}

export interface ClaimedPrefix {
  readonly clusterId: string;
  readonly keys: EtcdKeys;
}

/**
 * Makes sure that what lies under the prefix is the cluster's store, or nothing; then it becomes one.
 * @throws StoreError `foreign`, `newer-version`
 */
export async function claimPrefix(client: EtcdClient, prefix: string, { expectedClusterId, newClusterId }: ClusterIds): Promise<ClaimedPrefix> {
  const keys = new EtcdKeys(prefix);
  const found = await readFormat(client, keys);
  const { clusterId } = found ?? {};
  if (expectedClusterId !== undefined && clusterId !== expectedClusterId)
    throw new StoreError(
      'foreign',
      `etcd has ${clusterId === undefined ? 'no data' : `the cluster ${clusterId}`} under ${textOf(keys.all.key)}, and not the cluster ${expectedClusterId}: check --etcd-servers and --etcd-prefix`,
    );
  if (found?.isFilling === true) throw notComplete(keys);
  if (found !== undefined) return { clusterId: found.clusterId, keys: new EtcdKeys(prefix, found.revisionOffset) };
  await refuseForeign(client, keys).catch(async (error: unknown) => {
    // The keys may be those of another server, which has claimed the prefix since the first look.
    if ((await readFormat(client, keys)) === undefined) throw error;
  });
  await writeFormat(client, keys, { clusterId: newClusterId, revisionOffset: 0, isFilling: false });
  // Another server may have been first, and an answer may be lost.
  const written = await readFormat(client, keys);
  if (written === undefined) throw new StoreError('unavailable', 'etcd did not take the first key');
  return { clusterId: written.clusterId, keys: new EtcdKeys(prefix, written.revisionOffset) };
}

/** The store that is under the prefix. @throws StoreError `foreign` if there is none */
export async function openPrefix(client: EtcdClient, prefix: string): Promise<ClaimedPrefix> {
  const keys = new EtcdKeys(prefix);
  const found = await readFormat(client, keys);
  if (found === undefined) throw new StoreError('foreign', `etcd has no cluster under ${textOf(keys.all.key)}: check --etcd-servers and --etcd-prefix`);
  if (found.isFilling) throw notComplete(keys);
  return { clusterId: found.clusterId, keys: new EtcdKeys(prefix, found.revisionOffset) };
}

/**
 * Begins to fill an empty prefix, or one whose filling was interrupted, with the objects of the cluster: its first revision will be after `revision`.
 * @throws StoreError `foreign`
 */
export async function beginFilling(client: EtcdClient, prefix: string, { clusterId, revision }: { readonly clusterId: string; readonly revision: number }) {
  const keys = new EtcdKeys(prefix);
  const found = await readFormat(client, keys);
  if (found === undefined) await refuseForeign(client, keys);
  else if (!found.isFilling || found.clusterId !== clusterId)
    throw new StoreError('foreign', `etcd has the cluster ${found.clusterId} under ${textOf(keys.all.key)}: choose another --etcd-prefix, or remove it`);
  await client.deleteRange(keys.all);
  const { header } = await client.range({ key: keys.format, countOnly: true });
  const revisionOffset = Math.max(0, revision - Number(header?.revision ?? 0n));
  await writeFormat(client, keys, { clusterId, revisionOffset, isFilling: true });
  return {
    keys: new EtcdKeys(prefix, revisionOffset),
    /** All objects are written: servers may use the store. */
    complete: () => replaceFormat(client, keys, { clusterId, revisionOffset, isFilling: false }),
  };
}

const notComplete = (keys: EtcdKeys): StoreError =>
  new StoreError('foreign', `${textOf(keys.all.key)} in etcd is not complete: the "moor store" that writes it runs, or was ended; start that again`);

async function refuseForeign(client: EtcdClient, keys: EtcdKeys): Promise<void> {
  const { count } = await client.range({ ...keys.all, countOnly: true }).catch((error: unknown) => Promise.reject(readFailure(error)));
  if (count > 0n)
    throw new StoreError(
      'foreign',
      `etcd has ${count} keys under ${textOf(keys.all.key)} that are not Mooring's: choose another --etcd-prefix, or remove them`,
    );
}

type NewFormat = Omit<StoreFormat, 'format'>;

const formatText = ({ clusterId, revisionOffset, isFilling }: NewFormat): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({
      format: revisionOffset > 0 || isFilling ? FORMAT : 1,
      clusterId,
      ...(revisionOffset > 0 && { revisionOffset }),
      ...(isFilling && { isFilling }),
    }),
  );

/** If there is none. */
async function writeFormat(client: EtcdClient, { format: key }: EtcdKeys, content: NewFormat): Promise<void> {
  const { EQUAL } = Compare_CompareResult;
  try {
    await client.txn({
      compare: [{ key, target: Compare_CompareTarget.VERSION, result: EQUAL, targetUnion: { case: 'version', value: 0n } }],
      success: [{ request: { case: 'requestPut', value: { key, value: formatText(content) } } }],
    });
  } catch (error) {
    const failure = writeFailure(error);
    if (failure.code !== 'undecided') throw failure;
  }
}

async function replaceFormat(client: EtcdClient, { format: key }: EtcdKeys, content: NewFormat): Promise<void> {
  await client.txn({ success: [{ request: { case: 'requestPut', value: { key, value: formatText(content) } } }] });
}

async function readFormat(client: EtcdClient, keys: EtcdKeys): Promise<StoreFormat | undefined> {
  const { kvs } = await client.range({ key: keys.format }).catch((error: unknown) => Promise.reject(readFailure(error)));
  const text = kvs[0] === undefined ? undefined : textOf(kvs[0].value);
  if (text === undefined) return undefined;
  const found = parsed(text);
  if (found === undefined) throw new StoreError('foreign', `${textOf(keys.format)} in etcd is not Mooring's: ${JSON.stringify(text.slice(0, 80))}`);
  if (found.format > FORMAT) throw new StoreError('newer-version', `its format in etcd is ${found.format}, and this program knows ${FORMAT}`);
  return found;
}

function parsed(text: string): StoreFormat | undefined {
  try {
    const { format, clusterId, revisionOffset = 0, isFilling = false } = JSON.parse(text) as Partial<StoreFormat>;
    if (typeof format !== 'number' || typeof clusterId !== 'string' || typeof revisionOffset !== 'number') return undefined;
    return { format, clusterId, revisionOffset, isFilling };
  } catch {
    return undefined;
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
