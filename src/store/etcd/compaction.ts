import { Compare_CompareResult, Compare_CompareTarget } from '../../grpc/generated/etcd.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { EtcdActivity } from './activity.ts';
import type { EtcdClient } from './client.ts';
import type { EtcdKeys } from './keys.ts';

/** What a server knows of the compactions. */
interface Round {
  /** How often the key was written: the servers count the rounds by it. */
  readonly version: bigint;
  /** etcd's revision then; 0: unknown. */
  readonly revision: number;
}

export interface CompactionContext {
  readonly client: EtcdClient;
  readonly keys: EtcdKeys;
  readonly activity: EtcdActivity;
  readonly world: Pick<World, 'timers' | 'log'>;
}

/**
 * Compacts etcd as Kubernetes does (apiserver: storage/etcd3/compact.go): of several servers, the one that first writes the key of the round
 * compacts to the revision of the round before, which is one interval old. So an interrupted watch of any server can be resumed for that long.
 */
export function compactTogether(
  context: CompactionContext,
  { intervalMs, onRound }: { /** 0: never. */ readonly intervalMs: number; readonly onRound: () => void },
): Cancel {
  const { world } = context;
  let round: Round = { version: 0n, revision: 0 };
  let cancelled = false;
  let cancelTimer: Cancel = () => undefined;
  const run = async (): Promise<void> => {
    try {
      round = await compactRound(context, round);
      onRound();
    } catch (error) {
      world.log.warn('cannot compact etcd', { revision: round.revision, error });
    }
    plan();
  };
  const plan = (): void => {
    if (!cancelled) cancelTimer = world.timers.after(intervalMs, () => void run());
  };
  if (intervalMs > 0) plan();
  return () => {
    cancelled = true;
    cancelTimer();
  };
}

async function compactRound({ client, keys, activity }: CompactionContext, { version, revision }: Round): Promise<Round> {
  const key = keys.compaction;
  const { header, succeeded, responses } = await client.txn({
    compare: [{ key, target: Compare_CompareTarget.VERSION, result: Compare_CompareResult.EQUAL, targetUnion: { case: 'version', value: version } }],
    success: [{ request: { case: 'requestPut', value: { key, value: new TextEncoder().encode(String(revision)) } } }],
    failure: [{ request: { case: 'requestRange', value: { key } } }],
  });
  const now = Number(header?.revision ?? 0n);
  if (!succeeded) {
    const response = responses[0]?.response;
    const found = response?.case === 'responseRange' ? response.value.kvs[0] : undefined;
    const compacted = Number(new TextDecoder().decode(found?.value));
    if (compacted > 0) activity.tell({ type: 'compaction', revision: compacted, isOwn: false });
    return { version: found?.version ?? 0n, revision: now };
  }
  if (revision > 0) {
    await client.compact(revision);
    activity.tell({ type: 'compaction', revision, isOwn: true });
  }
  return { version: version + 1n, revision: now };
}
