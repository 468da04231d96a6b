import type { Context, Outcome } from './context.ts';
import { CloudError } from './errors.ts';
import { drawLatency } from './latency.ts';
import type { Tags, Volume } from './records.ts';
import { madeBefore, tokenChanges } from './tokens.ts';
import { checkedShape } from './volume-types.ts';

export interface CreateVolumeRequest {
  readonly zone: string;
  readonly sizeGiB?: number | undefined;
  readonly type?: string | undefined;
  readonly iops?: number | undefined;
  readonly throughput?: number | undefined;
  readonly encrypted?: boolean | undefined;
  readonly kmsKeyId?: string | undefined;
  readonly multiAttach?: boolean | undefined;
  readonly snapshotId?: string | undefined;
  readonly tags?: Tags | undefined;
  readonly clientToken?: string | undefined;
}

export function createVolume(request: CreateVolumeRequest, context: Context): Outcome<Volume> {
  const { clientToken, ...parameters } = request;
  const token = { action: 'CreateVolume', clientToken, parameters };
  const made = madeBefore(token, context);
  // One that was deleted meanwhile is not made again: the token stays used.
  if (made !== undefined) return { value: findVolume(context, made[0] ?? ''), changes: [] };
  const source = request.snapshotId === undefined ? undefined : completedSnapshot(context, request.snapshotId);
  if (source === undefined && request.sizeGiB === undefined) throw new CloudError('MissingParameter', 'The request must contain the parameter size/snapshot');
  const volume = newVolume({ ...request, sizeGiB: request.sizeGiB ?? source?.sizeGiB ?? 0, leastGiB: source?.sizeGiB }, context);
  return {
    value: volume,
    changes: [{ in: 'volumes', id: volume.id, record: volume }, ...tokenChanges(token, [volume.id], context)],
  };
}

export interface CopyVolumeRequest extends Omit<CreateVolumeRequest, 'zone' | 'snapshotId' | 'encrypted' | 'kmsKeyId'> {
  readonly sourceVolumeId: string;
}

/** A clone, in the zone of its source. */
export function copyVolume(request: CopyVolumeRequest, context: Context): Outcome<Volume> {
  const { clientToken, ...parameters } = request;
  const token = { action: 'CopyVolumes', clientToken, parameters };
  const made = madeBefore(token, context);
  if (made !== undefined) return { value: findVolume(context, made[0] ?? ''), changes: [] };
  const source = findVolume(context, request.sourceVolumeId);
  if (source.state !== 'available' && source.state !== 'in-use') throw incorrectState(source.id, 'available');
  const { type = source.type, sizeGiB = source.sizeGiB } = request;
  const shape = type === source.type ? { iops: source.type === 'gp2' ? undefined : source.iops, throughput: source.throughput } : {};
  const volume = newVolume(
    {
      ...shape,
      ...request,
      type,
      sizeGiB,
      zone: source.zone,
      leastGiB: source.sizeGiB,
      encrypted: source.encrypted,
      kmsKeyId: source.kmsKeyId,
    },
    context,
  );
  const copy = { ...volume, sourceVolumeId: source.id };
  return { value: copy, changes: [{ in: 'volumes', id: copy.id, record: copy }, ...tokenChanges(token, [copy.id], context)] };
}

type NewVolume = Omit<CreateVolumeRequest, 'sizeGiB' | 'clientToken'> & { readonly sizeGiB: number; readonly leastGiB: number | undefined };

function newVolume(request: NewVolume, context: Context): Volume {
  const { zone, sizeGiB, leastGiB, type = 'gp2', encrypted = false, multiAttach = false, tags = {} } = request;
  checkZone(zone, context);
  const shape = checkedShape({ sizeGiB, type, iops: request.iops, throughput: request.throughput, multiAttach });
  if (leastGiB !== undefined && sizeGiB < leastGiB)
    throw new CloudError('InvalidParameterValue', `Volume of ${sizeGiB}GiB is smaller than its source, expect size >= ${leastGiB}GiB`);
  if (request.kmsKeyId !== undefined && !encrypted)
    throw new CloudError('InvalidParameterDependency', 'The parameter KmsKeyId requires the parameter Encrypted to be set.');
  const { state, quotas, now, random, newId, latencies } = context;
  if (state.volumes.size >= quotas.volumes) throw new CloudError('VolumeLimitExceeded', 'You have exceeded your maximum EBS volume limit.');
  return {
    id: newId('vol'),
    zone,
    ...shape,
    encrypted,
    kmsKeyId: request.kmsKeyId,
    snapshotId: request.snapshotId,
    createTime: now,
    state: 'creating',
    attachments: [],
    tags,
    due: { at: now + drawLatency(latencies.createVolume, random), to: 'available' },
  };
}

export function deleteVolume(id: string, context: Context): Outcome<undefined> {
  const volume = findVolume(context, id);
  const [attachment] = volume.attachments;
  if (attachment !== undefined) throw new CloudError('VolumeInUse', `Volume ${id} is currently attached to ${attachment.instanceId}`);
  if (volume.state === 'deleting') return { value: undefined, changes: [] };
  checkZone(volume.zone, context);
  const { now, random, latencies } = context;
  const deleting: Volume = { ...volume, state: 'deleting', due: { at: now + drawLatency(latencies.deleteVolume, random), to: 'gone' } };
  return { value: undefined, changes: [{ in: 'volumes', id, record: deleting }] };
}

export interface ModifyVolumeRequest {
  readonly volumeId: string;
  readonly sizeGiB?: number | undefined;
  readonly type?: string | undefined;
  readonly iops?: number | undefined;
  readonly throughput?: number | undefined;
  readonly multiAttach?: boolean | undefined;
}

/** Between two modifications of a volume. */
const modificationPauseMs = 6 * 60 * 60 * 1000;

export function modifyVolume(request: ModifyVolumeRequest, context: Context): Outcome<Volume> {
  const volume = findVolume(context, request.volumeId);
  if (volume.state !== 'available' && volume.state !== 'in-use') throw incorrectState(volume.id, 'available');
  const { modification } = volume;
  if (modification !== undefined && modification.state !== 'completed')
    throw new CloudError('IncorrectModificationState', `Volume ${volume.id} is currently being modified.`);
  if (modification !== undefined && modification.startTime + modificationPauseMs > context.now) {
    const text = `You've reached the maximum modification rate per volume limit. Wait at least 6 hours between modifications per EBS volume.`;
    throw new CloudError('VolumeModificationRateExceeded', text);
  }
  const { sizeGiB = volume.sizeGiB, type = volume.type, multiAttach = volume.multiAttach } = request;
  if (sizeGiB < volume.sizeGiB) throw new CloudError('InvalidParameterValue', 'New size cannot be smaller than existing size');
  const kept = type === volume.type ? { iops: volume.type === 'gp2' ? undefined : volume.iops, throughput: volume.throughput } : {};
  const target = checkedShape({ sizeGiB, type, multiAttach, iops: request.iops ?? kept.iops, throughput: request.throughput ?? kept.throughput });
  const { now, random, latencies } = context;
  const { iops, throughput } = volume;
  const modified: Volume = {
    ...volume,
    modification: {
      state: 'modifying',
      original: { sizeGiB: volume.sizeGiB, type: volume.type, iops, throughput, multiAttach: volume.multiAttach },
      target,
      startTime: now,
      due: { at: now + drawLatency(latencies.modify, random), to: 'optimizing' },
    },
  };
  return { value: modified, changes: [{ in: 'volumes', id: volume.id, record: modified }] };
}

/** @throws CloudError */
export function findVolume({ state }: Context, id: string): Volume {
  const volume = state.volumes.get(id);
  if (volume === undefined) throw new CloudError('InvalidVolume.NotFound', `The volume '${id}' does not exist.`);
  return volume;
}

export const incorrectState = (id: string, wanted: string): CloudError => new CloudError('IncorrectState', `${id} is not '${wanted}'.`);

/** @throws CloudError if there is no such zone, or it does not answer */
export function checkZone(zone: string, { region, faults }: Context): void {
  if (!region.zones.some(({ name }) => name === zone)) throw new CloudError('InvalidZone.NotFound', `The zone '${zone}' does not exist.`);
  if (faults.isDark(zone)) throw new CloudError('InternalError', 'An internal error has occurred');
}

function completedSnapshot({ state }: Context, id: string) {
  const snapshot = state.snapshots.get(id);
  if (snapshot === undefined) throw new CloudError('InvalidSnapshot.NotFound', `The snapshot '${id}' does not exist.`);
  if (snapshot.state !== 'completed') throw new CloudError('IncorrectState', `Snapshot is in invalid state - ${snapshot.state}`);
  return snapshot;
}
