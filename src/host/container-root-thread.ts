/** A worker thread of `ContainerRootThreads`: it makes the root file systems of containers, each in the mount namespace of its first process. */
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, readlinkSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parentPort } from 'node:worker_threads';
import koffi from 'koffi';
import type { ContainerDevice } from '../node/contract.ts';
import type { ContainerRoot, RootBind, RootMount } from '../node/runtimes/sandbox/container-root.ts';
import { parseMountInfo } from './mount-info.ts';
import { argumentsOf } from './mounts.ts';
import { systemError } from './system-error.ts';
import type { ContainerRootRequest } from './container-root-threads.ts';

const library = koffi.load(null);
const call = (name: string, types: string) => {
  const function_ = library.func(`int ${name}(${types})`);
  return (...args: readonly (string | number | Buffer | null)[]): void => check(name, function_(...args) as number, args);
};
const unshare = call('unshare', 'int flags');
const setns = call('setns', 'int fd, int type');
const mount = call('mount', 'const char *source, const char *target, const char *type, unsigned long flags, const char *data');
const unmount = call('umount2', 'const char *target, int flags');
const changeDirectory = call('chdir', 'const char *path');
const makeNode = call('mknod', 'const char *path, unsigned int mode, unsigned long device');
/** System calls without a function in the C library. */
const pivot = library.func('long syscall(long number, const char *root, const char *old)');
const setAttributes = library.func('long syscall(long number, int directory, const char *path, unsigned int flags, void *attributes, size_t size)');

const [cloneFs, cloneMounts, cloneIpc] = [0x200, 0x2_0000, 0x800_0000];
const [detach, recursive] = [2, 0x4000];
const propagations = { private: 0x4_0000, slave: 0x8_0000, shared: 0x10_0000 } as const;
/** Of pivot_root(2); mount_setattr(2) has the same number on every architecture. */
const pivotNumbers: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { x64: 155, ia32: 217, arm: 218, s390x: 217, ppc64: 203 };
const [pivotNumber, setAttributesNumber] = [pivotNumbers[process.arch] ?? 41, 442];
const [here, recursively, attributeReadOnly] = [-100, 0x8000, 1n];

function check(name: string, result: number, args: readonly unknown[]): void {
  if (result !== 0) throw systemError(name, koffi.errno(), args);
}

/** Answers requests of the parent thread, one at a time. */
export function runContainerRootThread(): void {
  // setns(2) into a mount namespace needs a file system context that is not shared with other threads.
  unshare(cloneFs);
  const home = { mounts: openSync('/proc/thread-self/ns/mnt', 'r'), ipc: openSync('/proc/thread-self/ns/ipc', 'r') };
  const own = readlinkSync('/proc/thread-self/ns/mnt');
  const answer = ({ pid, root }: ContainerRootRequest): string => {
    try {
      if (readlinkSync(`/proc/${pid}/ns/mnt`) === own) return 'it has no mount namespace of its own';
      demandShared(root.shared, pid);
      enter(pid);
      makeRoot(root);
      return '';
    } catch (error) {
      return (error as Error).message;
    } finally {
      // If this fails, the thread ends with it.
      setns(home.mounts, cloneMounts);
      setns(home.ipc, cloneIpc);
    }
  };
  parentPort?.on('message', (request: ContainerRootRequest) => parentPort?.postMessage(answer(request)));
  parentPort?.postMessage('');
}

/** The ipc namespace as well: mqueue belongs to the namespace of the thread that mounts it. */
function enter(pid: number): void {
  for (const [name, type] of [
    ['ipc', cloneIpc],
    ['mnt', cloneMounts],
  ] as const) {
    const namespace = openSync(`/proc/${pid}/ns/${name}`, 'r');
    try {
      setns(namespace, type);
    } finally {
      closeSync(namespace);
    }
  }
}

/** With containerd's message. */
function demandShared(paths: readonly string[], pid: number): void {
  if (paths.length === 0) return;
  const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n');
  const mounts = lines.flatMap((line) => parseMountInfo(line).map(({ target }) => ({ target, isShared: / shared:\d+ .*- /.test(line) })));
  for (const one of paths) {
    const depth = (target: string) => (target === '/' ? 0 : target.length);
    const around = mounts.filter(({ target }) => target === '/' || one === target || one.startsWith(`${target}/`));
    // Of several mounts on one target the last is visible.
    const found = around.reduce((best, each) => (depth(each.target) >= depth(best.target) ? each : best), { target: '/', isShared: false });
    if (!found.isShared) throw new Error(`path "${one}" is mounted on "${found.target}" but it is not a shared mount`);
  }
}

function makeRoot({ scratch: stage, cleared, shared, mounts, devices, workingDir, readOnly }: ContainerRoot): void {
  // A link in a volume must not lead to the host's root: its name is random, and it is unmounted before the container starts.
  const host = `/.host-${randomBytes(16).toString('hex')}`;
  mount('moor', stage, 'tmpfs', 0, 'mode=755');
  changeDirectory(stage);
  for (const directory of ['work', 'root', `upper${host}`, 'upper/etc', 'dev/upper', 'dev/work']) makeDirectory(directory);
  for (const file of cleared) writeFileSync(`upper${file}`, '');
  mount('overlay', 'root', 'overlay', 0, 'lowerdir=/,upperdir=upper,workdir=work');
  changeDirectory('root');
  check('pivot_root', pivot(pivotNumber, '.', `.${host}`) as number, ['.', `.${host}`]);
  changeDirectory(`${host}${stage}`);
  for (const each of mounts) mountInside(each, host);
  for (const device of devices) makeDevice(device, host);
  changeDirectory('/');
  // Unmounting it here must not propagate to the host.
  if (shared.length > 0) mount('none', host, null, recursive | propagations.slave, null);
  unmount(host, detach);
  rmdirSync(host);
  if (workingDir !== '') tryMake(workingDir);
  if (readOnly) makeReadOnly('/', 0);
}

const makeDirectory = (directory: string): void => void mkdirSync(directory, { recursive: true, mode: 0o755 });

/** An error shows when the process changes to the directory. */
function tryMake(directory: string): void {
  try {
    makeDirectory(inside(directory));
  } catch {
    // reported by the process
  }
}

/** `host`: where the host's root is mounted. */
function mountInside(each: RootMount, host: string): void {
  try {
    if (each.type === 'bind') return bindInside(each, host);
    makeDirectory(each.target);
    mount(...argumentsOf({ ...each, source: each.fileSystem === 'tmpfs' ? 'moor' : each.fileSystem }));
  } catch (error) {
    if (each.type !== 'bind' && each.mayFail === true) return;
    // The random name is left out, so that the message is stable.
    throw new Error(`cannot mount ${each.target}: ${(error as Error).message.replaceAll(host, '')}`, { cause: error });
  }
}

function bindInside({ source, from, target, only, readOnly, propagation, ...more }: RootBind, host: string): void {
  const [seen, isRecursive] = [from === 'inside' ? source : `${host}${source}`, more.recursive];
  const facts = statSync(seen, { throwIfNoEntry: more.mayFail !== true });
  if (facts === undefined) return;
  const isDirectory = facts.isDirectory();
  if (only !== undefined && isDirectory !== (only === 'directory')) return;
  const place = inside(target);
  makeDirectory(isDirectory ? place : path.dirname(place));
  if (!isDirectory && !existsSync(place)) writeFileSync(place, '');
  mount(...argumentsOf({ type: 'bind', source: seen, target: place, recursive: isRecursive }));
  if (readOnly !== false) makeReadOnly(place, readOnly === 'itself' ? 0 : recursively);
  if (propagation !== 'private') mount('none', place, null, recursive | propagations[propagation], null);
}

/** Resolves links by their text: following links of /proc would lead into other roots. The result need not exist yet. */
function inside(target: string): string {
  const parts = target.split('/');
  let place = '/';
  let links = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const next = path.join(place, part);
    const link = linkAt(next);
    if (link !== undefined && ++links > mostLinks) throw new Error('too many levels of symbolic links');
    if (link === undefined) place = next;
    else {
      parts.unshift(...link.split('/'));
      if (link.startsWith('/')) place = '/';
    }
  }
  return place;
}

/** Linux' limit. */
const mostLinks = 40;

function linkAt(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

/** Keeps the other options of the mount. Linux before 5.12 has only the remount, which does not. */
function makeReadOnly(target: string, flags: number): void {
  const attributes = Buffer.alloc(32);
  attributes.writeBigUInt64LE(attributeReadOnly);
  const result = setAttributes(setAttributesNumber, here, target, flags, attributes, attributes.length) as number;
  if (result === 0) return;
  if (koffi.errno() !== koffi.os.errno['ENOSYS']) throw systemError('mount_setattr', koffi.errno(), [target]);
  mount(...argumentsOf({ type: 'options', target, options: ['ro'] }));
}

function makeDevice({ hostPath, containerPath, readOnly }: ContainerDevice, host: string): void {
  try {
    const { mode, rdev, uid, gid } = statSync(`${host}${hostPath}`);
    const place = inside(containerPath);
    makeDirectory(path.dirname(place));
    makeNode(place, mode, rdev);
    chownSync(place, uid, gid);
    chmodSync(place, readOnly ? mode & 0o7555 : mode & 0o7777);
  } catch (error) {
    throw new Error(`cannot make the device ${containerPath}: ${(error as Error).message.replaceAll(host, '')}`, { cause: error });
  }
}
