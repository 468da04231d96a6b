import type { Pod, Secret } from '../../api/generated/types.ts';
import {
  type DriverAnswer,
  failed,
  type NodeDriver,
  type NodePublishVolumeResponse,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
} from '../contract.ts';
import { formatAndMount } from '../mount/format-and-mount.ts';
import { attempt, ensureBound, ensureUnmounted, mountAt, removeMountPoint, removeStaging } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';
import { type Chap, Initiator, type InitiatorOptions } from './initiator.ts';
import { disksOf, multipathOf } from './sessions.ts';
import { diskOf, type IscsiDisk } from './target.ts';

export interface IscsiOptions extends InitiatorOptions {
  /** 'namespace/name' */
  readonly secret: (key: string) => Secret | undefined;
}

/** Beside the place where the disk is mounted, written before anything is attached and removed after nothing is. */
const note = 'iscsi.json';
const done = { ok: true, value: undefined } as const;
const flushMs = 60_000;

/** Disks of iSCSI targets: kubernetes.io/iscsi. Attached by the node, mounted once for it, and bound from there for each pod. */
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
  /** By target: nobody logs out of it while somebody else logs in. */
  readonly #turns = new Map<string, Promise<unknown>>();

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
    await this.#write(stagingPath, disk.value);
    const device = await this.#inTurn(disk.value.iqn, () => this.#initiator.attach(disk.value, chap.value));
    if (!device.ok || volume.mode === 'Block') return device.ok ? done : device;
    const mountOptions = [...new Set([...volume.mountOptions, ...(volume.readOnly ? ['ro'] : [])])];
    const fileSystem = volume.source.iscsi?.fsType ?? '';
    return (await formatAndMount(this.#options, { device: device.value, target: stagingPath, fileSystem, options: mountOptions })) ?? done;
  }

  async unstage(stagingPath: string): Promise<DriverAnswer<undefined>> {
    const { files, programs } = this.#options;
    await ensureUnmounted(this.#options, stagingPath);
    const disk = await this.#read(above(stagingPath));
    if (disk !== undefined) {
      const gone = await this.#inTurn(disk.iqn, async () => {
        for (const name of await disksOf(files, disk)) {
          const multipath = await multipathOf(files, name);
          if (multipath !== undefined) await programs.run('multipath', ['-f', multipath], { timeoutMs: flushMs });
          // The kernel forgets the disk; logging out would do that too, but others may stay logged in.
          await files.write(`/sys/block/${name}/device/delete`, new TextEncoder().encode('1'), 0o200).catch(() => undefined);
        }
        return (await this.#isShared(stagingPath, disk)) ? undefined : this.#initiator.detach(disk);
      });
      if (gone !== undefined) return gone;
      await files.removeFile(`${above(stagingPath)}/${note}`);
    }
    // Of somebody who died while he wrote it.
    if ((await files.stat(`${above(stagingPath)}/${note}.new`)) !== undefined) await files.removeFile(`${above(stagingPath)}/${note}.new`);
    await removeStaging(this.#options, stagingPath);
    return done;
  }

  async publish({ volume, pod, target, stagingPath = '', recordEvent: tell }: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const { files, clock } = this.#options;
    if (volume.mode === 'Block') return this.#device(volume);
    if ((await mountAt(this.#options, stagingPath)) === undefined) return failed('FailedPrecondition', `nothing is staged at ${stagingPath}`);
    const { readOnly, mountOptions } = volume;
    await ensureBound(this.#options, { source: stagingPath, target, readOnly, options: mountOptions });
    if (!readOnly) await setVolumeOwnership(target, { files, clock, pod, readOnly, when: 'policy', recordEvent: tell });
    return { ok: true, value: { path: target } };
  }

  async #device(volume: NodeStageVolumeRequest['volume']): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const disk = diskOf(volume);
    if (!disk.ok) return disk;
    const [name] = await disksOf(this.#options.files, disk.value);
    if (name === undefined) return failed('FailedPrecondition', `there is no device of ${disk.value.iqn} lun ${disk.value.lun}`);
    return { ok: true, value: { path: (await multipathOf(this.#options.files, name)) ?? `/dev/${name}` } };
  }

  #chapOf({ source, name }: NodeStageVolumeRequest['volume'], pod: Pod | undefined): DriverAnswer<Chap> {
    const { chapAuthDiscovery: discovery = false, chapAuthSession: session = false, secretRef } = source.iscsi ?? {};
    const nobody = { discovery, session, secret: new Map<string, string>() };
    const { name: secretName = '', namespace = pod?.metadata.namespace ?? '' } = (secretRef ?? {}) as { readonly name?: string; readonly namespace?: string };
    if ((!discovery && !session) || secretName === '') return { ok: true, value: nobody };
    const found = this.#options.secret(`${namespace}/${secretName}`);
    if (found === undefined) {
      return failed(
        'FailedPrecondition',
        `couldn't get secret ${namespace}/${secretName} error: secrets ${JSON.stringify(secretName)} not found (volume ${name})`,
      );
    }
    const secret = new Map(Object.entries(found.data ?? {}).map(([key, data]) => [key, Buffer.from(data, 'base64').toString()] as const));
    return { ok: true, value: { ...nobody, secret } };
  }

  /** Whether another volume of this node is a unit of the same target, over the same portal: their session is one. */
  async #isShared(stagingPath: string, disk: IscsiDisk): Promise<boolean> {
    const { files } = this.#options;
    const [own, all] = [above(stagingPath), above(above(stagingPath))];
    const others = (await files.list(all)).map((name) => `${all}/${name}`).filter((directory) => directory !== own);
    const disks = await Promise.all(others.map((directory) => this.#read(directory)));
    return disks.some((other) => other?.iqn === disk.iqn && other.portals[0] === disk.portals[0]);
  }

  async #inTurn<T>(iqn: string, task: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(iqn) ?? Promise.resolve()).catch(() => undefined).then(task);
    this.#turns.set(iqn, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(iqn) === turn) this.#turns.delete(iqn);
    }
  }

  async #write(stagingPath: string, disk: IscsiDisk): Promise<void> {
    const { files } = this.#options;
    await files.makeDirectory(above(stagingPath), 0o750);
    const next = `${above(stagingPath)}/${note}.new`;
    await files.write(next, new TextEncoder().encode(JSON.stringify(disk)), 0o600);
    await files.rename(next, `${above(stagingPath)}/${note}`);
  }

  async #read(directory: string): Promise<IscsiDisk | undefined> {
    const { files } = this.#options;
    if ((await files.stat(`${directory}/${note}`)) === undefined) return undefined;
    return JSON.parse(new TextDecoder().decode(await files.read(`${directory}/${note}`))) as IscsiDisk;
  }
}

const above = (path: string): string => path.slice(0, path.lastIndexOf('/'));
