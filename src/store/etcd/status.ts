import { RpcError } from '../../grpc/status.ts';
import { EtcdClient } from './client.ts';
import { readFailure } from './errors.ts';
import { openPrefix } from './format.ts';
import type { EtcdPlace } from './whole-store.ts';

/** Of one member; the sizes are of its database, which all clusters in etcd share. */
export interface MemberStatus {
  readonly url: string;
  /** Null: it answers. */
  readonly problem: string | null;
  readonly version: string;
  readonly isLeader: boolean;
  readonly bytes: number;
  readonly bytesInUse: number;
  readonly alarms: readonly string[];
}

export interface EtcdStatus {
  readonly members: readonly MemberStatus[];
  /** Null: it cannot be read. */
  readonly store: {
    readonly clusterId: string;
    readonly keys: number;
    readonly revision: number;
    /** Null: no server has compacted it yet. */
    readonly compactedRevision: number | null;
  } | null;
  /** Why the store cannot be read. */
  readonly problem: string | null;
}

const TIMEOUT_MS = 5_000;

/** Never throws for an etcd that is not fine: that is what the status says. */
export async function statusOfEtcd({ endpoints, prefix }: EtcdPlace): Promise<EtcdStatus> {
  const client = new EtcdClient(endpoints, TIMEOUT_MS);
  try {
    const members = (await client.statuses()).map(({ url, status }): MemberStatus => {
      if (status instanceof RpcError) return { url, problem: readFailure(status).message, version: '', isLeader: false, bytes: 0, bytesInUse: 0, alarms: [] };
      const { version, leader, header, dbSize, dbSizeInUse, errors } = status;
      return {
        url,
        problem: leader === 0n ? 'it has no leader: most members have to run and reach each other' : null,
        version,
        isLeader: leader !== 0n && leader === header?.memberId,
        bytes: Number(dbSize),
        bytesInUse: Number(dbSizeInUse),
        alarms: errors,
      };
    });
    return { members, ...(await storeStatus(client, prefix)) };
  } finally {
    client.close();
  }
}

async function storeStatus(client: EtcdClient, prefix: string): Promise<Pick<EtcdStatus, 'store' | 'problem'>> {
  try {
    const { clusterId, keys } = await openPrefix(client, prefix);
    const { header, count } = await client.range({ ...keys.data, countOnly: true });
    const { kvs } = await client.range({ key: keys.compaction });
    const compacted = kvs[0] === undefined ? 0 : Number(new TextDecoder().decode(kvs[0].value));
    const compactedRevision = compacted > 0 ? keys.revisionOf(BigInt(compacted)) : null;
    return { store: { clusterId, keys: Number(count), revision: keys.revisionOf(header?.revision), compactedRevision }, problem: null };
  } catch (error) {
    return { store: null, problem: readFailure(error).message };
  }
}
