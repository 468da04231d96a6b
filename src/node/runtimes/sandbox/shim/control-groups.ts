/**
 * The control groups of pods and their containers, version 1 or 2:
 *
 *     moor-1a2b3c4d/          of the shim: all pods of a node together leave memory to the machine, as the kubelet's node allocatable
 *       pod-<uid>/            a limit of processes, and of memory and CPU for all containers together
 *         <container>/        memory, CPU and devices
 *
 * What the kernel refuses is an error: a container never runs without a limit that it was to have.
 */
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync, realpathSync, rmdirSync, writeSync } from 'node:fs';
import { totalmem } from 'node:os';
import path from 'node:path';
import type { ContainerLimits } from '../../../runtime.ts';
import type { RootGroup } from '../container-root.ts';

export interface ControlGroup {
  /** Directories that the container's processes join, and that it sees. */
  readonly groups: readonly RootGroup[];
  /** @throws if the kernel refuses a limit */
  limit(limits: ContainerLimits): void;
  /** Whether the kernel has killed a process of it because of its memory limit. */
  ranOutOfMemory(): boolean;
  remove(): void;
}

export interface DeviceRules {
  /** Undefined: all of them. */
  readonly allowed: readonly DeviceRule[] | undefined;
}

export interface DeviceRule {
  readonly type: 'b' | 'c';
  /** '7:3', '136:*'. */
  readonly number: string;
  /** Of read, write, mknod. */
  readonly access: string;
}

/** As runc: making a node is harmless, opening it is what needs a rule. null, zero, full, random, urandom, tty, ptmx and terminals. */
export const usualDevices: readonly DeviceRule[] = [
  ...(['b', 'c'] as const).map((type) => ({ type, number: '*:*', access: 'm' })),
  ...['1:3', '1:5', '1:7', '1:8', '1:9', '5:0', '5:2', '136:*'].map((number) => ({ type: 'c', number, access: 'rwm' }) as const),
];

/** Of a pod. Kubernetes' `podPidsLimit`; as on managed clusters. */
const mostProcesses = 4096;

/** The CFS period. */
const periodUs = 100_000;

/** Of the machine's memory, for all pods of a node: what containers write to their roots is memory too, and those without limits have no other bound. */
const podsMemory = (): number => Math.floor((totalmem() * 0.9) / pageSize) * pageSize;
const pageSize = 65_536;

const usualRoot = '/sys/fs/cgroup';
const wanted = ['pids', 'memory', 'cpu', 'devices'] as const;
type Controller = (typeof wanted)[number];

/** The groups of one shim. `group`: its name. */
export class ControlGroups {
  readonly #group: string;
  readonly #root: string;
  readonly #isUnified: boolean;
  /** Version 1: the mounted hierarchies. One may have several controllers. */
  readonly #hierarchies: ReadonlyMap<string, readonly Controller[]>;

  constructor(group: string, root = usualRoot) {
    this.#group = group;
    this.#root = root;
    this.#isUnified = existsSync(path.join(root, 'cgroup.controllers'));
    this.#hierarchies = this.#isUnified ? new Map() : hierarchiesIn(root);
  }

  /** Makes the group of a pod, if there is none. @throws if it cannot have one */
  makePod(uid: string, limits: ContainerLimits): void {
    const name = podName(uid);
    if (this.#isUnified) {
      const shim = path.join(this.#root, this.#group);
      mkdirSync(path.join(shim, name), { recursive: true });
      for (const parent of [this.#root, shim, path.join(shim, name)]) enableControllers(parent);
    } else for (const hierarchy of this.#hierarchies.keys()) mkdirSync(path.join(this.#root, hierarchy, this.#group, name), { recursive: true });
    const limited = this.#directoryOf('pids', name);
    if (limited === undefined) throw new Error('the number of its processes cannot be limited: this machine has no pids controller of control groups');
    write(path.join(limited, 'pids.max'), String(mostProcesses));
    this.#boundMemory();
    this.limitPod(uid, limits);
  }

  /** Of the shim's group. */
  #boundMemory(): void {
    const directory = this.#directoryOf('memory', '');
    if (directory !== undefined) setIfOther(path.join(directory, this.#isUnified ? 'memory.max' : 'memory.limit_in_bytes'), String(podsMemory()));
  }

  /** @throws if the kernel refuses a limit */
  limitPod(uid: string, limits: ContainerLimits): void {
    this.#limit(limits, (controller) => this.#directoryOf(controller, podName(uid)));
  }

  /** @throws if the kernel refuses a limit */
  makeContainer(uid: string, id: string, { limits, devices }: { readonly limits: ContainerLimits; readonly devices: DeviceRules }): ControlGroup {
    const name = path.join(podName(uid), id.slice(0, 32));
    const groups = this.#groupsOf(name);
    for (const { directory } of groups) mkdirSync(directory, { recursive: true });
    const directoryOf = (controller: Controller) => this.#directoryOf(controller, name);
    const events = directoryOf('memory');
    const made: ControlGroup = {
      groups,
      limit: (changed) => this.#limit(changed, directoryOf),
      ranOutOfMemory: () =>
        events !== undefined && /^oom_kill [1-9]/m.test(tryRead(path.join(events, this.#isUnified ? 'memory.events' : 'memory.oom_control'))),
      remove: () => {
        for (const { directory } of groups) tryRemove(directory);
      },
    };
    try {
      made.limit(limits);
      allowDevices(this.#isUnified ? undefined : directoryOf('devices'), devices);
    } catch (error) {
      made.remove();
      throw error;
    }
    return made;
  }

  removePod(uid: string): void {
    for (const { directory } of this.#groupsOf(podName(uid))) removeTree(directory);
  }

  /** Removes groups without processes: this shim's, and those of shims that run no more. */
  removeEmpty(running: ReadonlySet<string>): void {
    for (const hierarchy of this.#isUnified ? [''] : this.#hierarchies.keys()) {
      const directory = path.join(this.#root, hierarchy);
      for (const name of directoriesIn(directory)) {
        if (/^moor-[0-9a-f]{8}$/.test(name) && (name === this.#group || !running.has(name))) removeTree(path.join(directory, name));
      }
    }
  }

  #groupsOf(name: string): readonly RootGroup[] {
    if (this.#isUnified) return [{ controllers: '', directory: path.join(this.#root, this.#group, name) }];
    return [...this.#hierarchies.keys()].map((controllers) => ({ controllers, directory: path.join(this.#root, controllers, this.#group, name) }));
  }

  #directoryOf(controller: Controller, name: string): string | undefined {
    if (this.#isUnified) {
      const directory = path.join(this.#root, this.#group, name);
      const controllers = tryRead(path.join(directory, 'cgroup.controllers')).trim().split(/\s+/);
      return controllers.includes(controller) ? directory : undefined;
    }
    const [hierarchy] = [...this.#hierarchies].find(([, controllers]) => controllers.includes(controller)) ?? [];
    return hierarchy === undefined ? undefined : path.join(this.#root, hierarchy, this.#group, name);
  }

  /** A limit that is not given is none, also if there was one. */
  #limit({ memoryBytes, cpuMilli, cpuRequestMilli }: ContainerLimits, directoryOf: (controller: Controller) => string | undefined): void {
    const set = (what: string, controller: Controller, files: Readonly<Record<string, string>>, isAsked: boolean): void => {
      const directory = directoryOf(controller);
      if (directory === undefined && isAsked) throw new Error(`${what} cannot be set: this machine has no ${controller} controller of control groups`);
      if (directory === undefined) return;
      for (const [name, value] of Object.entries(files)) setIfOther(path.join(directory, name), value);
    };
    const quota = cpuMilli === undefined ? undefined : Math.max(1000, Math.round((cpuMilli * periodUs) / 1000));
    if (this.#isUnified) {
      set('limits.memory', 'memory', { 'memory.max': String(memoryBytes ?? 'max') }, memoryBytes !== undefined);
      set('limits.cpu', 'cpu', { 'cpu.max': `${quota ?? 'max'} ${periodUs}` }, quota !== undefined);
      set('requests.cpu', 'cpu', { 'cpu.weight': String(weightOf(cpuRequestMilli)) }, cpuRequestMilli !== undefined);
      return;
    }
    set('limits.memory', 'memory', { 'memory.limit_in_bytes': String(memoryBytes ?? -1) }, memoryBytes !== undefined);
    set('limits.cpu', 'cpu', { 'cpu.cfs_quota_us': String(quota ?? -1) }, quota !== undefined);
    set('requests.cpu', 'cpu', { 'cpu.shares': String(sharesOf(cpuRequestMilli)) }, cpuRequestMilli !== undefined);
  }
}

const podName = (uid: string): string => `pod-${uid.replaceAll(/[^\w.-]/g, '-')}`;

/** As the kubelet (v1.36.4: pkg/kubelet/cm/helpers_linux.go, MilliCPUToShares): without a request, the least. */
const sharesOf = (milli = 0): number => Math.max(2, Math.min(262_144, Math.floor((milli * 1024) / 1000)));
const weightOf = (milli = 0): number => Math.max(1, Math.min(10_000, Math.round(milli / 10)));

/** 'cpu' is often a link to 'cpu,cpuacct'. */
function hierarchiesIn(root: string): ReadonlyMap<string, readonly Controller[]> {
  const found = new Map<string, readonly Controller[]>();
  for (const controller of wanted) {
    if (!existsSync(path.join(root, controller, 'cgroup.procs'))) continue;
    const hierarchy = path.basename(realpathSync(path.join(root, controller)));
    found.set(hierarchy, [...(found.get(hierarchy) ?? []), controller]);
  }
  return found;
}

/** Each by itself: one that is missing does not keep the others out. Which are there is read when a limit needs one. */
function enableControllers(directory: string): void {
  const file = path.join(directory, 'cgroup.subtree_control');
  const [enabled, controllers] = [tryRead(file), tryRead(path.join(directory, 'cgroup.controllers'))].map((text) => text.trim().split(/\s+/));
  const missing = ['cpu', 'memory', 'pids'].filter((name) => controllers?.includes(name) === true && enabled?.includes(name) !== true);
  for (const name of missing) write(file, `+${name}`);
}

/** Version 2 has no such file. There, and for nodes that a container makes, no mount of a container has devices but those that it was given. */
function allowDevices(directory: string | undefined, { allowed }: DeviceRules): void {
  if (directory === undefined || allowed === undefined) return;
  write(path.join(directory, 'devices.deny'), 'a');
  for (const { type, number, access } of allowed) write(path.join(directory, 'devices.allow'), `${type} ${number} ${access}`);
}

/** A limit that is as wanted is not written: not every kernel takes its own defaults. */
function setIfOther(file: string, value: string): void {
  const isUnlimited = value === '-1' && Number(tryRead(file)) > Number.MAX_SAFE_INTEGER / 2;
  if (!isUnlimited && tryRead(file).trim() !== value) write(file, value);
}

function write(file: string, text: string): void {
  try {
    // Not created: the kernel has made it, or there is no such limit.
    const descriptor = openSync(file, constants.O_WRONLY | constants.O_TRUNC);
    try {
      writeSync(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EBUSY' && file.endsWith('memory.limit_in_bytes') ? 'more memory is in use' : message;
    throw new Error(`the kernel refuses ${text} for ${path.basename(file)} of the control group: ${why}`, { cause: error });
  }
}

/** Groups with processes stay. */
function removeTree(directory: string): void {
  for (const name of directoriesIn(directory)) removeTree(path.join(directory, name));
  tryRemove(directory);
}

function directoriesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((each) => each.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function tryRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function tryRemove(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // A process that is just ending is still in it; the shim's end, or the next shim, removes the rest.
  }
}
