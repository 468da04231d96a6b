import { Compare_CompareResult, Compare_CompareTarget } from '../../grpc/generated/etcd.ts';
import { StoreError } from '../contract.ts';
import type { EtcdClient } from './client.ts';
import { readFailure, writeFailure } from './errors.ts';
import type { EtcdKeys } from './keys.ts';

/** The layout of the keys that this program writes. */
const FORMAT = 1;

export interface ClusterIds {
  /** The cluster whose data must be there: nothing is created. */
  readonly expectedClusterId?: string;
  /** A UUID, the identity of a store that is created. */
  readonly newClusterId: string;
}

/**
 * Makes sure that what lies under the prefix is the cluster's store, or nothing; then it becomes one. Resolves with the cluster's id.
 * @throws StoreError `foreign`, `newer-version`
 */
export async function claimPrefix(client: EtcdClient, keys: EtcdKeys, { expectedClusterId, newClusterId }: ClusterIds): Promise<string> {
  const found = await readFormat(client, keys);
  const clusterId = found === undefined ? undefined : clusterIdOf(found, keys);
  if (expectedClusterId !== undefined && clusterId !== expectedClusterId)
    throw new StoreError(
      'foreign',
      `etcd has ${clusterId === undefined ? 'no data' : `the cluster ${clusterId}`} under ${textOf(keys.all.key)}, and not the cluster ${expectedClusterId}: check --etcd-servers and --etcd-prefix`,
    );
  if (clusterId !== undefined) return clusterId;
  const { count } = await client.range({ ...keys.all, countOnly: true }).catch((error: unknown) => Promise.reject(readFailure(error)));
  if (count > 0n)
    throw new StoreError(
      'foreign',
      `etcd has ${count} keys under ${textOf(keys.all.key)} that are not Mooring's: choose another --etcd-prefix, or remove them`,
    );
  const value = new TextEncoder().encode(JSON.stringify({ format: FORMAT, clusterId: newClusterId }));
  const { EQUAL } = Compare_CompareResult;
  const key = keys.format;
  try {
    await client.txn({
      compare: [{ key, target: Compare_CompareTarget.VERSION, result: EQUAL, targetUnion: { case: 'version', value: 0n } }],
      success: [{ request: { case: 'requestPut', value: { key, value } } }],
    });
  } catch (error) {
    const failure = writeFailure(error);
    if (failure.code !== 'undecided') throw failure;
  }
  // Another server may have been first, and an answer may be lost.
  const settled = await readFormat(client, keys);
  if (settled === undefined) throw new StoreError('unavailable', 'etcd did not take the first key of a new store; another start may succeed');
  return clusterIdOf(settled, keys);
}

async function readFormat(client: EtcdClient, keys: EtcdKeys): Promise<string | undefined> {
  try {
    const { kvs } = await client.range({ key: keys.format });
    return kvs[0] === undefined ? undefined : textOf(kvs[0].value);
  } catch (error) {
    throw readFailure(error);
  }
}

function clusterIdOf(text: string, keys: EtcdKeys): string {
  const found = parsed(text);
  if (found === undefined) throw new StoreError('foreign', `${textOf(keys.format)} in etcd is not Mooring's: ${JSON.stringify(text.slice(0, 80))}`);
  if (found.format > FORMAT) throw new StoreError('newer-version', `its format in etcd is ${found.format}, and this program knows ${FORMAT}`);
  return found.clusterId;
}

function parsed(text: string): { readonly format: number; readonly clusterId: string } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('format' in value) || !('clusterId' in value)) return undefined;
    const { format, clusterId } = value;
    return typeof format === 'number' && typeof clusterId === 'string' ? { format, clusterId } : undefined;
  } catch {
    return undefined;
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
