/** ebs.csi.aws.com in this process: the controller service of aws-ebs-csi-driver, with its parameters, tags, tokens and error codes. */
import { annotations } from '../../api/volumes/annotations.ts';
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import type { PersistentVolumeSource } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { World } from '../../world/world.ts';
import {
  type Attacher,
  type CreatedVolume,
  type CreateVolumeRequest,
  type DriverAnswer,
  type DriverErrorCode,
  done,
  failed,
  type Snapshotter,
  succeeded,
  type VolumeDriver,
} from '../contract.ts';
import { type Ec2Client, Ec2Error } from './ec2-client.ts';
import { modification, ParameterError, type VolumeParameters, volumeParameters } from './parameters.ts';
import { Ebs, type EbsSnapshot, type EbsVolume } from './volumes.ts';

export const ebsDriverName = 'ebs.csi.aws.com';
const zoneKeys = ['topology.kubernetes.io/zone', 'topology.ebs.csi.aws.com/zone'] as const;
/** Tags by which the driver finds what it made. */
const tags = { volume: 'CSIVolumeName', snapshot: 'CSIVolumeSnapshotName', managed: 'ebs.csi.aws.com/cluster' } as const;
const gib = 1024n ** 3n;

export interface EbsDriverOptions {
  readonly world: World;
  readonly client: Ec2Client;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

export function ebsDriver({ world, client, sha256 }: EbsDriverOptions): VolumeDriver {
  const ebs = new Ebs({ world, client });
  return {
    capabilities: {
      name: ebsDriverName,
      provisions: true,
      deletes: true,
      mountOptions: true,
      block: true,
      expands: 'always',
      attaches: true,
      csi: { topology: true, clones: true, restores: true, modifies: true, reportsCapacity: false },
    },
    handleFor: () => undefined,
    handleOf,
    createVolume: (request) => answered(() => createVolume(request, { ebs, sha256 })),
    deleteVolume: (handle) => answered(() => deleteVolume(handle, ebs)),
    listVolumes: () => answered(async () => succeeded((await ebs.volumes({ Filter: [{ Name: `tag:${tags.managed}`, Value: ['true'] }] })).map(({ id }) => id))),
    controllerExpandVolume: ({ handle, capacity }) => answered(() => expand(handle, capacity, ebs)),
    controllerModifyVolume: ({ handle, mutableParameters }) => answered(() => modify(handle, mutableParameters, ebs)),
    attacher: attacherOf(ebs),
    snapshotter: snapshotterOf(ebs),
  };
}

/** Also of volumes of the in-tree plugin: 'aws://us-west-2a/vol-…'. */
const handleOf = (spec: PersistentVolumeSource): string | undefined => {
  const source = csiSourceOf({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: {}, spec, status: {} });
  return source?.driver === ebsDriverName ? source.handle : undefined;
};

interface Making {
  readonly ebs: Ebs;
  readonly sha256: (text: string) => string;
}

async function createVolume(request: CreateVolumeRequest, { ebs, sha256 }: Making): Promise<DriverAnswer<CreatedVolume>> {
  const { name, source, csi, capacity, volumeMode, accessModes } = request;
  const parameters = volumeParameters(request.parameters ?? {}, csi?.mutableParameters);
  const isShared = volumeMode === 'Block' && accessModes.includes('ReadWriteMany');
  if (parameters.iops !== undefined && parameters.iopsPerGb !== undefined)
    return refused(name, 'InvalidArgument', 'invalid StorageClass parameters; specify either IOPS or IOPSPerGb, not both');
  const { type = 'gp3' } = parameters;
  if (isShared && type !== 'io2') return refused(name, 'InvalidArgument', 'CreateDisk: multi-attach is only supported for io2 volumes');
  if (accessModes.includes('ReadWriteMany') && !isShared) return failed('InvalidArgument', 'Volume capabilities not supported');
  const sizeGiB = Number((quantityValue(capacity) + gib - 1n) / gib);
  const common = {
    ClientToken: sha256(name),
    Size: sizeGiB,
    VolumeType: type,
    Iops: iopsOf(parameters, type, sizeGiB),
    Throughput: parameters.throughput,
    MultiAttachEnabled: isShared ? true : undefined,
    TagSpecification: [{ ResourceType: 'volume', Tag: tagList({ ...parameters.tags, [tags.volume]: name, [tags.managed]: 'true' }) }],
  };
  const volume =
    source?.type === 'volume'
      ? await clone(request, parameters, { ebs, common })
      : await ebs.create('CreateVolume', {
          ...common,
          AvailabilityZone: zoneOf(request) ?? (await anyZone(name, ebs)),
          Encrypted: parameters.encrypted,
          KmsKeyId: parameters.kmsKeyId,
          SnapshotId: source?.handle,
        });
  return 'ok' in volume ? volume : succeeded(assetOf(volume, request, parameters));
}

async function clone(
  { source, csi }: CreateVolumeRequest,
  parameters: VolumeParameters,
  { ebs, common }: { readonly ebs: Ebs; readonly common: Parameters<Ebs['create']>[1] },
): Promise<EbsVolume | ReturnType<typeof failed>> {
  if (parameters.isUnencrypted) return failed('InvalidArgument', 'Cannot make an unencrypted clone');
  const original = await ebs.volume(source?.handle ?? '');
  if (parameters.kmsKeyId !== undefined && original.kmsKeyId !== parameters.kmsKeyId)
    return failed('InvalidArgument', 'Cannot provision clone with different KMS key than source volume');
  const zones = [...(csi?.accessibilityRequirements?.requisite ?? [])].flatMap(({ segments }) => zoneIn(segments) ?? []);
  if (zones.length > 0 && !zones.includes(original.zone))
    return failed('ResourceExhausted', `the source volume is in zone ${original.zone}, and its clone may only be in ${zones.join(', ')}`);
  return ebs.create('CopyVolumes', { ...common, SourceVolumeId: original.id });
}

const zoneIn = (segments: Readonly<Record<string, string>>): string | undefined => segments[zoneKeys[0]] ?? segments[zoneKeys[1]];

/** The first of the preferred zones, then of the permitted ones: pickAvailabilityZone of the driver. */
function zoneOf({ csi }: CreateVolumeRequest): string | undefined {
  const { preferred = [], requisite = [] } = csi?.accessibilityRequirements ?? {};
  return [...preferred, ...requisite].flatMap(({ segments }) => zoneIn(segments) ?? [])[0];
}

/** Always the same for the same volume, so that a repeated request has the same parameters. */
async function anyZone(name: string, ebs: Ebs): Promise<string> {
  const zones = await ebs.zones();
  let sum = 0;
  for (let i = 0; i < name.length; i++) sum += name.charCodeAt(i);
  return zones[sum % zones.length] ?? '';
}

/** In the bounds of the type; below its minimum only if the class permits the increase. */
function iopsOf({ iops, iopsPerGb, allowsIopsIncrease }: VolumeParameters, type: string, sizeGiB: number): number | undefined {
  const bounds = iopsBounds[type];
  const wanted = iops ?? (iopsPerGb === undefined ? undefined : iopsPerGb * sizeGiB);
  if (wanted === undefined || bounds === undefined) return wanted;
  const least = wanted < bounds.least && (allowsIopsIncrease || iopsPerGb === undefined) ? bounds.least : wanted;
  const most = Math.max(bounds.least, Math.min(bounds.most, bounds.perGiB * sizeGiB));
  return iopsPerGb === undefined ? wanted : Math.min(least, most);
}

const iopsBounds: Readonly<Record<string, { readonly least: number; readonly most: number; readonly perGiB: number }>> = {
  gp3: { least: 3000, most: 80_000, perGiB: 500 },
  io1: { least: 100, most: 64_000, perGiB: 50 },
  io2: { least: 100, most: 256_000, perGiB: 1000 },
};

const tagList = (given: Readonly<Record<string, string>>) => Object.entries(given).map(([Key, Value]) => ({ Key, Value }));

/** As external-provisioner writes the driver's answer. */
function assetOf({ id, zone, sizeGiB }: EbsVolume, request: CreateVolumeRequest, { context }: VolumeParameters): CreatedVolume {
  const fsType = request.csi?.fsType ?? '';
  return {
    handle: id,
    capacity: `${sizeGiB}Gi`,
    source: {
      csi: {
        driver: ebsDriverName,
        volumeHandle: id,
        volumeAttributes: { 'storage.kubernetes.io/csiProvisionerIdentity': `mooring-${ebsDriverName}`, ...context },
        ...(request.volumeMode === 'Block' ? {} : { fsType: fsType === '' ? 'ext4' : fsType }),
      },
    },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zoneKeys[0], operator: 'In', values: [zone] }] }] } },
    annotations: { [annotations.deletionSecretName]: '', [annotations.deletionSecretNamespace]: '' },
  };
}

async function deleteVolume(handle: string, ebs: Ebs): Promise<DriverAnswer<undefined>> {
  try {
    await ebs.call('DeleteVolume', { VolumeId: handle });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return done;
}

async function expand(handle: string, capacity: string, ebs: Ebs): Promise<DriverAnswer<{ capacity: string; nodeExpansionRequired: boolean }>> {
  const wanted = Number((quantityValue(capacity) + gib - 1n) / gib);
  const { sizeGiB } = await ebs.volume(handle);
  if (sizeGiB < wanted) await ebs.modify(handle, { Size: wanted });
  return succeeded({ capacity: `${Math.max(sizeGiB, wanted)}Gi`, nodeExpansionRequired: true });
}

async function modify(handle: string, parameters: Readonly<Record<string, string>>, ebs: Ebs): Promise<DriverAnswer<undefined>> {
  const { type, iops, throughput, tags: added, removedTags } = modification(parameters);
  if (type !== undefined || iops !== undefined || throughput !== undefined) await ebs.modify(handle, { VolumeType: type, Iops: iops, Throughput: throughput });
  if (Object.keys(added).length > 0) await ebs.call('CreateTags', { ResourceId: [handle], Tag: tagList(added) });
  if (removedTags.length > 0) await ebs.call('DeleteTags', { ResourceId: [handle], Tag: removedTags.map((Key) => ({ Key })) });
  return done;
}

function attacherOf(ebs: Ebs): Attacher {
  return {
    controllerPublishVolume: ({ handle, nodeId }) =>
      answered(
        async () => succeeded({ devicePath: await ebs.attach(handle, nodeId) }),
        (error) => {
          if (isNotFound(error)) return failed('NotFound', `Volume "${handle}" not found`);
          if (error instanceof Ec2Error && error.code === 'AttachmentLimitExceeded')
            return failed('ResourceExhausted', `Attachment limit exceeded for volume "${handle}" on node "${nodeId}": ${error.message}`);
          return failed('Internal', `Could not attach volume "${handle}" to node "${nodeId}": ${textOfError(error)}`);
        },
      ),
    controllerUnpublishVolume: ({ handle, nodeId }) =>
      answered(
        async () => {
          await ebs.detach(handle, nodeId);
          return done;
        },
        (error) => failed('Internal', `Could not detach volume "${handle}" from node "${nodeId}": ${textOfError(error)}`),
      ),
    listPublishedVolumes: () =>
      answered(async () => {
        const volumes = await ebs.volumes({ Filter: [{ Name: `tag:${tags.managed}`, Value: ['true'] }] });
        return succeeded(volumes.flatMap(({ id, attachments }) => attachments.map(({ instanceId }) => ({ handle: id, nodeId: instanceId }))));
      }),
  };
}

const driverSnapshot = ({ id, volumeId, sizeGiB, state, startTime }: EbsSnapshot) => ({
  handle: id,
  sourceHandle: volumeId,
  creationTime: startTime,
  readyToUse: state === 'completed',
  sizeBytes: sizeGiB * Number(gib),
});

function snapshotterOf(ebs: Ebs): Snapshotter {
  const named = (name: string) => ebs.snapshots({ Filter: [{ Name: `tag:${tags.snapshot}`, Value: [name] }] });
  return {
    createSnapshot: ({ name, sourceHandle, parameters }) =>
      answered(async () => {
        const [unknown] = Object.keys(parameters).filter((key) => !key.toLowerCase().startsWith('tagspecification'));
        if (unknown !== undefined) return failed('InvalidArgument', `Invalid parameter key ${unknown} for CreateSnapshot`);
        const [existing] = await named(name);
        if (existing !== undefined && existing.volumeId !== sourceHandle)
          return failed('AlreadyExists', `Snapshot ${name} already exists for different volume (${existing.volumeId})`);
        const added = volumeParameters(parameters).tags;
        const snapshot =
          existing ??
          (await ebs.createSnapshot({
            VolumeId: sourceHandle,
            Description: `Created by AWS EBS CSI driver for volume ${sourceHandle}`,
            TagSpecification: [{ ResourceType: 'snapshot', Tag: tagList({ ...added, [tags.snapshot]: name, [tags.managed]: 'true' }) }],
          }));
        return succeeded(driverSnapshot(snapshot));
      }),
    deleteSnapshot: ({ handle }) =>
      answered(async () => {
        await ebs.call('DeleteSnapshot', { SnapshotId: handle }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
        return done;
      }),
    getSnapshot: ({ handle }) =>
      answered(async () => {
        const [snapshot] = await ebs.snapshots({ SnapshotId: [handle] });
        return snapshot === undefined ? failed('NotFound', `snapshot ${handle} not found`) : succeeded(driverSnapshot(snapshot));
      }),
    listSnapshots: () =>
      answered(async () => succeeded((await ebs.snapshots({ Filter: [{ Name: `tag:${tags.managed}`, Value: ['true'] }] })).map(driverSnapshot))),
  };
}

const refused = (name: string, code: DriverErrorCode, why: string) => failed(code, `Could not create volume "${name}": ${why}`);

const isNotFound = (error: unknown): boolean => error instanceof Ec2Error && /^Invalid(Volume|Snapshot)\.NotFound$/.test(error.code);

const textOfError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** EC2's codes as the driver's, where they are not those of `otherwise`. Any other failure may have had an effect. */
const codes: Readonly<Record<string, DriverErrorCode>> = {
  IdempotentParameterMismatch: 'AlreadyExists',
  InvalidParameter: 'InvalidArgument',
  InvalidParameterCombination: 'InvalidArgument',
  InvalidParameterDependency: 'InvalidArgument',
  InvalidParameterValue: 'InvalidArgument',
  'InvalidSnapshot.NotFound': 'NotFound',
  'InvalidVolume.NotFound': 'NotFound',
  'InvalidZone.NotFound': 'InvalidArgument',
  MissingParameter: 'InvalidArgument',
  UnknownVolumeType: 'InvalidArgument',
  UnsupportedOperation: 'InvalidArgument',
  VolumeInUse: 'FailedPrecondition',
  VolumeLimitExceeded: 'ResourceExhausted',
  MaxIOPSLimitExceeded: 'ResourceExhausted',
  SnapshotLimitExceeded: 'ResourceExhausted',
};

async function answered<T>(task: () => Promise<DriverAnswer<T>>, otherwise?: (error: unknown) => DriverAnswer<T>): Promise<DriverAnswer<T>> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof ParameterError) return failed('InvalidArgument', error.message);
    if (otherwise !== undefined) return otherwise(error);
    return failed((error instanceof Ec2Error ? codes[error.code] : undefined) ?? 'Aborted', textOfError(error));
  }
}
