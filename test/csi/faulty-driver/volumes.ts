import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import {
  type Controller,
  type CreateVolumeRequest,
  ControllerServiceCapability_RPC_Type as Rpc,
  type Volume,
  VolumeSchema,
  VolumeCapability_AccessMode_Mode as Mode,
  type VolumeContentSource,
  VolumeContentSourceSchema,
} from '../../../src/grpc/generated/csi.ts';
import type { Implementation } from '../../../src/grpc/service.ts';
import { RpcError } from '../../../src/grpc/status.ts';
import { cancelledOrLate, type DriverState, moment, required, type StoredVolume } from './driver-state.ts';
import { pageOf } from './pages.ts';
import { removeSnapshot, snapshotMethods } from './snapshots.ts';

const capabilities = [
  Rpc.CREATE_DELETE_VOLUME,
  Rpc.PUBLISH_UNPUBLISH_VOLUME,
  Rpc.LIST_VOLUMES,
  Rpc.LIST_VOLUMES_PUBLISHED_NODES,
  Rpc.CREATE_DELETE_SNAPSHOT,
  Rpc.LIST_SNAPSHOTS,
  Rpc.CLONE_VOLUME,
  Rpc.EXPAND_VOLUME,
  Rpc.SINGLE_NODE_MULTI_WRITER,
];

const sourceText = (source: VolumeContentSource | undefined): string => {
  if (source?.type.case === 'snapshot') return `snapshot ${source.type.value.snapshotId}`;
  return source?.type.case === 'volume' ? `volume ${source.type.value.volumeId}` : '';
};

const answerOf = ({ id, size, source }: StoredVolume): Volume => {
  const [kind, sourceId = ''] = source.split(' ');
  const volume = create(VolumeSchema, { volumeId: id, capacityBytes: BigInt(size) });
  if (kind === 'snapshot') volume.contentSource = create(VolumeContentSourceSchema, { type: { case: 'snapshot', value: { snapshotId: sourceId } } });
  if (kind === 'volume') volume.contentSource = create(VolumeContentSourceSchema, { type: { case: 'volume', value: { volumeId: sourceId } } });
  return volume;
};

function sizeOf({ capacityRange }: CreateVolumeRequest): number {
  const [least, most] = [Number(capacityRange?.requiredBytes ?? 0n), Number(capacityRange?.limitBytes ?? 0n)];
  if (most > 0 && least > most) throw new RpcError('OutOfRange', 'required_bytes is above limit_bytes');
  return least === 0 ? 1 << 20 : least;
}

export function controllerMethods(state: DriverState): Implementation<typeof Controller> {
  const { data } = state;

  async function createVolume(request: CreateVolumeRequest, signal: AbortSignal): Promise<{ volume: Volume }> {
    const name = required(request.name, 'name');
    const [capability] = request.volumeCapabilities;
    if (capability === undefined) throw new RpcError('InvalidArgument', 'volume_capabilities are missing');
    if (request.secrets['password'] === undefined && !state.has('secrets-unchecked')) throw new RpcError('Unauthenticated', 'the secret password is missing');
    const source = sourceText(request.volumeContentSource);
    const size = answeredSize(sizeOf(request), source);
    const existing = Object.values(data.volumes).find((each) => each.name === name);
    if (existing !== undefined && !state.has('create-not-idempotent')) return { volume: existingVolume(existing, size, source) };
    const id = state.newId('volume');
    fill(id, source);
    if (state.has('create-races')) await moment();
    if (state.has('create-leaks-when-cancelled')) {
      await cancelledOrLate(signal);
      if (signal.aborted) throw new RpcError('Canceled', 'the call was cancelled');
    }
    const isBlock = capability.accessType.case === 'block';
    const volume = { id, name, size, source, isBlock, mode: capability.accessMode?.mode ?? 0, node: '', isReadonly: false };
    data.volumes[id] = state.has('create-too-small') ? { ...volume, size: Math.floor(size / 2) } : volume;
    state.save();
    return { volume: { ...answerOf(data.volumes[id]), ...(state.has('create-wrong-id') ? { volumeId: `${id}-of-${name}` } : {}) } };
  }

  function answeredSize(size: number, source: string): number {
    if (state.has('create-ignores-limit')) return Math.ceil(size / 4096) * 4096 + 4096;
    const cloned = source.startsWith('volume ') ? data.volumes[source.slice('volume '.length)] : undefined;
    return cloned !== undefined && state.has('clone-has-size-of-source') ? cloned.size : size;
  }

  function existingVolume(volume: StoredVolume, size: number, source: string): Volume {
    if (volume.size < size && !state.has('create-accepts-other-size') && !state.has('create-too-small'))
      throw new RpcError('AlreadyExists', `${volume.name} exists with ${volume.size} bytes`);
    if (volume.source !== source || (state.has('clone-not-idempotent') && source.startsWith('volume')))
      throw new RpcError('AlreadyExists', `${volume.name} exists from another source`);
    return { ...answerOf(volume), ...(state.has('create-answers-other-size') ? { capacityBytes: BigInt(volume.size * 2) } : {}) };
  }

  function contentOf(sourceId: string): string {
    const snapshot = data.snapshots[sourceId];
    const isLate = snapshot !== undefined && state.has('snapshot-taken-late') && data.volumes[snapshot.sourceVolumeId] !== undefined;
    return state.pathOf(isLate ? snapshot.sourceVolumeId : sourceId);
  }

  function fill(id: string, source: string): void {
    const [kind, sourceId = ''] = source.split(' ');
    const exists = kind === 'snapshot' ? data.snapshots[sourceId] !== undefined : data.volumes[sourceId] !== undefined;
    if (source !== '' && !exists) throw new RpcError('NotFound', `the source ${source} does not exist`);
    if (kind === 'volume' && state.has('clone-shares-source')) return symlinkSync(state.pathOf(sourceId), state.pathOf(id));
    mkdirSync(state.pathOf(id), { recursive: true });
    if (source !== '' && !(kind === 'snapshot' && state.has('restore-is-empty'))) cpSync(contentOf(sourceId), state.pathOf(id), { recursive: true });
  }

  return {
    controllerGetCapabilities: async () => ({ capabilities: capabilities.map((type) => ({ type: { case: 'rpc', value: { type } } })) }),
    createVolume: (request, { signal }) =>
      state.has('create-races') ? createVolume(request, signal) : state.locked(`volume named ${request.name}`, signal, () => createVolume(request, signal)),
    deleteVolume: (request, { signal }) =>
      state.locked(required(request.volumeId, 'volume_id'), signal, () => {
        const { volumeId } = request;
        if (data.volumes[volumeId] === undefined) {
          if (state.has('delete-missing-fails')) throw new RpcError('NotFound', `volume ${volumeId} does not exist`);
          return {};
        }
        if (state.has('snapshot-goes-with-volume'))
          for (const { id, sourceVolumeId } of Object.values(data.snapshots)) if (sourceVolumeId === volumeId) removeSnapshot(state, id);
        if (!state.has('delete-leaves-files')) rmSync(state.pathOf(volumeId), { recursive: true, force: true });
        delete data.volumes[volumeId];
        state.save();
        return {};
      }),
    validateVolumeCapabilities: async (request) => {
      if (!state.has('validate-unknown-accepted') || request.volumeId === '') state.volume(request.volumeId);
      if (request.volumeCapabilities.length === 0) throw new RpcError('InvalidArgument', 'volume_capabilities are missing');
      return { confirmed: { volumeCapabilities: request.volumeCapabilities } };
    },
    listVolumes: async ({ maxEntries, startingToken }) => {
      const { page, nextToken } = pageOf(state, Object.values(data.volumes), { maxEntries, startingToken });
      const entries = page.map((volume) => ({ volume: answerOf(volume), status: { publishedNodeIds: volume.node === '' ? [] : [volume.node] } }));
      return { entries, nextToken };
    },
    controllerPublishVolume: (request, { signal }) =>
      state.locked(required(request.volumeId, 'volume_id'), signal, () => {
        const nodeId = required(request.nodeId, 'node_id');
        if (request.volumeCapability === undefined) throw new RpcError('InvalidArgument', 'volume_capability is missing');
        const volume = state.volume(request.volumeId);
        if (nodeId !== state.nodeId) {
          if (!state.has('attach-elsewhere-accepted'))
            throw new RpcError(volume.node === '' ? 'NotFound' : 'FailedPrecondition', `node ${nodeId} is unknown, published at ${volume.node}`);
          return {};
        }
        if (volume.node !== '' && state.has('attach-repeated-fails')) throw new RpcError('FailedPrecondition', `the volume is attached to ${volume.node}`);
        if (volume.node !== '' && volume.isReadonly !== request.readonly)
          throw new RpcError('AlreadyExists', 'the volume is published with another readonly flag');
        Object.assign(volume, { node: nodeId, isReadonly: request.readonly });
        state.save();
        return {};
      }),
    controllerUnpublishVolume: (request, { signal }) =>
      state.locked(required(request.volumeId, 'volume_id'), signal, () => {
        if (request.nodeId === '' && state.has('detach-needs-node')) throw new RpcError('InvalidArgument', 'node_id is missing');
        const volume = data.volumes[request.volumeId];
        if (volume === undefined || volume.node === '') {
          if (state.has('detach-missing-fails')) throw new RpcError('Internal', 'the volume is not attached');
          return {};
        }
        volume.node = '';
        state.save();
        return {};
      }),
    controllerExpandVolume: (request, { signal }) =>
      state.locked(required(request.volumeId, 'volume_id'), signal, () => {
        const volume = state.volume(request.volumeId);
        if (request.capacityRange === undefined) throw new RpcError('InvalidArgument', 'capacity_range is missing');
        const size = Number(request.capacityRange.requiredBytes);
        if (size === volume.size && state.has('expand-repeated-fails')) throw new RpcError('InvalidArgument', `the volume has ${size} bytes already`);
        volume.size = state.has('expand-shrinks') ? size : Math.max(size, volume.size);
        state.save();
        return { capacityBytes: state.has('expand-answers-zero') ? 0n : BigInt(volume.size) };
      }),
    ...snapshotMethods(state),
  };
}

export const isShared = ({ mode }: StoredVolume): boolean =>
  mode === Mode.SINGLE_NODE_MULTI_WRITER ||
  mode === Mode.MULTI_NODE_MULTI_WRITER ||
  mode === Mode.MULTI_NODE_READER_ONLY ||
  mode === Mode.MULTI_NODE_SINGLE_WRITER;
