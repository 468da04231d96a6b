import type { Context } from '../../engine/context.ts';
import { CloudError } from '../../engine/errors.ts';
import { accountId } from '../../engine/network.ts';
import type { Snapshot } from '../../engine/records.ts';
import { changeTags, createSnapshot, deleteSnapshot } from '../../engine/snapshots.ts';
import { type Filters, filterOf, pageOf, pick, readTags, tagSet, tagsFor } from '../listing.ts';
import type { Answer } from '../xml.ts';
import { type Action, answer, written } from './action.ts';

const described = ({ id, volumeId, sizeGiB, encrypted, kmsKeyId, description, state, startTime, tags }: Snapshot): Answer => ({
  snapshotId: id,
  volumeId,
  status: state,
  startTime,
  progress: state === 'completed' ? '100%' : '0%',
  ownerId: accountId,
  volumeSize: sizeGiB,
  description,
  encrypted,
  kmsKeyId,
  tagSet: tagSet(tags),
  storageTier: 'standard',
});

const createSnapshotAction: Action = (parameters) => {
  const request = {
    volumeId: parameters.requiredText('VolumeId'),
    description: parameters.text('Description'),
    tags: tagsFor(parameters, 'snapshot'),
  };
  return (context) => written(createSnapshot(request, context), described);
};

const deleteSnapshotAction: Action = (parameters) => {
  const id = parameters.requiredText('SnapshotId');
  return (context) => written(deleteSnapshot(id, context), () => ({}));
};

const filters: Filters<Snapshot> = {
  description: ({ description }) => [description],
  encrypted: ({ encrypted }) => [String(encrypted)],
  'owner-id': () => [accountId],
  progress: ({ state }) => [state === 'completed' ? '100%' : '0%'],
  'snapshot-id': ({ id }) => [id],
  'start-time': ({ startTime }) => [new Date(startTime).toISOString()],
  status: ({ state }) => [state],
  'volume-id': ({ volumeId }) => [volumeId],
  'volume-size': ({ sizeGiB }) => [String(sizeGiB)],
};

const snapshotNotFound = ([id = '']: readonly string[]): CloudError =>
  /^snap-[0-9a-f]{8,17}$/.test(id)
    ? new CloudError('InvalidSnapshot.NotFound', `The snapshot '${id}' does not exist.`)
    : new CloudError('InvalidParameterValue', `Value (${id}) for parameter snapshotId is invalid. Expected: 'snap-...'.`);

const describeSnapshotsAction: Action = (parameters) => {
  const ids = parameters.texts('SnapshotId');
  const owners = parameters.texts('Owner');
  parameters.ignore('RestorableBy');
  const passes = filterOf(parameters, filters, ({ tags }) => tags);
  const page = pageOf(parameters, { ids: 'SnapshotId' });
  return ({ state }) => {
    const isOwned = owners?.some((owner) => owner === 'self' || owner === accountId) ?? true;
    const found = pick(state.snapshots, ids, snapshotNotFound).filter((snapshot) => isOwned && passes(snapshot));
    const { items, nextToken } = page(found, ({ id }) => id);
    return answer({ snapshotSet: items.map(described), nextToken });
  };
};

const createTagsAction: Action = (parameters) => {
  const request = { resources: parameters.texts('ResourceId') ?? [], tags: readTags(parameters) };
  return (context) => written(changeTags(request, context), () => ({}));
};

/** Without tags all are removed; a tag with a value only if it has that value. */
const deleteTagsAction: Action = (parameters) => {
  const resources = parameters.texts('ResourceId') ?? [];
  const given = parameters.structures('Tag').map((tag) => [tag.requiredText('Key'), tag.text('Value')] as const);
  return (context) => {
    const all = () => resources.flatMap((id) => Object.keys(tagsOf(context, id)));
    const keys = given.length === 0 ? all() : given.map(([key]) => key);
    const onlyValues = Object.fromEntries(given.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])));
    return written(changeTags({ resources, tags: Object.fromEntries(keys.map((key) => [key, undefined])), onlyValues }, context), () => ({}));
  };
};

const tagsOf = ({ state }: Context, id: string): Readonly<Record<string, string>> =>
  (state.volumes.get(id) ?? state.instances.get(id) ?? state.snapshots.get(id) ?? state.launchTemplates.get(id))?.tags ?? {};

interface TagDescription {
  readonly resourceId: string;
  readonly resourceType: string;
  readonly key: string;
  readonly value: string;
}

const tagFilters: Filters<TagDescription> = {
  key: ({ key }) => [key],
  'resource-id': ({ resourceId }) => [resourceId],
  'resource-type': ({ resourceType }) => [resourceType],
  value: ({ value }) => [value],
};

const describeTagsAction: Action = (parameters) => {
  const passes = filterOf(parameters, tagFilters);
  const page = pageOf(parameters);
  return ({ state }) => {
    const types = { volume: state.volumes, instance: state.instances, snapshot: state.snapshots, 'launch-template': state.launchTemplates };
    const all = Object.entries(types).flatMap(([resourceType, records]) =>
      [...records.values()].flatMap(({ id, tags }) =>
        Object.entries(tags).map(([key, value]): TagDescription => ({ resourceId: id, resourceType, key, value })),
      ),
    );
    const { items, nextToken } = page(all.filter(passes), ({ resourceId, key }) => `${resourceId} ${key}`);
    return answer({ tagSet: items.map((each) => ({ ...each })), nextToken });
  };
};

export const snapshotActions: Readonly<Record<string, Action>> = {
  CreateSnapshot: createSnapshotAction,
  CreateTags: createTagsAction,
  DeleteSnapshot: deleteSnapshotAction,
  DeleteTags: deleteTagsAction,
  DescribeSnapshots: describeSnapshotsAction,
  DescribeTags: describeTagsAction,
};
