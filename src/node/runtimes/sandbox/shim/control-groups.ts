/** Limits of memory, CPU and processes by control groups version 1 or 2, as far as the host allows. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ContainerLimits } from '../../../runtime.ts';

const root = '/sys/fs/cgroup';

export interface ControlGroup {
  /** Directories that the container's first process joins. */
  readonly directories: readonly string[];
  /** Whether the kernel has killed a process of it because of its memory limit. */
  ranOutOfMemory(): boolean;
  remove(): void;
}

const unlimited: ControlGroup = { directories: [], ranOutOfMemory: () => false, remove: () => undefined };

/** The CFS period. */
const periodUs = 100_000;

export interface Limits extends ContainerLimits {
  /** Block devices that it may read but not write: '7:3'. Only version 1 enforces that. */
  readonly readOnlyDevices: readonly string[];
}

/** `name`: its group below `group`, such as 'moor-1a2b/pod/container'. Limits that cannot be set are ignored. */
export function limit(group: string, name: string, limits: Limits): ControlGroup {
  const { cpuMilli, cpuRequestMilli, memoryBytes, readOnlyDevices } = limits;
  if (cpuMilli === undefined && cpuRequestMilli === undefined && memoryBytes === undefined && readOnlyDevices.length === 0) return unlimited;
  try {
    return existsSync(path.join(root, 'cgroup.controllers')) ? unified(path.join(root, group), name, limits) : separate(group, name, limits);
  } catch {
    return unlimited;
  }
}

function unified(group: string, name: string, { cpuMilli, cpuRequestMilli, memoryBytes }: ContainerLimits): ControlGroup {
  const directory = path.join(group, name);
  mkdirSync(group, { recursive: true });
  for (const parent of [root, group]) tryWrite(path.join(parent, 'cgroup.subtree_control'), '+cpu +memory +pids');
  mkdirSync(directory, { recursive: true });
  if (memoryBytes !== undefined) tryWrite(path.join(directory, 'memory.max'), String(memoryBytes));
  if (cpuMilli !== undefined) tryWrite(path.join(directory, 'cpu.max'), `${quota(cpuMilli)} ${periodUs}`);
  if (cpuRequestMilli !== undefined) tryWrite(path.join(directory, 'cpu.weight'), String(Math.max(1, Math.min(10_000, Math.round(cpuRequestMilli / 10)))));
  return of([directory], path.join(directory, 'memory.events'));
}

function separate(group: string, name: string, { cpuMilli, cpuRequestMilli, memoryBytes, readOnlyDevices }: Limits): ControlGroup {
  const directories: string[] = [];
  const make = (controller: string): string => {
    const directory = path.join(root, controller, group, name);
    mkdirSync(directory, { recursive: true });
    directories.push(directory);
    return directory;
  };
  if (memoryBytes !== undefined && existsSync(path.join(root, 'memory'))) {
    tryWrite(path.join(make('memory'), 'memory.limit_in_bytes'), String(memoryBytes));
  }
  if ((cpuMilli ?? cpuRequestMilli) !== undefined && existsSync(path.join(root, 'cpu'))) {
    const directory = make('cpu');
    if (cpuMilli !== undefined) tryWrite(path.join(directory, 'cpu.cfs_quota_us'), String(quota(cpuMilli)));
    if (cpuRequestMilli !== undefined) tryWrite(path.join(directory, 'cpu.shares'), String(Math.max(2, Math.round((cpuRequestMilli * 1024) / 1000))));
  }
  if (readOnlyDevices.length > 0 && existsSync(path.join(root, 'devices'))) {
    const directory = make('devices');
    for (const device of readOnlyDevices) tryWrite(path.join(directory, 'devices.deny'), `b ${device} w`);
  }
  const memory = directories.find((directory) => directory.startsWith(path.join(root, 'memory')));
  return of(directories, memory === undefined ? undefined : path.join(memory, 'memory.oom_control'));
}

/** Moves processes that ran before the group existed. */
export function joinGroups(directories: readonly string[], pids: readonly number[]): void {
  for (const directory of directories) for (const pid of pids) tryWrite(path.join(directory, 'cgroup.procs'), String(pid));
}

/** Removes a group without processes, and the groups below it. */
export function removeGroup(group: string): void {
  for (const controller of ['', 'memory', 'cpu', 'devices']) {
    const directory = path.join(root, controller, group);
    if (!existsSync(directory)) continue;
    for (const each of readdirSync(directory, { withFileTypes: true })) if (each.isDirectory()) tryRemove(path.join(directory, each.name));
    tryRemove(directory);
  }
}

const quota = (milli: number): number => Math.max(1000, Math.round((milli * periodUs) / 1000));

function of(directories: readonly string[], events: string | undefined): ControlGroup {
  return {
    directories,
    ranOutOfMemory: () => events !== undefined && /^oom_kill [1-9]/m.test(tryRead(events)),
    remove: () => {
      for (const directory of directories) tryRemove(directory);
    },
  };
}

function tryWrite(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch {
    // The kernel has no such limit, or refuses it: the container runs without.
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
    // A process that is just ending is still in it; the next shim removes the rest.
  }
}
