import { readFile } from 'node:fs/promises';
import koffi, { type LibraryHandle } from 'koffi';
import type { MountEntry, MountRequest, Mounts } from '../world/mounts.ts';
import { withLoopDevice } from './loop-devices.ts';
import { mountInfoParser, parseMountInfo } from './mount-info.ts';
import { systemError } from './system-error.ts';

/** Flags of mount(2), by their names in mount(8). */
const flags: Readonly<Record<string, number>> = {
  ro: 0x1,
  nosuid: 0x2,
  nodev: 0x4,
  noexec: 0x8,
  sync: 0x10,
  mand: 0x40,
  dirsync: 0x80,
  noatime: 0x400,
  nodiratime: 0x800,
  relatime: 0x20_0000,
  strictatime: 0x100_0000,
  lazytime: 0x200_0000,
};
const [remount, bind, recursive] = [0x20, 0x1000, 0x4000];
/** Defaults, for which the kernel has no flag. */
const usual = new Set(['rw', 'suid', 'dev', 'exec', 'async', 'atime', 'diratime', 'defaults', 'nouser', '_netdev', 'nofail', 'auto', 'noauto']);

const how = { plain: 0, force: 1, lazy: 2 } as const;

type SystemCall = (...args: readonly (string | number | null)[]) => Promise<void>;

/**
 * The mounts of this machine, by mount(2) and umount2(2) without a child process. Calls run in threads, since a file server that does not answer can
 * block one for ever.
 */
export function realMounts(): Mounts {
  const library = koffi.load(null);
  const mount = systemCall('mount', library.func('int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)'));
  const unmount = systemCall('umount2', library.func('int umount2(const char *target, int flags)'));
  return {
    table: sharedReads(mountInfoParser()),
    mount: (request) => mountAny(request, mount),
    unmount: (target, why = 'plain') => unmount(target, how[why]),
  };
}

export const readMounts = async (): Promise<readonly MountEntry[]> => parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));

const isMounted = async (device: string): Promise<boolean> => (await readMounts()).some(({ source }) => source === device);

/**
 * Calls during a read share the next one: every mount before a call is in its result, and a hundred pods that start at once do not read the table a
 * thousand times.
 */
function sharedReads(parse: (text: string) => readonly MountEntry[]): Mounts['table'] {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly MountEntry[]> | undefined;
  return () => {
    next ??= last.then(() => {
      next = undefined;
      const reading = readFile('/proc/self/mountinfo', 'utf8').then(parse);
      last = reading.catch(() => undefined);
      return reading;
    });
    return next;
  };
}

/** In a thread: it may take a while. Its result is 0. */
export function systemCall(name: string, call: ReturnType<LibraryHandle['func']>): SystemCall {
  return (...args) =>
    new Promise((resolve, reject) => {
      call.async(...args, (error: unknown, result: number) => {
        // errno is valid only here, before any other call.
        const errno = koffi.errno();
        if (error instanceof Error) reject(error);
        else if (result === 0) resolve();
        else reject(systemError(name, errno, args));
      });
    });
}

function mountAny(request: MountRequest, mount: SystemCall): Promise<void> {
  switch (request.type) {
    case 'image': {
      const { image, ...rest } = request;
      return withLoopDevice({ image, lasts: 'while-mounted', isMounted }, (source) => mount(...argumentsOf({ ...rest, type: 'file-system', source })));
    }
    case 'device': {
      const { image, target } = request;
      return withLoopDevice({ image, lasts: 'until-released', isMounted }, (source) =>
        mount(...argumentsOf({ type: 'bind', source, target, recursive: false })),
      );
    }
    default:
      return mount(...argumentsOf(request));
  }
}

/** The arguments of mount(2). */
export function argumentsOf(request: Exclude<MountRequest, { type: 'image' | 'device' }>): readonly (string | number | null)[] {
  switch (request.type) {
    case 'bind':
      return [request.source, request.target, null, bind | (request.recursive ? recursive : 0), null];
    case 'options': {
      const { bits } = split(request.options);
      return ['none', request.target, null, remount | bind | bits, null];
    }
    case 'file-system': {
      const { bits, rest } = split(request.options);
      return [request.source, request.target, request.fileSystem, bits, rest];
    }
  }
}

function split(options: readonly string[]): { readonly bits: number; readonly rest: string | null } {
  const own = options.filter((option) => option !== '' && !usual.has(option) && flags[option] === undefined);
  return { bits: options.reduce((sum, option) => sum | (flags[option] ?? 0), 0), rest: own.length === 0 ? null : own.join(',') };
}
