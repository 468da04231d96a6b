import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import koffi from 'koffi';
import { systemError } from './system-error.ts';

/** Requests of ioctl(2): linux/loop.h, and ext4's own. */
const [clear, setCapacity, configure, getFree, resizeExt4] = [0x4c01, 0x4c07, 0x4c0a, 0x4c82, 0x4008_6610];
/** LO_FLAGS_AUTOCLEAR: the kernel releases the device with its last file descriptor and mount. */
const autoClear = 4;
/** struct loop_config: a descriptor, then at 8 a loop_info64 with its flags at 52. */
const configSize = 304;
const flagsAt = 60;
const mostAttempts = 32;

/** By image: the last task. Two loop devices for one file would corrupt its file system. */
const pendingTasks = new Map<string, Promise<unknown>>();

export interface LoopDeviceRequest {
  /** A file, by its path without links. */
  readonly image: string;
  /**
   * `while-mounted` or open: for an image with a file system; a killed process leaves no device behind.
   * `until-released`: for a raw block volume; the caller must have recorded that the device has to be released.
   */
  readonly lasts: 'while-mounted' | 'until-released';
  /** Whether a device is mounted, as far as this process sees. */
  readonly isMounted: (device: string) => Promise<boolean>;
}

/** Calls with the loop device of the image. */
export async function withLoopDevice<T>(wanted: LoopDeviceRequest, task: (device: string) => Promise<T>): Promise<T> {
  return withImageLock(wanted.image, async () => {
    if (wanted.lasts === 'while-mounted') await waitUntilReleased(wanted);
    const device = (await openDeviceOf(wanted.image)) ?? (await attach(wanted.image, wanted.lasts));
    try {
      return await task(device.path);
    } finally {
      await device.handle.close();
    }
  });
}

/**
 * A starting container holds copies of all mounts for a moment. An image that has grown meanwhile and is mounted nowhere else can be resized once
 * these are gone; resizing a mounted file system needs CAP_SYS_RESOURCE. If they stay, it is mounted with its old size.
 */
async function waitUntilReleased({ image, isMounted }: LoopDeviceRequest): Promise<void> {
  for (let left = releaseTimeoutMs / pollMs; left > 0; left--) {
    if ((await missingBlocks(image)) === undefined) return;
    const device = await openDeviceOf(image);
    if (device === undefined) return;
    await device.handle.close();
    if (await isMounted(device.path)) return;
    await new Promise((resolve) => void setTimeout(resolve, pollMs));
  }
}

const releaseTimeoutMs = 10_000;
const pollMs = 50;

/**
 * Grows a mounted file system to the size of its image; an unmounted one is grown when it is mounted.
 * @throws with code EBUSY where the process may not resize a mounted file system (CAP_SYS_RESOURCE)
 */
export async function growMounted(image: string, mountedFrom: (device: string) => Promise<string | undefined>): Promise<void> {
  await withImageLock(image, async () => {
    const device = await openDeviceOf(image);
    if (device === undefined) return;
    try {
      control(device.handle.fd, setCapacity, null);
      const target = await mountedFrom(device.path);
      if (target !== undefined) await growWhereMounted(target, image);
    } finally {
      await device.handle.close();
    }
  });
}

/** Releases the loop device of an image, unless it is mounted or bound. A process with an open descriptor keeps it until it closes that. */
export async function releaseDevice(image: string, isPlaced: (device: string) => Promise<boolean>): Promise<void> {
  await withImageLock(image, async () => {
    const device = (await openDeviceOf(image)) ?? (await openDeviceOf(`${image} (deleted)`));
    if (device === undefined) return;
    try {
      if (!(await isPlaced(device.path))) control(device.handle.fd, clear, null);
    } finally {
      await device.handle.close();
    }
  });
}

/** The files below a directory that have a loop device, also those that were deleted. */
export async function imagesWithDevice(directory: string): Promise<readonly string[]> {
  const names = (await fs.readdir('/sys/block').catch(() => [])).filter((name) => name.startsWith('loop'));
  const files = await Promise.all(names.map(fileBehind));
  return files.flatMap((file) => (file?.startsWith(`${directory}/`) === true ? file.replace(/ \(deleted\)$/, '') : []));
}

/** Resizes ext4 online to the size of the image. */
async function growWhereMounted(target: string, image: string): Promise<void> {
  const wanted = await missingBlocks(image);
  if (wanted === undefined) return;
  const mounted = await fs.open(target, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const count = Buffer.alloc(8);
    count.writeBigUInt64LE(wanted);
    await controlInThread(mounted.fd, resizeExt4, count);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    throw Object.assign(new Error(`${image} is mounted, and growing it there is not permitted (CAP_SYS_RESOURCE): it can grow once no pod uses it`), {
      code: 'EBUSY',
    });
  } finally {
    await mounted.close();
  }
}

/** The same for an unmounted image. The programs may outlive this process if it is killed: the file lock makes the next caller wait for them. */
async function growUnmounted(image: string): Promise<void> {
  if ((await missingBlocks(image)) === undefined) return;
  const script = 'e2fsck -f -p "$0"; if [ $? -gt 1 ]; then exit 1; fi; exec resize2fs "$0"';
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
  await new Promise<void>((resolve, reject) => {
    execFile('flock', [image, 'sh', '-c', script, image], { env, timeout: longestMs }, (error, _, said) => {
      if (error === null) resolve();
      else reject(new Error(`growing ${image}: ${said.trim().slice(0, 500) || error.message}`));
    });
  });
}

const longestMs = 120_000;

/** How many blocks fit in the file, if ext4 uses fewer. */
async function missingBlocks(image: string): Promise<bigint | undefined> {
  const file = await fs.open(image, 'r');
  try {
    const { buffer: block } = await file.read(Buffer.alloc(1024), 0, 1024, 1024);
    const blockSize = 1024n << BigInt(block.readUInt32LE(0x18));
    const has = BigInt(block.readUInt32LE(0x4)) | (BigInt(block.readUInt32LE(0x150)) << 32n);
    const room = BigInt((await file.stat()).size) / blockSize;
    return block.readUInt16LE(0x38) === 0xef53 && room > has ? room : undefined;
  } finally {
    await file.close();
  }
}

interface OpenDevice {
  readonly path: string;
  /** Keeps the device from being released. */
  readonly handle: FileHandle;
}

/** `file`: the kernel's path of the backing file. */
async function openDeviceOf(file: string): Promise<OpenDevice | undefined> {
  const names = (await fs.readdir('/sys/block')).filter((name) => name.startsWith('loop'));
  const name = (await Promise.all(names.map(async (each) => ((await fileBehind(each)) === file ? each : undefined)))).find((each) => each !== undefined);
  if (name === undefined) return undefined;
  const path = `/dev/${name}`;
  const handle = await openUnlessReleased(path);
  // Before it was opened it may have been released, and attached to another file.
  if (handle === undefined) return undefined;
  if ((await fileBehind(name)) === file) return { path, handle };
  await handle.close();
  return undefined;
}

/** Undefined: the kernel is releasing it. */
const openUnlessReleased = (path: string): Promise<FileHandle | undefined> =>
  fs.open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENXIO') return undefined;
    throw error;
  });

const fileBehind = (name: string): Promise<string | undefined> =>
  fs.readFile(`/sys/block/${name}/loop/backing_file`, 'utf8').then(
    (text) => text.replace(/\n$/, ''),
    () => undefined,
  );

async function attach(image: string, lasts: LoopDeviceRequest['lasts']): Promise<OpenDevice> {
  if (lasts === 'while-mounted') await growUnmounted(image);
  const file = await fs.open(image, 'r+');
  try {
    const control = await fs.open('/dev/loop-control', 'r+');
    try {
      return await attachFree({ file, free: control, flags: lasts === 'while-mounted' ? autoClear : 0 });
    } finally {
      await control.close();
    }
  } finally {
    await file.close();
  }
}

interface AttachRequest {
  readonly file: FileHandle;
  /** /dev/loop-control, which names a free device. */
  readonly free: FileHandle;
  readonly flags: number;
}

/** Another process may take the free device first: then the next one is tried. */
async function attachFree({ file, free, flags }: AttachRequest): Promise<OpenDevice> {
  const config = Buffer.alloc(configSize);
  config.writeUInt32LE(file.fd, 0);
  config.writeUInt32LE(flags, flagsAt);
  for (let attempt = 1; ; attempt++) {
    const path = `/dev/loop${control(free.fd, getFree, null)}`;
    const handle = await openUnlessReleased(path);
    try {
      if (handle === undefined) throw Object.assign(new Error(`${path} is being released`), { code: 'EBUSY' });
      control(handle.fd, configure, config);
      return { path, handle };
    } catch (error) {
      await handle?.close();
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || attempt === mostAttempts) throw error;
    }
  }
}

async function withImageLock<T>(image: string, task: () => Promise<T>): Promise<T> {
  const before = pendingTasks.get(image) ?? Promise.resolve();
  const own = before.then(task, task);
  const settled = own.catch(() => undefined);
  pendingTasks.set(image, settled);
  try {
    return await own;
  } finally {
    if (pendingTasks.get(image) === settled) pendingTasks.delete(image);
  }
}

const ioctl = koffi.load(null).func('int ioctl(int fd, unsigned long request, void *argument)');

function control(fd: number, request: number, argument: Buffer | null): number {
  const result = ioctl(fd, request, argument) as number;
  if (result >= 0) return result;
  throw systemError('ioctl', koffi.errno());
}

/** In a thread, since resizing may take a while. */
const controlInThread = (fd: number, request: number, argument: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    ioctl.async(fd, request, argument, (error: unknown, result: number) => {
      const errno = koffi.errno();
      if (error instanceof Error) reject(error);
      else if (result < 0) reject(systemError('ioctl', errno));
      else resolve();
    });
  });
