import type { MessageInitShape } from '@bufbuild/protobuf';
import { quantityOf, formatQuantity } from '../../../api/quantity.ts';
import type { ServerCall } from '../../../grpc/channel.ts';
import {
  Controller,
  ControllerServiceCapability_RPC_Type as Rpc,
  type CreateVolumeRequest,
  type ControllerPublishVolumeRequest,
  GroupController,
  GroupControllerServiceCapability_RPC_Type as GroupRpc,
  type ListSnapshotsResponseSchema,
  type SnapshotSchema,
  type VolumeGroupSnapshotSchema,
  type VolumeSchema,
} from '../../../grpc/generated/csi.ts';
import type { Implementation } from '../../../grpc/service.ts';
import { RpcError } from '../../../grpc/status.ts';
import type { DiskChange } from '../simulated-disk-driver.ts';
import { type CsiBackend, type CsiBackendSnapshot, type CsiBackendVolume, type Origin, type ReportCsiEvent, zoneKey } from './backend.ts';
import type { SerialCalls } from './serial-calls.ts';

export interface CsiControllerOptions {
  readonly backend: CsiBackend;
  readonly calls: SerialCalls;
  readonly report: ReportCsiEvent;
  readonly onDisk: (change: DiskChange) => void;
  /** DeleteVolume was called. What it returns is called when it is performed. */
  readonly onDelete: (id: string) => () => void;
}

const gi = 2n ** 30n;
const second = { seconds: 1n, nanos: 0 };

/** The controller service of a simulated driver. It does what it is asked for, as long as CSI lets it: what the caller must not ask is reported. */
export class SimulatedController {
  readonly #options: CsiControllerOptions;
  /** The highest epoch of each lease. */
  readonly #epochs = new Map<string, number>();

  constructor(options: CsiControllerOptions) {
    this.#options = options;
  }

  get #backend(): CsiBackend {
    return this.#options.backend;
  }

  service(): Implementation<typeof Controller> {
    const { calls } = this.#options;
    return {
      controllerGetCapabilities: async () => ({ capabilities: this.#rpcs().map((type) => ({ type: { case: 'rpc', value: { type } } })) }),
      createVolume: (request, call) => {
        this.#fence(call);
        const id = this.#backend.idOf(request.name);
        return calls.perform({ call: 'CreateVolume', id, key: `volume ${id}` }, call, () => ({ volume: this.#createVolume(request) }));
      },
      deleteVolume: ({ volumeId: id }, call) => {
        this.#fence(call);
        this.#own(id, 'DeleteVolume');
        const arrives = this.#options.onDelete(id);
        return calls.perform({ call: 'DeleteVolume', id, key: `volume ${id}` }, call, () => {
          arrives();
          return this.#deleteVolume(id);
        });
      },
      controllerPublishVolume: (request, call) => {
        this.#fence(call);
        const { volumeId: id, nodeId } = request;
        const node = this.#nodeOf(nodeId);
        return calls.perform({ call: 'ControllerPublishVolume', id, key: `attachment ${id} ${nodeId}` }, call, () => this.#publish(request, node));
      },
      controllerUnpublishVolume: ({ volumeId: id, nodeId }, call) => {
        this.#fence(call);
        const node = this.#nodeOf(nodeId);
        this.#own(id, 'ControllerUnpublishVolume');
        return calls.perform({ call: 'ControllerUnpublishVolume', id, key: `attachment ${id} ${nodeId}` }, call, () => this.#unpublish(id, node));
      },
      controllerExpandVolume: ({ volumeId: id, capacityRange }, call) => {
        this.#fence(call);
        return calls.perform({ call: 'ControllerExpandVolume', id, key: `volume ${id}` }, call, () => this.#expand(id, capacityRange?.requiredBytes ?? 0n));
      },
      listVolumes: async () => ({
        entries: Array.from(this.#backend.volumes.values(), (volume) => ({
          volume: described(volume),
          status: { publishedNodeIds: Array.from(volume.attachedTo, (node) => this.#nodeId(node)) },
        })),
      }),
      createSnapshot: ({ name, sourceVolumeId }, call) => {
        this.#fence(call);
        return calls.perform({ call: 'CreateSnapshot', id: sourceVolumeId, key: `snapshot ${name}` }, call, () => ({
          snapshot: this.#snapshot(name, sourceVolumeId),
        }));
      },
      deleteSnapshot: ({ snapshotId: id }, call) => {
        this.#fence(call);
        this.#own(id, 'DeleteSnapshot');
        return calls.perform({ call: 'DeleteSnapshot', id, key: `snapshot ${id}` }, call, () => {
          this.#deleteSnapshot(id);
          return {};
        });
      },
      listSnapshots: async ({ snapshotId }): Promise<MessageInitShape<typeof ListSnapshotsResponseSchema>> => {
        const all = Array.from(this.#backend.snapshots.values()).filter(({ id }) => snapshotId === '' || id === snapshotId);
        return { entries: all.map((snapshot) => ({ snapshot: describedSnapshot(snapshot) })) };
      },
    };
  }

  groupService(): Implementation<typeof GroupController> {
    const { calls } = this.#options;
    return {
      groupControllerGetCapabilities: async () => ({
        capabilities: [{ type: { case: 'rpc', value: { type: GroupRpc.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT } } }],
      }),
      createVolumeGroupSnapshot: ({ name, sourceVolumeIds }, call) => {
        this.#fence(call);
        return calls.perform({ call: 'CreateVolumeGroupSnapshot', id: name, key: `group ${name}` }, call, () => {
          const volumes = sourceVolumeIds.map((id) => this.#volume(id));
          for (const volume of volumes) this.#backend.takeSnapshot(name, volume, this.#groupId(name));
          return { groupSnapshot: this.#group(this.#groupId(name)) };
        });
      },
      deleteVolumeGroupSnapshot: ({ groupSnapshotId: id, snapshotIds }, call) => {
        this.#fence(call);
        this.#own(id, 'DeleteVolumeGroupSnapshot');
        return calls.perform({ call: 'DeleteVolumeGroupSnapshot', id, key: `group ${id}` }, call, () => {
          const members = this.#backend.membersOf(id);
          if (members.some((member) => !snapshotIds.includes(member.id))) throw new RpcError('InvalidArgument', 'these are not the snapshots of the group');
          for (const member of members) this.#deleteSnapshot(member.id);
          return {};
        });
      },
      getVolumeGroupSnapshot: async ({ groupSnapshotId: id }) => {
        if (this.#backend.membersOf(id).length === 0) throw new RpcError('NotFound', `there is no group ${id}`);
        return { groupSnapshot: this.#group(id) };
      },
    };
  }

  #rpcs(): readonly Rpc[] {
    const { attaches, clones, lists } = this.#backend.features;
    return [
      Rpc.CREATE_DELETE_VOLUME,
      Rpc.CREATE_DELETE_SNAPSHOT,
      Rpc.EXPAND_VOLUME,
      ...(attaches ? [Rpc.PUBLISH_UNPUBLISH_VOLUME] : []),
      ...(clones ? [Rpc.CLONE_VOLUME] : []),
      ...(lists ? [Rpc.LIST_VOLUMES, Rpc.LIST_SNAPSHOTS, Rpc.LIST_VOLUMES_PUBLISHED_NODES] : []),
    ];
  }

  /** A leader that was replaced changes nothing. */
  #fence({ metadata }: ServerCall): void {
    const [lease, epoch] = [metadata['mooring-lease'] ?? '', Number(metadata['mooring-epoch'] ?? 0)];
    const highest = this.#epochs.get(lease) ?? 0;
    if (epoch < highest) throw new RpcError('PermissionDenied', `epoch ${epoch} of lease ${lease} is outdated`);
    this.#epochs.set(lease, epoch);
  }

  #own(id: string, call: string): void {
    if (!id.startsWith(`${this.#backend.features.prefix}.`)) this.#options.report(id, { do: 'foreign', call });
  }

  #volume(id: string): CsiBackendVolume {
    const volume = this.#backend.volumes.get(id);
    if (volume !== undefined) return volume;
    this.#own(id, 'a call');
    throw new RpcError('NotFound', `there is no volume ${id}`);
  }

  #nodeId(node: string): string {
    return `${this.#backend.features.prefix}.${node}`;
  }

  #nodeOf(nodeId: string): string {
    this.#own(nodeId, 'a call for this node');
    return nodeId.slice(nodeId.indexOf('.') + 1);
  }

  #createVolume(request: CreateVolumeRequest): MessageInitShape<typeof VolumeSchema> {
    const { name, capacityRange, volumeContentSource } = request;
    const { features } = this.#backend;
    const known = this.#backend.volumeNamed(name);
    const bytes = (capacityRange?.requiredBytes ?? gi) + BigInt(features.extraGi) * gi;
    if (known !== undefined) {
      const isSame =
        known.bytes >= (capacityRange?.requiredBytes ?? 0n) &&
        sourceId(known.origin) === (volumeContentSource?.type.value === undefined ? '' : idOfSource(request));
      if (!isSame) throw new RpcError('AlreadyExists', `volume ${name} exists, and is another one`);
      return described(known, zoneKey(features));
    }
    const origin = this.#origin(request);
    const volume: CsiBackendVolume = {
      id: this.#backend.idOf(name),
      name,
      bytes,
      content: origin.type === 'empty' ? '' : origin.content,
      origin,
      zone: features.zones ? this.#zone(request) : undefined,
      attachedTo: new Set(),
    };
    this.#backend.volumes.set(volume.id, volume);
    this.#options.onDisk({ type: 'created', handle: volume.id, capacity: quantity(bytes) });
    return described(volume, zoneKey(features));
  }

  #origin(request: CreateVolumeRequest): Origin {
    const source = request.volumeContentSource?.type;
    const id = idOfSource(request);
    if (source?.case === undefined) return { type: 'empty' };
    const found = source.case === 'snapshot' ? this.#backend.snapshots.get(id) : this.#backend.volumes.get(id);
    if (found === undefined) {
      this.#own(id, 'CreateVolume');
      throw new RpcError('NotFound', `there is no ${source.case} ${id}`);
    }
    return { type: source.case, id, content: found.content };
  }

  #zone({ accessibilityRequirements }: CreateVolumeRequest): string {
    const { preferred = [], requisite = [] } = accessibilityRequirements ?? {};
    return [...preferred, ...requisite].flatMap(({ segments }) => segments[zoneKey(this.#backend.features)] ?? [])[0] ?? 'east';
  }

  #deleteVolume(id: string): Record<string, never> {
    const volume = this.#backend.volumes.get(id);
    if (volume === undefined) return {};
    const publishedOn = this.#backend.nodesPublishing(id);
    this.#options.report(id, { do: 'delete-volume', attachedTo: [...volume.attachedTo], publishedOn });
    if (volume.attachedTo.size > 0) throw new RpcError('FailedPrecondition', `${id} is attached`);
    this.#backend.volumes.delete(id);
    this.#options.onDisk({ type: 'deleted', handle: id });
    return {};
  }

  #publish({ volumeId: id }: ControllerPublishVolumeRequest, node: string): { publishContext: Record<string, string> } {
    const volume = this.#volume(id);
    const { limit } = this.#backend.features;
    const attached = Array.from(this.#backend.volumes.values()).filter(({ attachedTo }) => attachedTo.has(node));
    if (limit > 0 && attached.length >= limit && !attached.includes(volume)) throw new RpcError('ResourceExhausted', `${node} has ${limit} volumes`);
    if (!volume.attachedTo.has(node)) {
      volume.attachedTo.add(node);
      this.#options.onDisk({ type: 'attached', handle: id, node });
    }
    return { publishContext: { device: `/dev/${id}` } };
  }

  #unpublish(id: string, node: string): Record<string, never> {
    const volume = this.#backend.volumes.get(id);
    if (volume?.attachedTo.has(node) !== true) return {};
    this.#options.report(id, { do: 'detach', node, stagedOrPublished: this.#backend.nodesWith(id).includes(node) });
    volume.attachedTo.delete(node);
    this.#options.onDisk({ type: 'detached', handle: id, node });
    return {};
  }

  #expand(id: string, requiredBytes: bigint): { capacityBytes: bigint; nodeExpansionRequired: boolean } {
    const volume = this.#volume(id);
    const { expansion, extraGi } = this.#backend.features;
    if (volume.bytes < requiredBytes) {
      if (expansion === 'offline' && volume.attachedTo.size + this.#backend.nodesWith(id).length > 0)
        throw new RpcError('FailedPrecondition', `${id} is published, and can be expanded offline only`);
      volume.bytes = requiredBytes + BigInt(extraGi) * gi;
      this.#options.onDisk({ type: 'grown', handle: id, capacity: quantity(volume.bytes) });
    }
    return { capacityBytes: volume.bytes, nodeExpansionRequired: expansion === 'node' };
  }

  #snapshot(name: string, source: string): MessageInitShape<typeof SnapshotSchema> {
    const known = Array.from(this.#backend.snapshots.values()).find((snapshot) => snapshot.name === name && snapshot.group === '');
    if (known === undefined) return describedSnapshot(this.#backend.takeSnapshot(name, this.#volume(source)));
    if (known.volume !== source) throw new RpcError('AlreadyExists', `snapshot ${name} is one of another volume`);
    if (known.pending > 0) known.pending--;
    return describedSnapshot(known);
  }

  #deleteSnapshot(id: string): void {
    if (this.#backend.snapshots.delete(id)) this.#options.report(id, { do: 'delete-snapshot' });
  }

  #groupId(name: string): string {
    return `${this.#backend.features.prefix}.group-${name}`;
  }

  #group(id: string): MessageInitShape<typeof VolumeGroupSnapshotSchema> {
    return { groupSnapshotId: id, snapshots: this.#backend.membersOf(id).map(describedSnapshot), creationTime: second, readyToUse: true };
  }
}

const quantity = (bytes: bigint): string => formatQuantity(quantityOf(bytes, 'BinarySI'));

const sourceId = (origin: Origin): string => (origin.type === 'empty' ? '' : origin.id);

function idOfSource({ volumeContentSource }: CreateVolumeRequest): string {
  const source = volumeContentSource?.type;
  if (source?.case === undefined) return '';
  return source.case === 'snapshot' ? source.value.snapshotId : source.value.volumeId;
}

function described({ id, bytes, origin, zone }: CsiBackendVolume, key = ''): MessageInitShape<typeof VolumeSchema> {
  return {
    volumeId: id,
    capacityBytes: bytes,
    ...(zone === undefined ? {} : { accessibleTopology: [{ segments: { [key]: zone } }] }),
    ...(origin.type === 'empty' ? {} : { contentSource: { type: contentSource(origin) } }),
  };
}

const contentSource = ({ type, id }: Exclude<Origin, { type: 'empty' }>) =>
  type === 'snapshot' ? { case: 'snapshot' as const, value: { snapshotId: id } } : { case: 'volume' as const, value: { volumeId: id } };

const describedSnapshot = ({ id, volume, bytes, pending, group }: CsiBackendSnapshot): MessageInitShape<typeof SnapshotSchema> => ({
  snapshotId: id,
  sourceVolumeId: volume,
  sizeBytes: bytes,
  creationTime: second,
  readyToUse: pending === 0,
  groupSnapshotId: group,
});
