/** Makes a container's root in the mount namespace of this thread, which is the container's. */
import { chmodSync, chownSync, fstatSync, lstatSync, mkdirSync, readFileSync, readlinkSync, type Stats, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { ContainerDevice } from '../../node/contract.ts';
import type { ContainerRoot, RootBind, RootGroup, RootLayer, RootView } from '../../node/runtimes/sandbox/container-root.ts';
import { type HostDevice, hostDevices } from './host-devices.ts';
import { openInside } from './inside-root.ts';
import {
  attach,
  changeDirectory,
  changeRoot,
  close,
  copyMount,
  enterDirectory,
  isInProc,
  isolateMounts,
  makeNode,
  type MountAttribute,
  newMount,
  openBeneath,
  openInRoot,
  openPath,
  setAttributes,
} from '../mount-calls.ts';
import { isSharedMount, parseMountInfo } from '../mount-info.ts';
import { newOverlay } from '../overlay-mount.ts';

/** What a root takes from the host, as mounts that are attached nowhere. */
export interface RootSources {
  readonly binds: readonly { readonly bind: RootBind; readonly mount: number; readonly isDirectory: boolean }[];
  readonly groups: readonly { readonly group: RootGroup; readonly mount: number }[];
  readonly nodes: readonly { readonly device: ContainerDevice; readonly facts: Stats }[];
  /** Of a privileged container: all of the host's, by their paths below /dev. */
  readonly hostDevices: readonly HostDevice[];
}

/** In the host's mount namespace. `opened` receives descriptors that the caller closes. */
export function openSources({ binds, groups, devices }: ContainerRoot, opened: number[]): RootSources {
  return {
    binds: binds
      .filter(({ layers }) => layers === undefined)
      .map((bind) => explained(`cannot mount ${bind.target}`, () => ({ bind, ...openBind(bind, opened) }))),
    groups: groups.map((group) => ({ group, mount: copied(group.directory, false, opened) })),
    nodes: devices.own.map((device) => explained(`cannot make the device ${device.containerPath}`, () => ({ device, facts: statSync(device.hostPath) }))),
    hostDevices: devices.anywhere ? hostDevices('/dev') : [],
  };
}

interface OpenedBind {
  readonly mount: number;
  readonly isDirectory: boolean;
}

function openBind({ source, propagation, readOnly, hasDevices }: RootBind, opened: number[]): OpenedBind {
  const found = openPath(source);
  try {
    if (propagation === 'shared') demandShared(source, found);
    const isDirectory = fstatSync(found).isDirectory();
    const mount = kept(copyMount(found, isDirectory), opened);
    setAttributes(mount, { propagation, attributes: hasDevices ? [] : ['nodev'], all: true });
    if (readOnly !== false) setAttributes(mount, { attributes: ['ro'], all: readOnly === 'with all below' });
    return { mount, isDirectory };
  } finally {
    close(found);
  }
}

/** With containerd's message. */
function demandShared(source: string, file: number): void {
  const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/thread-self/fdinfo/${file}`, 'utf8'))?.[1];
  const line = readFileSync('/proc/thread-self/mountinfo', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${id} `));
  if (line === undefined || isSharedMount(line)) return;
  const target = parseMountInfo(line)[0]?.target;
  throw new Error(
    `path "${source}" is mounted on "${target}" but it is not a shared mount ("mount --make-shared ${target}" makes it one, and so does a node with --root-dir for its own directory)`,
  );
}

interface Making {
  readonly sources: RootSources;
  /** The process namespace of the container, as a link of /proc. Undefined: the host's. */
  readonly processes: string | undefined;
  readonly opened: number[];
}

export function makeRoot(wanted: ContainerRoot, { sources, processes, opened }: Making): void {
  isolateMounts();
  const { bytes, files } = wanted.writable;
  attachAt(wanted.scratch, kept(newMount('tmpfs', ['mode=755', `size=${bytes}`, `nr_inodes=${files}`], []), opened));
  changeDirectory(wanted.scratch);
  for (const directory of ['root', 'empty', 'nodes']) mkdirSync(directory, { mode: 0o755 });
  for (const [name, rdev] of Object.entries(usualNodes)) {
    makeNode(`nodes/${name}`, { mode: 0o20_666, rdev });
    chmodSync(`nodes/${name}`, 0o666);
  }
  const proc = kept(procOf(processes), opened);
  const nodes: readonly MountAttribute[] = wanted.devices.anywhere ? [] : ['nodev'];
  const [root, ...layers] = wanted.layers.map((layer, number) => kept(overlay(layer, `layer-${number}`, nodes), opened));
  if (root === undefined) throw new Error('the image has no layer');
  attachAt('root', root);
  const make: Inside = { root, opened };
  for (const [number, mount] of layers.entries()) place(make, wanted.layers[number + 1]?.target ?? '', mount);
  placeDevices(make, wanted.devices.usual, { attributes: nodes, hostDevices: sources.hostDevices });
  placeView(make, '/proc', { mount: proc, view: wanted.proc });
  placeView(make, '/sys', { mount: kept(newMount('sysfs', [], viewAttributes), opened), view: wanted.sys });
  placeGroups(make, sources, wanted.sys.readOnly);
  for (const node of sources.nodes) placeNode(make, node);
  const ofHost = new Map(sources.binds.map((source) => [source.bind, source]));
  const binds = wanted.binds.map((bind, number) => ofHost.get(bind) ?? { bind, ...openImage(bind, `image-${number}`, opened) });
  const inOrder = [...binds.filter(({ isDirectory }) => isDirectory), ...binds.filter(({ isDirectory }) => !isDirectory)];
  for (const { bind, mount, isDirectory } of inOrder) place(make, bind.target, mount, isDirectory ? 'directory' : 'file');
  if (wanted.workingDir !== '') tryMake(make, wanted.workingDir);
  if (wanted.readOnly) for (const mount of [root, ...layers]) setAttributes(mount, { attributes: ['ro'] });
  enterDirectory(root);
  changeRoot();
}

interface Inside {
  readonly root: number;
  readonly opened: number[];
}

/** Devices of every container, as Linux encodes 1:3 and so on. */
const usualNodes = { null: 0x103, zero: 0x105, full: 0x107, random: 0x108, urandom: 0x109, tty: 0x500 } as const;
const viewAttributes: readonly MountAttribute[] = ['nosuid', 'nodev', 'noexec'];

const kept = (descriptor: number, opened: number[]): number => {
  opened.push(descriptor);
  return descriptor;
};

function copied(path: string, all: boolean, opened: number[]): number {
  const found = openPath(path);
  try {
    return kept(copyMount(found, all), opened);
  } finally {
    close(found);
  }
}

/** A path of the host. */
function attachAt(path: string, mount: number): void {
  const target = openPath(path);
  try {
    attach(mount, target);
  } finally {
    close(target);
  }
}

/** The /proc that the container's first process has mounted: only a process of the namespace can do that. */
function procOf(processes: string | undefined): number {
  if (processes !== undefined && readlinkSync('/proc/1/ns/pid') !== processes) throw new Error('/proc is not that of its process namespace');
  const found = openPath('/proc');
  try {
    if (!isInProc(found)) throw new Error('/proc is not a proc file system');
    return copyMount(found, false);
  } finally {
    close(found);
  }
}

/** The files of an image, as a volume: read-only, and no programs, as Kubernetes has it. `name`: free in the working directory. */
function openImage({ layers = [], source, target }: RootBind, name: string, opened: number[]): OpenedBind {
  return explained(`cannot mount ${target}`, () => {
    const [only = ''] = layers;
    const mount = layers.length === 1 ? copied(only, false, opened) : kept(newOverlay({ lower: layers, work: name }, []), opened);
    setAttributes(mount, { attributes: [...viewAttributes, 'ro'], propagation: 'private' });
    if (source === '') return { mount, isDirectory: true };
    const found = openInRoot(mount, source);
    if (found === undefined) throw new Error(`the image has no ${JSON.stringify(source)} (subPath)`);
    try {
      return { mount: kept(copyMount(found, false), opened), isDirectory: fstatSync(found).isDirectory() };
    } finally {
      close(found);
    }
  });
}

/** What it writes goes to `name` in the working directory. */
function overlay({ lower }: RootLayer, name: string, attributes: readonly MountAttribute[]): number {
  const [upper, work] = [upperOf(name), `${name}-work`];
  mkdirSync(upper, { mode: 0o755, recursive: true });
  mkdirSync(work, { mode: 0o755 });
  // The upper layer's directory decides on the mode and owner of the merged one.
  const facts = statSync(lower[0] ?? '');
  if ((facts.mode & 0o7777) !== 0o755 || facts.uid !== 0 || facts.gid !== 0) setFacts(upper, facts);
  return newOverlay({ lower, upper, work }, attributes);
}

const upperOf = (name: string): string => `${name}-upper`;

/** Of a file in the scratch directory, which no container sees. */
function setFacts(file: string, { mode, uid, gid }: { readonly mode: number; readonly uid: number; readonly gid: number }): void {
  chownSync(file, uid, gid);
  chmodSync(file, mode & 0o7777);
}

function place({ root }: Inside, path: string, mount: number, kind: 'directory' | 'file' = 'directory'): void {
  explained(`cannot mount ${path}`, () => {
    const target = openInside(root, path, kind);
    try {
      // As runc: the container's own /proc shows what it is masked and confined by.
      if (isInProc(target)) throw new Error(`"${path}" cannot be mounted because it is inside /proc`);
      if (fstatSync(target).isDirectory() !== (kind === 'directory')) throw new Error(kind === 'directory' ? 'it is not a directory' : 'it is a directory');
      attach(mount, target);
    } finally {
      close(target);
    }
  });
}

/** Its nodes are mounts: nodes that a container makes there, if it may, cannot be opened. */
function placeDevices(make: Inside, usual: string, { attributes: nodes, hostDevices: own }: OwnDevices): void {
  const attached = (fileSystem: string, target: string, mount: { readonly parameters: readonly string[]; readonly attributes: readonly MountAttribute[] }) =>
    place(make, target, kept(newMount(fileSystem, mount.parameters, mount.attributes), make.opened));
  for (const { name, facts } of own) if (!isThere(path.join(usual, name))) addDevice(path.join(upperOf('dev'), name), facts);
  place(make, '/dev', kept(overlay({ target: '/dev', lower: [usual] }, 'dev', ['nosuid', ...nodes]), make.opened));
  for (const name of Object.keys(usualNodes)) place(make, `/dev/${name}`, copied(`nodes/${name}`, false, make.opened), 'file');
  attached('devpts', '/dev/pts', { parameters: ['newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'], attributes: ['nosuid', 'noexec'] });
  attached('tmpfs', '/dev/shm', { parameters: ['mode=1777', 'size=64m'], attributes: viewAttributes });
  try {
    attached('mqueue', '/dev/mqueue', { parameters: [], attributes: viewAttributes });
  } catch {
    // Not every kernel has it.
  }
}

interface OwnDevices {
  readonly attributes: readonly MountAttribute[];
  readonly hostDevices: readonly HostDevice[];
}

/** Also if it is a link that leads nowhere, as /dev/ptmx does before /dev/pts is mounted. */
const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** In the scratch directory. */
function addDevice(file: string, facts: Stats): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
  makeNode(file, facts);
  setFacts(file, facts);
}

/** What is masked is found from the mount itself, never by a path of the container. */
function placeView(make: Inside, target: string, { mount, view }: { readonly mount: number; readonly view: RootView }): void {
  setAttributes(mount, { attributes: [...viewAttributes, ...(view.readOnly ? (['ro'] as const) : [])] });
  place(make, target, mount);
  for (const path of view.masked) cover(mount, path, (isDirectory) => copied(isDirectory ? 'empty' : 'nodes/null', false, make.opened));
  for (const path of view.readOnlyPaths) cover(mount, path, (_, found) => kept(copyMount(found, false), make.opened));
}

function cover(view: number, path: string, coverOf: (isDirectory: boolean, found: number) => number): void {
  const found = openBeneath(view, path);
  if (found === undefined) return;
  try {
    const mount = coverOf(fstatSync(found).isDirectory(), found);
    setAttributes(mount, { attributes: ['ro'] });
    attach(mount, found);
  } finally {
    close(found);
  }
}

/** Shows the container's own groups, and none above them. */
function placeGroups(make: Inside, { groups }: RootSources, readOnly: boolean): void {
  const attributes: readonly MountAttribute[] = readOnly ? [...viewAttributes, 'ro'] : viewAttributes;
  for (const { mount } of groups) setAttributes(mount, { attributes, propagation: 'private' });
  const [only] = groups;
  if (only === undefined) return;
  if (only.group.controllers === '') return place(make, '/sys/fs/cgroup', only.mount);
  const all = kept(newMount('tmpfs', ['mode=755', 'size=4k', 'nr_inodes=64'], viewAttributes), make.opened);
  mkdirSync('groups');
  attachAt('groups', all);
  // As on the host: 'cpu' is where 'cpu,cpuacct' is.
  for (const { group } of groups) for (const name of aliasesOf(group)) symlinkSync(group.controllers, `groups/${name}`);
  place(make, '/sys/fs/cgroup', all);
  for (const { group, mount } of groups) place(make, `/sys/fs/cgroup/${group.controllers}`, mount);
  setAttributes(all, { attributes });
}

const aliasesOf = ({ controllers }: RootGroup): readonly string[] => (controllers.includes(',') ? controllers.split(',') : []);

/** Not by mknod(2) in the container's own directories: their mounts have no devices. */
function placeNode(make: Inside, { device: { containerPath, readOnly }, facts: { mode, rdev, uid, gid } }: RootSources['nodes'][number]): void {
  explained(`cannot make the device ${containerPath}`, () => {
    const name = `nodes/${make.opened.length}`;
    makeNode(name, { mode, rdev });
    setFacts(name, { mode: readOnly ? mode & 0o7555 : mode, uid, gid });
    place(make, containerPath, copied(name, false, make.opened), 'file');
  });
}

/** An error shows when the process changes to the directory. */
function tryMake({ root }: Inside, directory: string): void {
  try {
    close(openInside(root, directory, 'directory'));
  } catch {
    // reported by the process
  }
}

function explained<T>(what: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}
