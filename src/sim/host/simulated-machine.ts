import { recordsIn } from '../../node/volume-manager/journal.ts';
import type { ContainerMount } from '../../node/contract.ts';
import type { NodeHost } from '../../drivers/mount/node-host.ts';
import type { Random } from '../../world/world.ts';
import { SimulatedDisk } from '../world/disk.ts';
import { never, type SimulatedProcess } from '../world/process.ts';
import { type Directory, newDirectory } from './file-tree.ts';
import { Machine, SimulatedHost } from './simulated-host.ts';
import { Containers } from './simulated-containers.ts';
import type { SimulatedWorld } from '../world/world.ts';

/** The node's directory on every simulated machine. */
export const nodeRoot = '/var/lib/node';
const journalFile = `${nodeRoot}/journal/mounts.journal`;
/** In the file system of each disk: its handle. */
const markerFile = 'handle';

/** What an agent did to its machine, with what is true of the machine at that moment. */
export type MachineEvent =
  /** `journaled`: a record of it is on disk, and would survive. */
  | { readonly do: 'mount'; readonly target: string; readonly journaled: boolean }
  /** `users`: uids of pods with a container that runs and sees it. */
  | { readonly do: 'unmount'; readonly target: string; readonly users: readonly string[] }
  /** `disks`: by the volume's name in the pod, the handle of the disk that the container sees there; undefined: none. */
  | { readonly do: 'start'; readonly podUid: string; readonly disks: ReadonlyMap<string, string | undefined> };

/** How long a mount, a sync of the disk, or a call of the runtime may take. */
const slowMs = 300;

interface ArmedKill {
  calls: number;
  readonly moment: 'before' | 'after';
  readonly onKill: () => void;
}

export interface SimulatedMachineOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  readonly onEvent: (event: MachineEvent) => void;
}

/** A machine on which a real node agent runs: its files, mounts, disks and containers outlive the agent; a power cut leaves files and what was synced. */
export class SimulatedMachine {
  readonly containers: Containers;
  /** Calls of the agent to come, at which it is killed. */
  readonly kills: ArmedKill[] = [];
  readonly #options: SimulatedMachineOptions;
  readonly #machine = new Machine();
  /** Outside of any process. */
  readonly #outside = new SimulatedHost(this.#machine);
  #disk = new SimulatedDisk();

  constructor(options: SimulatedMachineOptions) {
    this.#options = options;
    this.containers = new Containers(options.world);
    this.#devices();
  }

  /** The machine as a new process uses it. */
  startProcess(process: SimulatedProcess): { readonly host: SimulatedHost; readonly disk: SimulatedDisk; readonly call: () => Promise<void> } {
    const step = (moment: 'before' | 'after') => () => this.#step(process, moment);
    const [before, after] = [step('before'), step('after')];
    const slowly = async () => {
      await this.#options.world.sleep(this.#options.random.float() * slowMs);
      await before();
    };
    this.#disk = this.#disk.kill({ before: ({ name }) => (name === 'sync' ? slowly() : before()) });
    const host = new SimulatedHost(this.#machine, {
      before: ({ name }) => (name === 'mount' || name === 'unmount' ? slowly() : before()),
      after: async ({ name, path }) => {
        if (name === 'mount') this.#options.onEvent({ do: 'mount', target: path, journaled: this.#isJournaled(path) });
        if (name === 'unmount') this.#options.onEvent({ do: 'unmount', target: path, users: this.containers.usersOf(path) });
        await after();
      },
    });
    return { host, disk: this.#disk, call: slowly };
  }

  /** The machine as a CSI driver on it uses it. */
  driverHost(): NodeHost {
    const host = new SimulatedHost(this.#machine, {
      after: ({ name, path }) => {
        if (name === 'mount') this.#options.onEvent({ do: 'mount', target: path, journaled: this.#isJournaled(path) });
        if (name === 'unmount') this.#options.onEvent({ do: 'unmount', target: path, users: this.containers.usersOf(path) });
      },
    });
    return { mounts: host, files: host };
  }

  /** Before a container starts with these mounts. */
  async observeStart(podUid: string, mounts: readonly ContainerMount[]): Promise<void> {
    const disks = new Map<string, string | undefined>();
    for (const { volume, hostPath } of mounts) disks.set(volume, await this.#diskAt(hostPath));
    this.#options.onEvent({ do: 'start', podUid, disks });
  }

  /** A disk appears, as a device. */
  attach(handle: string): void {
    const devices = this.#devices();
    const file = { type: 'file', bytes: new Uint8Array(), mode: 0o600, uid: 0, gid: 0 } as const;
    devices.entries.set(handle, file);
    const { root } = this.#machine.image(file);
    if (root.type === 'directory') root.entries.set(markerFile, { ...file, bytes: new TextEncoder().encode(handle) });
  }

  detach(handle: string): void {
    this.#devices().entries.delete(handle);
  }

  /** The power fails: mounts and containers are gone, files and what was synced are not. */
  powerOff(): void {
    this.#machine.mounts.splice(1);
    this.containers.clear();
    this.#disk = this.#disk.crash(this.#options.random);
  }

  /** One mount is gone, as after `umount -l`. */
  loseMount(number: number): string | undefined {
    const ours = this.mounted();
    const lost = ours[number % Math.max(1, ours.length)];
    const index = this.#machine.mounts.findIndex(({ target }) => target === lost);
    if (lost === undefined || index < 0 || this.#machine.mounts.some(({ parent }) => parent === this.#machine.mounts[index])) return undefined;
    this.#machine.mounts.splice(index, 1);
    return lost;
  }

  /** Where something of a pod or a disk is mounted. */
  mounted(): readonly string[] {
    return this.#machine.mounts.flatMap(({ target }) => (target.startsWith(`${nodeRoot}/`) ? [target] : []));
  }

  /** Whether the file system of a disk is mounted. */
  hasMounted(handle: string): boolean {
    return this.#machine.mounts.some(({ root }) => root.type === 'directory' && handleIn(root) === handle);
  }

  /** A process that is dead does nothing more; one that is about to be killed dies here. */
  async #step(process: SimulatedProcess, moment: 'before' | 'after'): Promise<void> {
    if (!process.alive) await never();
    const due = this.kills.find((kill) => kill.moment === moment && kill.calls-- <= 0);
    if (due !== undefined) {
      this.kills.splice(this.kills.indexOf(due), 1);
      due.onKill();
    }
    await process.untilResumed(undefined);
  }

  #isJournaled(path: string): boolean {
    const records = recordsIn(new TextDecoder().decode(this.#disk.synced(journalFile)));
    const paths = Array.from(records.values(), (record) => ('target' in record ? record.target : record.key));
    return paths.some((each) => path === each || path.startsWith(`${each}/`));
  }

  async #diskAt(path: string): Promise<string | undefined> {
    const bytes = await this.#outside.read(`${path}/${markerFile}`).catch(() => undefined);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }

  #devices(): Directory {
    const { root } = this.#machine.root;
    if (root.type !== 'directory') throw new Error('the root is no directory');
    const there = root.entries.get('dev') ?? newDirectory();
    root.entries.set('dev', there);
    if (there.type !== 'directory') throw new Error('/dev is no directory');
    return there;
  }
}

function handleIn({ entries }: Directory): string | undefined {
  const marker = entries.get(markerFile);
  return marker?.type === 'file' ? new TextDecoder().decode(marker.bytes) : undefined;
}
