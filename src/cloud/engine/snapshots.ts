import type { Context, Outcome } from './context.ts';
import { CloudError } from './errors.ts';
import { drawLatency } from './latency.ts';
import type { Change, Snapshot, Tags } from './records.ts';
import { findVolume, incorrectState } from './volumes.ts';

export interface CreateSnapshotRequest {
  readonly volumeId: string;
  readonly description?: string | undefined;
  readonly tags?: Tags | undefined;
}

export function createSnapshot({ volumeId, description = '', tags = {} }: CreateSnapshotRequest, context: Context): Outcome<Snapshot> {
  const volume = findVolume(context, volumeId);
  if (volume.state !== 'available' && volume.state !== 'in-use') throw incorrectState(volumeId, 'available');
  const { state, quotas, now, random, latencies, newId } = context;
  if (state.snapshots.size >= quotas.snapshots) throw new CloudError('SnapshotLimitExceeded', 'You have exceeded your maximum EBS snapshot limit.');
  const snapshot: Snapshot = {
    id: newId('snap'),
    volumeId,
    sizeGiB: volume.sizeGiB,
    encrypted: volume.encrypted,
    kmsKeyId: volume.kmsKeyId,
    description,
    state: 'pending',
    startTime: now,
    tags,
    due: { at: now + drawLatency(latencies.snapshot, random), to: 'completed' },
  };
  return { value: snapshot, changes: [{ in: 'snapshots', id: snapshot.id, record: snapshot }] };
}

export function deleteSnapshot(id: string, context: Context): Outcome<undefined> {
  findSnapshot(context, id);
  return { value: undefined, changes: [{ in: 'snapshots', id, record: undefined }] };
}

/** @throws CloudError */
export function findSnapshot({ state }: Context, id: string): Snapshot {
  const snapshot = state.snapshots.get(id);
  if (snapshot === undefined) throw new CloudError('InvalidSnapshot.NotFound', `The snapshot '${id}' does not exist.`);
  return snapshot;
}

export interface TagsRequest {
  readonly resources: readonly string[];
  /** Undefined value: the tag is removed, whatever its value is. */
  readonly tags: Readonly<Record<string, string | undefined>>;
  /** DeleteTags with values: a tag is removed only if it has this value. */
  readonly onlyValues?: Tags | undefined;
}

const mostTags = 50;

/** All resources or none. */
export function changeTags({ resources, tags, onlyValues = {} }: TagsRequest, context: Context): Outcome<undefined> {
  const changes = resources.map((id): Change => {
    const changed = (before: Tags): Tags => changedTags(before, tags, onlyValues);
    const { volumes, instances, snapshots, launchTemplates } = context.state;
    const [volume, instance] = [volumes.get(id), instances.get(id)];
    if (volume !== undefined) return { in: 'volumes', id, record: { ...volume, tags: changed(volume.tags) } };
    if (instance !== undefined) return { in: 'instances', id, record: { ...instance, tags: changed(instance.tags) } };
    const template = launchTemplates.get(id);
    if (template !== undefined) return { in: 'launchTemplates', id, record: { ...template, tags: changed(template.tags) } };
    const snapshot = snapshots.get(id);
    if (snapshot !== undefined) return { in: 'snapshots', id, record: { ...snapshot, tags: changed(snapshot.tags) } };
    throw notFound(id);
  });
  return { value: undefined, changes };
}

function changedTags(before: Tags, tags: TagsRequest['tags'], onlyValues: Tags): Tags {
  const after = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(tags)) {
    if (value !== undefined) after.set(key, value);
    else if (onlyValues[key] === undefined || onlyValues[key] === before[key]) after.delete(key);
  }
  if (after.size > mostTags) throw new CloudError('TagLimitExceeded', `The maximum number of tags for a resource is ${mostTags}.`);
  return Object.fromEntries(after);
}

/** By the prefix of the id. */
function notFound(id: string): CloudError {
  if (id.startsWith('vol-')) return new CloudError('InvalidVolume.NotFound', `The volume '${id}' does not exist.`);
  if (id.startsWith('i-')) return new CloudError('InvalidInstanceID.NotFound', `The instance ID '${id}' does not exist`);
  if (id.startsWith('snap-')) return new CloudError('InvalidSnapshot.NotFound', `The snapshot '${id}' does not exist.`);
  return new CloudError('InvalidID', `The ID '${id}' is not valid`);
}
