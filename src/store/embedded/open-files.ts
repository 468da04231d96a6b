import type { Disk, DiskLock } from '../../world/disk.ts';
import type { World } from '../../world/world.ts';
import { StoreError } from '../contract.ts';
import type { Tree } from '../mvcc/tree.ts';
import { CommitLog, createSegment } from './commit-log.ts';
import { StoreDamage } from './damage.ts';
import { Manifest, MANIFEST } from './manifest.ts';
import { createProgress, Progress } from './progress.ts';
import { discardRest, type Examined, examine } from './recovery.ts';

export interface OpenedFiles {
  readonly tree: Tree;
  readonly manifest: Manifest;
  readonly log: CommitLog;
  readonly progress: Progress;
}

interface OpenOptions {
  readonly directory: string;
  readonly disk: Disk;
  readonly world?: Pick<World, 'log' | 'timers'>;
  readonly segmentBytes?: number;
  readonly expectedClusterId?: string;
  readonly newClusterId?: string;
}

export const DEFAULT_SEGMENT_BYTES = 16 << 20;

/** The identity of a store whose caller gives it none. */
const NO_CLUSTER = '00000000-0000-0000-0000-000000000000';

/** @throws StoreError `locked` */
export async function lockStore(disk: Disk, directory: string): Promise<DiskLock> {
  const lock = await disk.lock(directory);
  if (lock === undefined) throw new StoreError('locked', `${directory} is in use by another process${await holderOf(disk, directory)}`);
  return lock;
}

/** The real disk notes its holder in the lock file. */
async function holderOf(disk: Disk, directory: string): Promise<string> {
  try {
    const pid = new TextDecoder().decode(await disk.read(`${directory}/lock`, 0, 32)).trim();
    return /^\d+$/.test(pid) ? ` (pid ${pid})` : '';
  } catch {
    return '';
  }
}

/** Brings back what the last process left, or creates a store; the caller holds the lock. @throws StoreError; then nothing was changed */
export async function openFiles(options: OpenOptions): Promise<OpenedFiles> {
  const { directory, disk, world, expectedClusterId } = options;
  const found = await examine(disk, directory);
  checkIdentity(directory, found, expectedClusterId);
  // Files that a killed process created or renamed may not be durable yet, and the next steps rely on them.
  await disk.syncDirectory(directory);
  await discardRest(disk, directory, found);
  const { tree, snapshot, segments } = found;
  const clusterId = found.clusterId ?? options.newClusterId ?? NO_CLUSTER;
  const manifest = new Manifest({ disk, directory, clusterId }, { snapshot, segments });
  const logOptions = { directory, disk, manifest, segmentBytes: options.segmentBytes ?? DEFAULT_SEGMENT_BYTES };
  if (found.state === 'format 1') {
    await createProgress(disk, directory, clusterId);
    await manifest.update((layout) => layout);
  }
  if (segments.length === 0) {
    // The manifest comes first: files without one are never taken for a store that is being created.
    if (found.state === 'new') await manifest.update((layout) => layout);
    const first = await createSegment(logOptions, tree.revision);
    await createProgress(disk, directory, clusterId);
    await manifest.update((layout) => ({ ...layout, segments: [first] }));
  }
  const log = await CommitLog.open(logOptions);
  // From now on an older Mooring refuses the directory: it would change files without changing the manifest.
  if (found.state === 'format 1') await log.startNext();
  const saveManifest = (): Promise<void> => manifest.saveProgress();
  const progress = await Progress.open({ disk, directory, timers: world?.timers, newest: () => log.newest, saveManifest });
  if (found.state === 'format 1') world?.log.info('upgraded the store: it has a manifest now', { directory, clusterId, revision: tree.revision });
  if (found.torn !== undefined) world?.log.info('cut off an incomplete write that a crash left behind; it was never acknowledged', found.torn);
  return { tree, manifest, log, progress };
}

function checkIdentity(directory: string, { state, clusterId }: Examined, expected: string | undefined): void {
  if (expected === undefined || clusterId === expected) return;
  const without = state === 'new' ? 'no file' : 'files of an older format without one';
  const found = clusterId === undefined ? without : `the one of cluster ${clusterId}`;
  throw new StoreDamage({ file: `${directory}/${MANIFEST}`, expected: `the manifest of cluster ${expected}`, found });
}
