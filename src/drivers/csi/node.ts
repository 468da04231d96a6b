import {
  attempt,
  type CsiSocket,
  done,
  type DriverAnswer,
  failed,
  type NodeDriver,
  type NodeExpandVolumeRequest,
  type NodePublishVolumeRequest,
  type NodePublishVolumeResponse,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
  succeeded,
  type VolumeHealth,
  type VolumeStats,
} from '../contract.ts';
import type { CsiSource } from '../../api/volumes/csi-translation.ts';
import { directoryOf, type NodeHost } from '../mount/node-host.ts';
import type { CsiSocketOptions } from './node-calls.ts';
import { blockPaths, readVolumeData, removeVolumeDirectory, type VolumeData, writeVolumeData } from './node-layout.ts';
import { SocketNode } from './node-socket.ts';

/**
 * CSI volumes: kubernetes.io/csi. Dispatches to the driver that the volume names: one of `drivers`, in this process, or one that is registered by its
 * socket. A volume is mounted at `mount` below its directory. `vol_data.json` beside it is written before the mount and removed after the unmount.
 */
export function csiNode(host: NodeHost, drivers: readonly NodeDriver[], sockets?: CsiSocketOptions): NodeDriver {
  const csi = new CsiNode(host, new Map(drivers.map((driver) => [driver.capabilities.name, driver])), sockets);
  return {
    capabilities: { name: 'kubernetes.io/csi', stages: true, mountOptions: true, block: true, requiresRemount: false },
    nodeStageVolume: (request) => attempt(() => csi.stage(request)),
    nodeUnstageVolume: (request) => attempt(() => csi.unstage(request)),
    nodePublishVolume: (request) => attempt(() => csi.publish(request)),
    nodeUnpublishVolume: (request) => attempt(() => csi.unpublish(request)),
    nodeExpandVolume: (request) => attempt(() => csi.expand(request)),
    expandsPublished: ({ source }) => !csi.isInProcess(source.csi?.driver ?? ''),
    nodeGetVolumeStats: (path) => attempt(() => csi.stats(path)),
    nodeGetVolumeHealth: (source, path) => attempt(() => csi.health(source, path)),
  };
}

type FoundDriver =
  | { readonly type: 'in-process'; readonly driver: NodeDriver }
  | { readonly type: 'socket'; readonly socket: CsiSocket; readonly node: SocketNode };

class CsiNode {
  readonly #host: NodeHost;
  readonly #drivers: ReadonlyMap<string, NodeDriver>;
  readonly #sockets: CsiSocketOptions | undefined;
  readonly #node: SocketNode | undefined;

  constructor(host: NodeHost, drivers: ReadonlyMap<string, NodeDriver>, sockets: CsiSocketOptions | undefined) {
    this.#host = host;
    this.#drivers = drivers;
    this.#sockets = sockets;
    this.#node = sockets === undefined ? undefined : new SocketNode(sockets);
  }

  isInProcess(driver: string): boolean {
    return this.#drivers.has(driver);
  }

  async stage(request: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
    const found = this.#find(request.volume.source.csi?.driver, 'attacher.MountDevice failed to create newCsiDriverClient');
    if (!found.ok) return found;
    if (found.value.type === 'socket') return found.value.node.stage(found.value.socket, request);
    const { driver } = found.value;
    if (driver.nodeStageVolume === undefined) return done;
    await writeVolumeData(this.#host, directoryOf(request.stagingPath), dataOf(request, driver));
    return driver.nodeStageVolume(request);
  }

  async unstage(request: NodeUnstageVolumeRequest): Promise<DriverAnswer<undefined>> {
    const { handle, stagingPath } = request;
    const directory = directoryOf(stagingPath);
    if ((await this.#host.files.stat(directory)) === undefined) return done;
    const csi = sourceOf(await readVolumeData(this.#host, directory)) ?? request.csi;
    // Neither the file nor the journal names a driver: nothing was staged.
    if (csi === undefined) return this.#removeDirectory(stagingPath);
    const found = this.#find(csi.driver, 'attacher.UnmountDevice failed to create newCsiDriverClient');
    if (!found.ok) return found;
    if (found.value.type === 'socket') return found.value.node.unstage(found.value.socket, { ...request, csi: complete(csi, request.csi) });
    const undone = (await found.value.driver.nodeUnstageVolume?.({ handle, stagingPath })) ?? done;
    return undone.ok ? this.#removeDirectory(stagingPath) : undone;
  }

  async publish(request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const what = request.volume.mode === 'Block' ? 'blockMapper.MapPodDevice' : 'mounter.SetUpAt';
    const found = this.#find(request.volume.source.csi?.driver, `${what} failed to get CSI client`);
    if (!found.ok) return found;
    if (found.value.type === 'socket') return found.value.node.publish(found.value.socket, request);
    const { driver } = found.value;
    if (request.volume.mode === 'Block' && !driver.capabilities.block)
      return failed('InvalidArgument', `${driver.capabilities.name} does not support block volumes`);
    await writeVolumeData(this.#host, request.target, dataOf(request, driver));
    return driver.nodePublishVolume({ ...request, target: `${request.target}/mount` });
  }

  async unpublish(request: NodeUnpublishVolumeRequest): Promise<DriverAnswer<undefined>> {
    const { target, name, podUid } = request;
    const data = await this.#publishedData(request);
    const csi = sourceOf(data?.value) ?? ((await this.#host.files.stat(target)) === undefined ? undefined : request.csi);
    if (csi === undefined) return this.#removeDirectory(`${target}/mount`);
    const found = this.#find(csi.driver, 'Unmounter.TearDownAt failed to get CSI client');
    if (!found.ok) return found;
    if (found.value.type === 'socket')
      return found.value.node.unpublish(found.value.socket, { ...request, csi: complete(csi, request.csi) }, data?.isBlock ?? isBlockTarget(target));
    const undone = await found.value.driver.nodeUnpublishVolume({ target: `${target}/mount`, name, podUid });
    return undone.ok ? this.#removeDirectory(`${target}/mount`) : undone;
  }

  async expand(request: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>> {
    const found = this.#find(request.volume.source.csi?.driver, 'Expander.NodeExpand failed');
    if (!found.ok) return found;
    if (found.value.type === 'socket') return found.value.node.expand(found.value.socket, request);
    return found.value.driver.nodeExpandVolume?.(request) ?? done;
  }

  async stats(path: string): Promise<DriverAnswer<VolumeStats>> {
    const data = await readVolumeData(this.#host, directoryOf(path));
    const found = this.#find(data?.driverName, 'failed to get CSI client');
    if (!found.ok) return found;
    if (found.value.type === 'socket') return found.value.node.stats(found.value.socket, data?.volumeHandle ?? '', path);
    return found.value.driver.nodeGetVolumeStats?.(path) ?? succeeded(await this.#host.files.usage(path));
  }

  async health(csi: CsiSource, path: string): Promise<DriverAnswer<VolumeHealth | undefined>> {
    const found = this.#find(csi.driver, 'failed to get CSI client');
    if (!found.ok) return found;
    return found.value.type === 'socket' ? found.value.node.health(found.value.socket, csi.handle, path) : done;
  }

  /** After a crash the next call continues. */
  async #removeDirectory(mountPath: string): Promise<DriverAnswer<undefined>> {
    const stat = await this.#host.files.stat(directoryOf(mountPath));
    if (stat !== undefined && stat.type !== 'link') await removeVolumeDirectory(this.#host, mountPath);
    return done;
  }

  /** Of a block volume that a socket's driver published, the data is not in the pod's directory. */
  async #publishedData({ target, name, csi }: NodeUnpublishVolumeRequest): Promise<{ readonly value: VolumeData; readonly isBlock: boolean } | undefined> {
    const isDirectory = (await this.#host.files.stat(target))?.type === 'directory';
    const own = isDirectory ? await readVolumeData(this.#host, target) : undefined;
    if (own !== undefined) return { value: own, isBlock: false };
    if (!isBlockTarget(target) || this.#sockets === undefined) return undefined;
    const shared = await readVolumeData(this.#host, blockPaths(this.#sockets.root, name).data);
    return shared === undefined || (csi !== undefined && shared.volumeHandle !== csi.handle) ? undefined : { value: shared, isBlock: true };
  }

  #find(name = '', call = ''): DriverAnswer<FoundDriver> {
    const driver = this.#drivers.get(name);
    if (driver !== undefined) return succeeded({ type: 'in-process', driver });
    const socket = this.#sockets?.csiSocket(name);
    if (socket !== undefined && this.#node !== undefined) return succeeded({ type: 'socket', socket, node: this.#node });
    return failed('Unavailable', `kubernetes.io/csi: ${call}: driver name ${name} not found in the list of registered CSI drivers`);
  }
}

const isBlockTarget = (target: string): boolean => target.includes('/volumeDevices/');

const sourceOf = (data: VolumeData | undefined): CsiSource | undefined =>
  data === undefined ? undefined : { driver: data.driverName, handle: data.volumeHandle ?? '' };

/** Files of earlier versions name the driver only. */
const complete = (csi: CsiSource, recorded: CsiSource | undefined): CsiSource => (csi.handle === '' ? (recorded ?? csi) : csi);

function dataOf({ volume }: Pick<NodeStageVolumeRequest, 'volume'>, { capabilities }: NodeDriver): VolumeData {
  const { csi } = volume.source;
  return { driverName: capabilities.name, specVolID: volume.name, ...(csi !== undefined && 'volumeHandle' in csi ? { volumeHandle: csi.volumeHandle } : {}) };
}
