import {
  attempt,
  done,
  type DriverAnswer,
  failed,
  type NodeDriver,
  type NodeExpandVolumeRequest,
  type NodePublishVolumeRequest,
  type NodePublishVolumeResponse,
  type NodeStageVolumeRequest,
  succeeded,
} from '../contract.ts';
import type { Usage } from '../../world/mounts.ts';
import { directoryOf, type NodeHost, removeMountPoint } from '../mount/node-host.ts';

/** The kubelet's file beside the mount point. It names the driver, for unmounting. */
const volumeDataFile = 'vol_data.json';

/**
 * CSI volumes: kubernetes.io/csi. Dispatches to the driver that the volume names. A volume is mounted at `mount` below its directory.
 * `vol_data.json` beside it is written before the mount and removed after the unmount.
 */
export function csiNode(host: NodeHost, drivers: readonly NodeDriver[]): NodeDriver {
  const byName = new Map(drivers.map((driver) => [driver.capabilities.name, driver]));
  const csi = new CsiNode(host, byName);
  return {
    capabilities: { name: 'kubernetes.io/csi', stages: true, mountOptions: true, block: true, requiresRemount: false },
    nodeStageVolume: (request) => attempt(() => csi.stage(request)),
    nodeUnstageVolume: ({ handle, stagingPath }) => attempt(() => csi.unstage(handle, stagingPath)),
    nodePublishVolume: (request) => attempt(() => csi.publish(request)),
    nodeUnpublishVolume: ({ target, name, podUid }) =>
      attempt(() => csi.remove(target, (driver, mountPath) => driver.nodeUnpublishVolume({ target: mountPath, name, podUid }))),
    nodeExpandVolume: (request) => attempt(() => csi.expand(request)),
    nodeGetVolumeStats: (path) => attempt(() => csi.stats(path)),
  };
}

class CsiNode {
  readonly #host: NodeHost;
  readonly #drivers: ReadonlyMap<string, NodeDriver>;

  constructor(host: NodeHost, drivers: ReadonlyMap<string, NodeDriver>) {
    this.#host = host;
    this.#drivers = drivers;
  }

  async stage(request: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
    const found = this.#driverOf(request.volume.source.csi?.driver);
    if (!found.ok) return found;
    if (found.value.nodeStageVolume === undefined) return done;
    await this.#write(directoryOf(request.stagingPath), found.value);
    return found.value.nodeStageVolume(request);
  }

  unstage(handle: string, stagingPath: string): Promise<DriverAnswer<undefined>> {
    return this.remove(directoryOf(stagingPath), async (driver) => (await driver.nodeUnstageVolume?.({ handle, stagingPath })) ?? done, stagingPath);
  }

  async publish(request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const found = this.#driverOf(request.volume.source.csi?.driver);
    if (!found.ok) return found;
    if (request.volume.mode === 'Block' && !found.value.capabilities.block)
      return failed('InvalidArgument', `${found.value.capabilities.name} does not support block volumes`);
    await this.#write(request.target, found.value);
    return found.value.nodePublishVolume({ ...request, target: `${request.target}/mount` });
  }

  async expand(request: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>> {
    const found = this.#driverOf(request.volume.source.csi?.driver);
    if (!found.ok) return found;
    return found.value.nodeExpandVolume?.(request) ?? done;
  }

  async stats(path: string): Promise<DriverAnswer<Usage>> {
    const found = this.#driverOf(await this.#read(directoryOf(path)));
    if (!found.ok) return found;
    return found.value.nodeGetVolumeStats?.(path) ?? succeeded(await this.#host.files.usage(path));
  }

  /** Removes the mount, then the file, then the directory: after a crash the next call continues. */
  async remove(
    directory: string,
    unmount: (driver: NodeDriver, mountPath: string) => Promise<DriverAnswer<undefined>>,
    mountPath = `${directory}/mount`,
  ): Promise<DriverAnswer<undefined>> {
    const { files } = this.#host;
    if ((await files.stat(directory)) === undefined) return done;
    const name = await this.#read(directory);
    // Without the file, nothing is mounted.
    const found = name === undefined ? undefined : this.#driverOf(name);
    if (found !== undefined && !found.ok) return found;
    const undone = found === undefined ? undefined : await unmount(found.value, mountPath);
    if (undone !== undefined && !undone.ok) return undone;
    await removeMountPoint(this.#host, mountPath);
    if ((await files.stat(`${directory}/${volumeDataFile}`)) !== undefined) await files.removeFile(`${directory}/${volumeDataFile}`);
    await files.removeDirectory(directory);
    return done;
  }

  #driverOf(name = ''): DriverAnswer<NodeDriver> {
    const value = this.#drivers.get(name);
    return value === undefined ? failed('FailedPrecondition', `driver name ${name} not found in the list of registered CSI drivers`) : succeeded(value);
  }

  async #write(directory: string, { capabilities: { name } }: NodeDriver): Promise<void> {
    if ((await this.#read(directory)) === name) return;
    await this.#host.files.makeDirectory(directory, 0o750);
    await this.#host.files.write(`${directory}/${volumeDataFile}`, new TextEncoder().encode(JSON.stringify({ driverName: name })), 0o600);
  }

  /** An invalid file was being written when the process died. */
  async #read(directory: string): Promise<string | undefined> {
    const { files } = this.#host;
    if ((await files.stat(`${directory}/${volumeDataFile}`)) === undefined) return undefined;
    try {
      const written = JSON.parse(new TextDecoder().decode(await files.read(`${directory}/${volumeDataFile}`))) as { readonly driverName?: unknown };
      return typeof written.driverName === 'string' ? written.driverName : undefined;
    } catch {
      return undefined;
    }
  }
}
