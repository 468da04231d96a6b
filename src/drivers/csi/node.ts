import {
  type DriverAnswer,
  type NodeExpandVolumeRequest,
  failed,
  type NodeDriver,
  type NodePublishVolumeResponse,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
} from '../contract.ts';
import type { Usage } from '../../world/mounts.ts';
import { attempt, type NodeHost, removeMountPoint } from '../mount/node-host.ts';

/** Beside what is mounted, as with kubelets: whose volume it is. Those who unmount it know nothing else of it. */
const note = 'vol_data.json';

/**
 * Volumes of CSI drivers: kubernetes.io/csi. Here it is found out whose each is; `drivers` do the rest, by name. A volume is mounted at `mount`
 * below its place, and `vol_data.json` beside it is written before anything is mounted and removed after nothing is.
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
      attempt(() => csi.remove(target, (driver, place) => driver.nodeUnpublishVolume({ target: place, name, podUid }))),
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
    if (found.value.nodeStageVolume === undefined) return { ok: true, value: undefined };
    await this.#write(above(request.stagingPath), found.value);
    return found.value.nodeStageVolume(request);
  }

  unstage(handle: string, stagingPath: string): Promise<DriverAnswer<undefined>> {
    const nothing = { ok: true, value: undefined } as const;
    return this.remove(above(stagingPath), async (driver) => (await driver.nodeUnstageVolume?.({ handle, stagingPath })) ?? nothing, stagingPath);
  }

  async publish(request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const found = this.#driverOf(request.volume.source.csi?.driver);
    if (!found.ok) return found;
    if (request.volume.mode === 'Block' && !found.value.capabilities.block)
      return failed('InvalidArgument', `${found.value.capabilities.name} has no block volumes`);
    await this.#write(request.target, found.value);
    return found.value.nodePublishVolume({ ...request, target: `${request.target}/mount` });
  }

  async expand(request: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>> {
    const found = this.#driverOf(request.volume.source.csi?.driver);
    if (!found.ok) return found;
    return found.value.nodeExpandVolume?.(request) ?? { ok: true, value: undefined };
  }

  async stats(path: string): Promise<DriverAnswer<Usage>> {
    const found = this.#driverOf(await this.#read(above(path)));
    if (!found.ok) return found;
    return found.value.nodeGetVolumeStats?.(path) ?? { ok: true, value: await this.#host.files.usage(path) };
  }

  /** Takes away what was mounted, then the note, then the directory: whoever finds less than all of it goes on from there. */
  async remove(
    directory: string,
    undo: (driver: NodeDriver, place: string) => Promise<DriverAnswer<undefined>>,
    place = `${directory}/mount`,
  ): Promise<DriverAnswer<undefined>> {
    const { files } = this.#host;
    if ((await files.stat(directory)) === undefined) return { ok: true, value: undefined };
    const name = await this.#read(directory);
    // Without a note nothing was mounted, or nothing is any more.
    const found = name === undefined ? undefined : this.#driverOf(name);
    if (found !== undefined && !found.ok) return found;
    const undone = found === undefined ? undefined : await undo(found.value, place);
    if (undone !== undefined && !undone.ok) return undone;
    await removeMountPoint(this.#host, place);
    if ((await files.stat(`${directory}/${note}`)) !== undefined) await files.removeFile(`${directory}/${note}`);
    await files.removeDirectory(directory);
    return { ok: true, value: undefined };
  }

  #driverOf(name = ''): DriverAnswer<NodeDriver> {
    const value = this.#drivers.get(name);
    return value === undefined ? failed('FailedPrecondition', `driver name ${name} not found in the list of registered CSI drivers`) : { ok: true, value };
  }

  async #write(directory: string, { capabilities: facts }: NodeDriver): Promise<void> {
    if ((await this.#read(directory)) === facts.name) return;
    await this.#host.files.makeDirectory(directory, 0o750);
    await this.#host.files.write(`${directory}/${note}`, new TextEncoder().encode(JSON.stringify({ driverName: facts.name })), 0o600);
  }

  /** One that cannot be read was being written when the process died. */
  async #read(directory: string): Promise<string | undefined> {
    const { files } = this.#host;
    if ((await files.stat(`${directory}/${note}`)) === undefined) return undefined;
    try {
      const written = JSON.parse(new TextDecoder().decode(await files.read(`${directory}/${note}`))) as { readonly driverName?: unknown };
      return typeof written.driverName === 'string' ? written.driverName : undefined;
    } catch {
      return undefined;
    }
  }
}

const above = (path: string): string => path.slice(0, path.lastIndexOf('/'));
