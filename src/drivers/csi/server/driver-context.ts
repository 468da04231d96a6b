import type { Clock } from '../../../world/world.ts';
import { KeyedMutex } from '../../../world/keyed-mutex.ts';
import { RpcError } from '../../../grpc/status.ts';
import type { Directories } from '../../directories.ts';
import type { VolumeBackend } from './backend.ts';
import { Records, type SnapshotRecord, type VolumeRecord } from './records.ts';

export interface DriverOptions {
  readonly backend: VolumeBackend;
  readonly directories: Directories;
  /** For the records. */
  readonly dataDir: string;
  readonly nodeId: string;
  readonly version: string;
  readonly clock: Clock;
  /** Hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** What the three services of one driver share. */
export interface DriverContext extends DriverOptions {
  readonly volumes: Records<VolumeRecord>;
  readonly snapshots: Records<SnapshotRecord>;
  /** One call after the other for each volume or snapshot, by id. */
  readonly locks: KeyedMutex;
}

export async function loadContext(options: DriverOptions): Promise<DriverContext> {
  const { directories, dataDir } = options;
  return {
    ...options,
    volumes: await Records.load<VolumeRecord>(directories, `${dataDir}/records/volumes`),
    snapshots: await Records.load<SnapshotRecord>(directories, `${dataDir}/records/snapshots`),
    locks: new KeyedMutex(),
  };
}

/** The id follows from the name: after a crash, a repeated call finds what the first one left. */
export const idOf = ({ sha256 }: DriverContext, kind: 'vol' | 'snap', name: string): string => `${kind}-${sha256(name).slice(0, 32)}`;

/** Throws InvalidArgument for a field that is empty. */
export function required(value: string, field: string): string {
  if (value === '') throw new RpcError('InvalidArgument', `${field} is missing`);
  return value;
}

/** Throws NotFound. A volume whose creation has not finished is none. */
export function volumeOf({ volumes }: DriverContext, id: string): VolumeRecord {
  const volume = volumes.get(required(id, 'volume_id'));
  if (volume?.ready !== true) throw new RpcError('NotFound', `volume ${JSON.stringify(id)} does not exist`);
  return volume;
}

/** The topology of all volumes of this driver: they are on one node. */
export const topologyOf = ({ backend, nodeId }: DriverContext): { segments: Record<string, string> } => ({
  segments: { [`topology.${backend.driverName}/node`]: nodeId },
});

const codes = { ENOSPC: 'ResourceExhausted', EDQUOT: 'ResourceExhausted', EFBIG: 'OutOfRange', EBUSY: 'FailedPrecondition' } as const;

/** An error of the backend as a call's failure. */
export async function asRpcError<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof RpcError) throw error;
    const { code = '', message = String(error) } = (error ?? {}) as { readonly code?: string; readonly message?: string };
    throw new RpcError(code in codes ? codes[code as keyof typeof codes] : 'Internal', message);
  }
}
