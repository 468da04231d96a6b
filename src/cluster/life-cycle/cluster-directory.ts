/** The data directory of a cluster from its start to its end. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identityOfProcess } from '../../host/process-identity.ts';
import type { World } from '../../world/world.ts';
import type { CleanupStack } from '../cleanup-stack.ts';
import { manifestFile, type StoreKind } from '../data-directory/data-manifest.ts';
import { foreignFileIn } from '../data-directory/foreign-files.ts';
import { version } from '../version.ts';
import { lockCluster, lockFile } from './cluster-lock.ts';
import { allRecords, type ClusterRecord, readRecord, saveRecord } from './cluster-record.ts';
import { removeData } from './remove-data.ts';
import { leftoversIn, tearDown, type TearDownOptions } from './tear-down.ts';

/** The directory cannot be used; the message says why. */
export class ClusterDirectoryError extends Error {}

export interface ClusterDirectory {
  readonly path: string;
  /** Resolves when it was removed by other means. */
  readonly removed: Promise<undefined>;
  /** Records where the cluster is reached. */
  record(reached: Pick<ClusterRecord, 'url' | 'kubeconfig' | 'hostPathVolumes'>): void;
}

interface DirectoryOptions extends Pick<ClusterRecord, 'runtime' | 'name'> {
  readonly dataDir?: string;
  readonly kubeconfig?: string;
  readonly ephemeral?: boolean;
  readonly logFile?: string | undefined;
  readonly store?: StoreKind;
  readonly onProgress?: TearDownOptions['onProgress'];
}

/** @throws ClusterDirectoryError */
export async function openClusterDirectory(options: DirectoryOptions, { world, cleanup }: { world: World; cleanup: CleanupStack }): Promise<ClusterDirectory> {
  const { name, runtime, logFile, dataDir = path.join(tmpdir(), `mooring-${randomUUID().slice(0, 8)}`) } = options;
  const ephemeral = options.ephemeral ?? options.dataDir === undefined;
  const { onProgress = () => undefined } = options;
  // First, so that a deletion of this very directory that was interrupted is finished.
  await removeAbandoned({ world, onProgress });
  await makeDirectory(dataDir);
  const directory = await realpath(dataDir);
  await checkOwner(directory);
  const foreign = await foreignFileIn(directory);
  if (foreign !== undefined)
    throw new ClusterDirectoryError(`${foreign} is not Mooring's, and a cluster needs a file of this name. Choose another --data-dir; nothing was changed.`);
  const lock = await lockCluster(directory);
  if (lock === undefined) throw new ClusterDirectoryError(inUse(directory));
  cleanup.defer(() => lock.release());
  const isNew = (await readdir(directory)).every((file) => file === 'moor.log' || file === lockFile);
  if (ephemeral && !isNew && options.store !== 'memory')
    throw new ClusterDirectoryError(`${dataDir} holds data, which --ephemeral would delete at the end. Choose an empty --data-dir, or none.`);
  const hasObjects = existsSync(path.join(directory, 'store')) || (options.store === 'etcd' && existsSync(manifestFile(directory)));
  if (runtime === 'sandbox' && !hasObjects) await removeStrayMounts(directory, { world, onProgress });
  let hasStarted = false;
  const record: ClusterDirectory['record'] = (reached) => {
    hasStarted = reached.url !== '';
    const unlisted = saveRecord({
      ...(name === undefined ? {} : { name }),
      dataDir: directory,
      ...reached,
      process: identityOfProcess(process.pid),
      ...(logFile === undefined ? {} : { logFile }),
      startedAt: new Date(world.clock.now()).toISOString(),
      version,
      runtime,
      ephemeral: ephemeral && isNew,
    });
    if (unlisted !== undefined && reached.url !== '')
      world.log.warn('"moor list" does not know this cluster, nor does the next "moor" remove it after a kill -9: name it with --data-dir', {
        directory,
        unlisted,
      });
  };
  // From now on "moor list" and "moor delete" know it, also if the start is killed.
  if (isNew) record({ url: '', kubeconfig: options.kubeconfig ?? path.join(directory, 'kubeconfig') });
  cleanup.defer(async () => {
    // A first start that failed has acknowledged nothing. What it wrote to etcd stays, and so does what says where that is.
    const neverStarted = isNew && !hasStarted && options.store !== 'etcd';
    if (!ephemeral && !neverStarted) return;
    if (runtime === 'sandbox') await tearDown(directory, { world, onProgress });
    if (isNew) await removeData(directory);
  });
  return { path: directory, record, removed: whenRemoved(directory, { world, cleanup }) };
}

/** Before anything is written: files of two users in one directory lock both out. @throws ClusterDirectoryError */
async function checkOwner(directory: string): Promise<void> {
  const own = process.getuid?.();
  for (const name of ['store', 'pki', 'manifest.json']) {
    const uid = (await stat(path.join(directory, name)).catch(() => undefined))?.uid;
    if (uid === undefined || uid === own) continue;
    throw new ClusterDirectoryError(
      `${directory} belongs to the user with id ${uid}, and this process runs as ${own}. Start it as that user, or choose another --data-dir; nothing was changed.`,
    );
  }
}

/** Its lock is gone, or another process has made a new directory with one. */
function whenRemoved(directory: string, { world, cleanup }: { world: World; cleanup: CleanupStack }): Promise<undefined> {
  const inode = (): Promise<number> =>
    stat(path.join(directory, lockFile)).then(
      ({ ino }) => ino,
      // A disk that fails is the store's to report.
      ({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' || code === 'ENOTDIR' ? 0 : Number.NaN),
    );
  return new Promise((resolve) => {
    let cancel = () => {};
    let isStopped = false;
    const look = async (before: number): Promise<void> => {
      const now = await inode();
      if (isStopped) return;
      if (now === before || Number.isNaN(now)) cancel = world.timers.after(lookEveryMs, () => void look(before));
      else resolve(undefined);
    };
    void inode().then(look);
    cleanup.defer(async () => {
      isStopped = true;
      cancel();
    });
  });
}

const lookEveryMs = 1000;

/** What runs of a cluster whose data directory was removed by other means, and what is left of the directory. */
export async function removeRemains(dataDir: string, options: TearDownOptions): Promise<void> {
  const lock = existsSync(dataDir) ? await lockCluster(dataDir) : undefined;
  // Nothing is left, or another process has started a cluster there.
  if (lock === undefined) return;
  try {
    await tearDown(dataDir, options);
    await removeData(dataDir);
  } finally {
    await lock.release();
  }
}

/** One directory after the other: where the parent exists and a directory cannot be made, as in /proc, Node.js' recursive mkdir never ends. */
export async function makeDirectory(directory: string): Promise<void> {
  if (existsSync(directory)) return;
  await makeDirectory(path.dirname(directory));
  await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new ClusterDirectoryError(`${directory} cannot be created: its file system has no directories of users. Choose another --data-dir.`, {
        cause: error,
      });
    if (error.code !== 'EEXIST') throw error;
  });
}

const inUse = (directory: string): string => {
  const pid = readRecord(directory)?.process.pid ?? 0;
  return `${directory} is in use by another moor${pid === 0 ? '' : ` (process ${pid})`}. Stop that one ("moor stop"), or choose another name, or another directory with --data-dir.`;
};

/** Ephemeral clusters whose process was killed, and deletions that were. What cannot be removed is told, and nothing else waits for it. */
export async function removeAbandoned(options: TearDownOptions): Promise<void> {
  const { world } = options;
  for (const { ephemeral, dataDir } of allRecords()) {
    if (!ephemeral) continue;
    const lock = await lockCluster(dataDir).catch(() => undefined);
    // It runs.
    if (lock === undefined) continue;
    options.onProgress?.(`Removing the ephemeral cluster in ${dataDir}, whose process was killed`);
    try {
      await tearDown(dataDir, options);
      await removeData(dataDir);
      world.log.info('removed an ephemeral cluster whose process was killed, or finished a deletion', { dataDir });
    } catch (error) {
      world.log.warn('cannot remove an ephemeral cluster whose process was killed, or finish a deletion', { dataDir, error });
    } finally {
      await lock.release();
    }
  }
}

/** A directory without a cluster has no pods: what is mounted in it was left when the directory was removed by other means. */
async function removeStrayMounts(directory: string, options: TearDownOptions): Promise<void> {
  const { mounts, images } = await leftoversIn(directory);
  if (mounts.length + images.length === 0) return;
  const { pods } = await tearDown(directory, options);
  options.world.log.warn('the data directory was removed while its pods ran: their processes, mounts and devices have been removed', {
    directory,
    pods,
    mounts: mounts.length,
    devices: images.length,
  });
}
