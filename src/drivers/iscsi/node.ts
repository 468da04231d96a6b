import type { Pod, Secret } from '../../api/generated/types.ts';
import { KeyedMutex } from '../../world/keyed-mutex.ts';
import {
  attempt,
  done,
  type DriverAnswer,
  failed,
  type NodeDriver,
  type NodePublishVolumeRequest,
  type NodePublishVolumeResponse,
  type NodeStageVolumeRequest,
  succeeded,
} from '../contract.ts';
import { formatAndMount } from '../mount/format-and-mount.ts';
import { directoryOf, ensureBound, ensureUnmounted, mountAt, removeMountPoint, removeStaging } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';
import { type Chap, Initiator, type InitiatorOptions } from './initiator.ts';
import { disksOf, multipathOf } from './sessions.ts';
import { diskOf, type IscsiDisk } from './target.ts';

export interface IscsiOptions extends InitiatorOptions {
  /** 'namespace/name' */
  readonly secret: (key: string) => Secret | undefined;
}

/** Beside the staging path; written before the disk is attached, removed after it is detached. */
const recordFile = 'iscsi.json';
const flushMs = 60_000;

/** kubernetes.io/iscsi: the node attaches the disk of a target, stages it, and bind-mounts it for each pod. */
export function iscsiNode(options: IscsiOptions): NodeDriver {
  const iscsi = new IscsiVolumes(options);
  return {
    capabilities: { name: 'kubernetes.io/iscsi', stages: true, mountOptions: true, block: true, requiresRemount: false },
    nodeStageVolume: (request) => attempt(() => iscsi.stage(request)),
    nodeUnstageVolume: ({ stagingPath }) => attempt(() => iscsi.unstage(stagingPath)),
    nodePublishVolume: (request) => attempt(() => iscsi.publish(request)),
    nodeUnpublishVolume: ({ target }) => attempt(async () => removeMountPoint(options, target).then(() => done)),
  };
}

class IscsiVolumes {
  readonly #options: IscsiOptions;
  readonly #initiator: Initiator;
  /** By target: a logout must not run during a login. */
  readonly #sessions = new KeyedMutex();

  constructor(options: IscsiOptions) {
    this.#options = options;
    this.#initiator = new Initiator(options);
  }

  async stage({ volume, stagingPath, pod }: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
    const disk = diskOf(volume);
    if (!disk.ok) return disk;
    if ((await mountAt(this.#options, stagingPath)) !== undefined) return done;
    const chap = this.#chapOf(volume, pod);
    if (!chap.ok) return chap;
    await this.#write(directoryOf(stagingPath), disk.value);
    const device = await this.#sessions.run(disk.value.iqn, () => this.#initiator.attach(disk.value, chap.value));
    if (!device.ok || volume.mode === 'Block') return device.ok ? done : device;
    const mountOptions = [...new Set([...volume.mountOptions, ...(volume.readOnly ? ['ro'] : [])])];
    const fileSystem = volume.source.iscsi?.fsType ?? '';
    return (await formatAndMount(this.#options, { device: device.value, target: stagingPath, fileSystem, options: mountOptions })) ?? done;
  }

  async unstage(stagingPath: string): Promise<DriverAnswer<undefined>> {
    const { files, programs } = this.#options;
    const directory = directoryOf(stagingPath);
    await ensureUnmounted(this.#options, stagingPath);
    const disk = await this.#read(directory);
    if (disk !== undefined) {
      const refused = await this.#sessions.run(disk.iqn, async () => {
        for (const name of await disksOf(files, disk)) {
          const multipath = await multipathOf(files, name);
          if (multipath !== undefined) await programs.run('multipath', ['-f', multipath], { timeoutMs: flushMs });
          // Removes the disk from the kernel. A logout would too, but other disks may share the session.
          await files.write(`/sys/block/${name}/device/delete`, new TextEncoder().encode('1'), 0o200).catch(() => undefined);
        }
        return (await this.#isShared(stagingPath, disk)) ? undefined : this.#initiator.detach(disk);
      });
      if (refused !== undefined) return refused;
      await files.removeFile(`${directory}/${recordFile}`);
    }
    // Left by a process that died while writing it.
    if ((await files.stat(`${directory}/${recordFile}.new`)) !== undefined) await files.removeFile(`${directory}/${recordFile}.new`);
    await removeStaging(this.#options, stagingPath);
    return done;
  }

  async publish({ volume, pod, target, stagingPath = '', recordEvent }: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const { files, clock } = this.#options;
    if (volume.mode === 'Block') return this.#device(volume);
    if ((await mountAt(this.#options, stagingPath)) === undefined) return failed('FailedPrecondition', `nothing is staged at ${stagingPath}`);
    const { readOnly, mountOptions } = volume;
    await ensureBound(this.#options, { source: stagingPath, target, readOnly, options: mountOptions });
    if (!readOnly) await setVolumeOwnership(target, { files, clock, pod, readOnly, when: 'policy', recordEvent });
    return succeeded({ path: target });
  }

  async #device(volume: NodeStageVolumeRequest['volume']): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const disk = diskOf(volume);
    if (!disk.ok) return disk;
    const [name] = await disksOf(this.#options.files, disk.value);
    if (name === undefined) return failed('FailedPrecondition', `there is no device of ${disk.value.iqn} lun ${disk.value.lun}`);
    return succeeded({ path: (await multipathOf(this.#options.files, name)) ?? `/dev/${name}` });
  }

  #chapOf({ source, name }: NodeStageVolumeRequest['volume'], pod: Pod | undefined): DriverAnswer<Chap> {
    const { chapAuthDiscovery: discovery = false, chapAuthSession: session = false, secretRef } = source.iscsi ?? {};
    const anonymous = { discovery, session, secret: new Map<string, string>() };
    const { name: secretName = '', namespace = pod?.metadata.namespace ?? '' } = (secretRef ?? {}) as { readonly name?: string; readonly namespace?: string };
    if ((!discovery && !session) || secretName === '') return succeeded(anonymous);
    const found = this.#options.secret(`${namespace}/${secretName}`);
    if (found === undefined) {
      return failed(
        'FailedPrecondition',
        `couldn't get secret ${namespace}/${secretName} error: secrets ${JSON.stringify(secretName)} not found (volume ${name})`,
      );
    }
    const secret = new Map(Object.entries(found.data ?? {}).map(([key, data]) => [key, Buffer.from(data, 'base64').toString()] as const));
    return succeeded({ ...anonymous, secret });
  }

  /** Whether another staged volume has the same target and portal: they share a session. */
  async #isShared(stagingPath: string, disk: IscsiDisk): Promise<boolean> {
    const { files } = this.#options;
    const [own, all] = [directoryOf(stagingPath), directoryOf(directoryOf(stagingPath))];
    const others = (await files.list(all)).map((name) => `${all}/${name}`).filter((directory) => directory !== own);
    const disks = await Promise.all(others.map((directory) => this.#read(directory)));
    return disks.some((other) => other?.iqn === disk.iqn && other.portals[0] === disk.portals[0]);
  }

  async #write(directory: string, disk: IscsiDisk): Promise<void> {
    const { files } = this.#options;
    await files.makeDirectory(directory, 0o750);
    const next = `${directory}/${recordFile}.new`;
    await files.write(next, new TextEncoder().encode(JSON.stringify(disk)), 0o600);
    await files.rename(next, `${directory}/${recordFile}`);
  }

  async #read(directory: string): Promise<IscsiDisk | undefined> {
    const { files } = this.#options;
    if ((await files.stat(`${directory}/${recordFile}`)) === undefined) return undefined;
    return JSON.parse(new TextDecoder().decode(await files.read(`${directory}/${recordFile}`))) as IscsiDisk;
  }
}
