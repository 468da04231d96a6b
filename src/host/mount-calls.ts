/** System calls on mounts and on files by descriptor, for one thread: each acts in the namespaces of the thread that calls it, and blocks it. */
import { constants } from 'node:fs';
import koffi from 'koffi';
import { systemError } from './system-error.ts';

const library = koffi.load(null);

type Argument = string | number | Buffer | null;

/** `declared`: of C. The result is that of the call; -1 becomes an error. */
function call(name: string, declared: string): (...args: readonly Argument[]) => number {
  const function_ = library.func(declared);
  return (...args) => checked(name, function_(...args) as number, args);
}

/** System calls without a function in the C library. Those from 424 on have the same number on every architecture. */
function numbered(name: string, number: number, types: string): (...args: readonly Argument[]) => number {
  const function_ = library.func(`long syscall(long number, ${types})`);
  return (...args) => checked(name, Number(function_(number, ...args)), args);
}

function checked(name: string, result: number, args: readonly Argument[]): number {
  if (result < 0) throw systemError(name, koffi.errno(), args);
  return result;
}

/** For descriptors that were opened here: Node warns of them, since it does not know them. */
export const close: (descriptor: number) => number = call('close', 'int close(int fd)');
export const unshare: (flags: number) => number = call('unshare', 'int unshare(int flags)');
export const setns: (descriptor: number, type: number) => number = call('setns', 'int setns(int fd, int type)');
export const changeDirectory: (path: string) => number = call('chdir', 'int chdir(const char *path)');
export const enterDirectory: (descriptor: number) => number = call('fchdir', 'int fchdir(int fd)');
/** Of this thread, if it shares its file system context with no other. */
export const changeRootDirectory: (path: string) => number = call('chroot', 'int chroot(const char *path)');
const umount2: (target: string, flags: number) => number = call('umount2', 'int umount2(const char *target, int flags)');
const mountCall: (source: string, target: string, type: string | null, flags: number, data: string | null) => number = call(
  'mount',
  'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
);
const mkdirat: (directory: number, name: string, mode: number) => number = call('mkdirat', 'int mkdirat(int directory, const char *name, unsigned int mode)');
const mknodat: (directory: number, name: string, mode: number, device: number) => number = call(
  'mknodat',
  'int mknodat(int directory, const char *name, unsigned int mode, unsigned long device)',
);
const readlinkat: (directory: number, name: string, buffer: Buffer, size: number) => number = call(
  'readlinkat',
  'long readlinkat(int directory, const char *name, _Out_ void *buffer, size_t size)',
);
const fstatfs: (descriptor: number, buffer: Buffer) => number = call('fstatfs', 'int fstatfs(int fd, _Out_ void *buffer)');
const openat2: (directory: number, path: string, how: Buffer, size: number) => number = numbered(
  'open',
  437,
  'int directory, const char *path, void *how, size_t size',
);
const openTree: (directory: number, path: string, flags: number) => number = numbered('open_tree', 428, 'int directory, const char *path, unsigned int flags');
const moveMount: (from: number, path: string, to: number, target: string, flags: number) => number = numbered(
  'move_mount',
  429,
  'int from, const char *path, int to, const char *target, unsigned int flags',
);
const fsopen: (name: string, flags: number) => number = numbered('fsopen', 430, 'const char *name, unsigned int flags');
const fsconfig: (descriptor: number, command: number, key: string | null, value: string | null, extra: number) => number = numbered(
  'fsconfig',
  431,
  'int fd, unsigned int command, const char *key, const char *value, int extra',
);
const fsmount: (descriptor: number, flags: number, attributes: number) => number = numbered(
  'fsmount',
  432,
  'int fd, unsigned int flags, unsigned int attributes',
);
const mountSetattr: (directory: number, path: string, flags: number, attributes: Buffer, size: number) => number = numbered(
  'mount_setattr',
  442,
  'int directory, const char *path, unsigned int flags, void *attributes, size_t size',
);
/** Of pivot_root(2), which has another number on each architecture. */
const pivotNumbers: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { x64: 155, ia32: 217, arm: 218, s390x: 217, ppc64: 203 };
const pivotRoot: (root: string, old: string) => number = numbered('pivot_root', pivotNumbers[process.arch] ?? 41, 'const char *root, const char *old');

const here = -100;
const closeOnExec = 0x8_0000;
const [emptyPath, recursively] = [0x1000, 0x8000];

export const namespaces = { mnt: 0x2_0000, ipc: 0x800_0000, pid: 0x2000_0000, net: 0x4000_0000 } as const;
export const cloneFileSystem = 0x200;

/** Attributes of a mount, by their names in mount(8). */
const attributeBits = { ro: 1, nosuid: 2, nodev: 4, noexec: 8 } as const;
export type MountAttribute = keyof typeof attributeBits;
const bitsOf = (attributes: readonly MountAttribute[]): number => attributes.reduce((sum, name) => sum | attributeBits[name], 0);

const propagations = { private: 0x4_0000, slave: 0x8_0000, shared: 0x10_0000 } as const;
export type Propagation = keyof typeof propagations;

/** A new mount that is attached nowhere. `parameters`: 'key=value', or 'key'. */
export function newMount(fileSystem: string, parameters: readonly string[], attributes: readonly MountAttribute[]): number {
  const context = fsopen(fileSystem, 1);
  try {
    if (fileSystem === 'tmpfs') fsconfig(context, setString, 'source', 'moor', 0);
    for (const parameter of parameters) {
      const at = parameter.indexOf('=');
      if (at < 0) fsconfig(context, setFlag, parameter, null, 0);
      else fsconfig(context, setString, parameter.slice(0, at), parameter.slice(at + 1), 0);
    }
    fsconfig(context, create, null, null, 0);
    return fsmount(context, 1, bitsOf(attributes));
  } finally {
    close(context);
  }
}

const [setFlag, setString, create] = [0, 1, 6];

/** Of a parameter's value in fsconfig(2), with its end. */
export const mostParameterBytes = 256;

/** By mount(2), for parameters that fsconfig(2) does not take: attached to `target` for a moment, in this mount namespace. */
export function newMountAt(target: string, fileSystem: string, { parameters, attributes }: MountParameters): number {
  mountCall(fileSystem, target, fileSystem, bitsOf(attributes), parameters.join(','));
  const found = openPath(target);
  try {
    return copyMount(found, false);
  } finally {
    close(found);
    umount2(target, 2);
  }
}

interface MountParameters {
  readonly parameters: readonly string[];
  readonly attributes: readonly MountAttribute[];
}

/** A copy of what an open file or directory is in, from there on, attached nowhere. `all`: with the mounts below it. */
export const copyMount = (file: number, all: boolean): number => openTree(file, '', 1 | closeOnExec | emptyPath | (all ? recursively : 0));

/** Attaches a detached mount to what a descriptor stands for. */
export function attach(mount: number, target: number): void {
  moveMount(mount, '', target, '', 0x4 | 0x40);
}

export function setAttributes(mount: number, { attributes = [], propagation, all = false }: AttributeChange): void {
  const change = Buffer.alloc(32);
  change.writeBigUInt64LE(BigInt(bitsOf(attributes)), 0);
  if (propagation !== undefined) change.writeBigUInt64LE(BigInt(propagations[propagation]), 16);
  mountSetattr(mount, '', emptyPath | (all ? recursively : 0), change, change.length);
}

interface AttributeChange {
  /** Set besides those that it has. */
  readonly attributes?: readonly MountAttribute[];
  readonly propagation?: Propagation;
  /** With the mounts below it. */
  readonly all?: boolean;
}

/** No mount that is made in this namespace appears in another one. */
export const isolateMounts = (): void => void mountCall('none', '/', null, 0x4000 | propagations.slave, null);

/** Makes the current directory, a mount, the root of the namespace, and unmounts the root before with all below it. */
export function changeRoot(): void {
  pivotRoot('.', '.');
  // The former root is on top of the new one.
  umount2('.', 2);
  changeDirectory('/');
}

const [pathOnly, writeOnly, { O_NOFOLLOW, O_CREAT, O_EXCL }] = [0x20_0000, 1, constants];
const resolve = { noMagicLinks: 2, noLinks: 4, beneath: 8, inRoot: 0x10 } as const;

function open(directory: number, path: string, flags: number, resolution: number, mode = 0): number {
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(flags | closeOnExec), 0);
  how.writeBigUInt64LE(BigInt(mode), 8);
  how.writeBigUInt64LE(BigInt(resolution), 16);
  return openat2(directory, path, how, how.length);
}

/** What a single name in a directory stands for: a link itself. Undefined: there is none. */
export function openName(directory: number, name: string): number | undefined {
  try {
    return open(directory, name, pathOnly | O_NOFOLLOW, resolve.beneath | resolve.noMagicLinks);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A path as a process with this root resolves it. Undefined: there is none; or it leads over a link of /proc, or changes at this moment. */
export function openInRoot(root: number, path: string): number | undefined {
  try {
    return open(root, path, pathOnly, resolve.inRoot | resolve.noMagicLinks);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'EAGAIN', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** A path below a directory that contains no link. Undefined: there is none. */
export function openBeneath(directory: number, path: string): number | undefined {
  try {
    return open(directory, path, pathOnly, resolve.beneath | resolve.noLinks | resolve.noMagicLinks);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** A path of the host, or below its working directory. Links are followed, those of /proc too. */
export const openPath = (path: string): number => open(here, path, pathOnly, 0);

/** The name must not exist; a link in its place is not followed. */
export function makeFile(directory: number, name: string, mode: number): void {
  close(open(directory, name, O_CREAT | O_EXCL | writeOnly, resolve.beneath | resolve.noLinks, mode));
}

export const makeDirectoryIn = (directory: number, name: string, mode: number): void => void mkdirat(directory, name, mode);

/** A path of the host. */
export const makeNode = (path: string, { mode, rdev }: { readonly mode: number; readonly rdev: number }): void => void mknodat(here, path, mode, rdev);

/** The text of an open link. */
export function linkText(link: number): string {
  const buffer = Buffer.alloc(4096);
  return buffer.toString('utf8', 0, readlinkat(link, '', buffer, buffer.length));
}

const procMagic = 0x9fa0;

/** Whether an open file lies in a /proc file system. */
export function isInProc(file: number): boolean {
  const facts = Buffer.alloc(256);
  fstatfs(file, facts);
  return facts.readUInt32LE(0) === procMagic;
}
