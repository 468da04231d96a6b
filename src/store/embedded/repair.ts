import type { Disk } from '../../world/disk.ts';
import { StoreError } from '../contract.ts';
import { Tree } from '../mvcc/tree.ts';
import { listFiles, type Segment, type StoredFile, type StoredFiles } from './files.ts';
import { type ManifestContent, readManifest } from './manifest.ts';
import { type ProgressNote, readProgress } from './progress.ts';
import { examine, FIRST_REVISION } from './recovery.ts';
import { headerOf, loadSnapshot, replaySegment } from './replay.ts';
import { writeWholeStore } from './whole-store.ts';

/** What a repair of a damaged store would keep and lose. */
export interface RepairPlan {
  /** Why the store is refused. */
  readonly damage: string;
  /** The state that can be read: all revisions up to this one. */
  readonly keptRevision: number;
  readonly keptKeys: number;
  /** So many acknowledged revisions, at least, are lost. */
  readonly lostRevisions: number;
  /** The revision of the repaired store: beyond every revision that a client may have seen, so that none is used twice. */
  readonly revision: number;
}

/** Acknowledged within the last second before a crash, and thus not noted: more than any disk can sync in that time. */
const UNNOTED_REVISIONS = 1_000_000;

/**
 * Changes nothing; the caller holds the lock. undefined: the store is sound.
 * @throws StoreError `newer-version`: no damage
 */
export async function planRepair(disk: Disk, directory: string): Promise<RepairPlan | undefined> {
  const damage = await damageOf(disk, directory);
  return damage === undefined ? undefined : planOf(damage, await salvage(disk, directory));
}

/**
 * Writes what can be read as a snapshot with a new manifest, after everything was copied to `copyTo`. A crash leaves the damaged store or
 * the repaired one, which a second repair completes. The caller holds the lock.
 */
export async function repairStore(
  disk: Disk,
  directory: string,
  options: { readonly copyTo: string; readonly newClusterId: string },
): Promise<RepairPlan | undefined> {
  const damage = await damageOf(disk, directory);
  if (damage === undefined) return undefined;
  const salvaged = await salvage(disk, directory);
  const plan = planOf(damage, salvaged);
  const { tree } = salvaged;
  const clusterId = salvaged.clusterId ?? options.newClusterId;
  const before = (await disk.list(directory)).filter((name) => name !== 'lock');
  await copyFiles(disk, { from: directory, to: options.copyTo, names: before });
  for (const path of (await listFiles(disk, directory)).partial) await disk.remove(path);
  await writeWholeStore({ directory, disk, tree, revision: plan.revision, clusterId });
  const kept = new Set(['manifest.json', 'progress']);
  for (const name of before) if (!kept.has(name) && (await disk.list(directory)).includes(name)) await disk.remove(`${directory}/${name}`);
  await disk.syncDirectory(directory);
  return plan;
}

async function damageOf(disk: Disk, directory: string): Promise<string | undefined> {
  try {
    await examine(disk, directory);
    return undefined;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return error.message;
    throw error;
  }
}

interface Salvaged {
  readonly tree: Tree;
  readonly clusterId: string | undefined;
  /** The newest revision that is known to have been acknowledged. */
  readonly known: number;
  /** Of the snapshot that should be there; 0: none. */
  readonly snapshotRevision: number;
  /** The newest revision that a file is named after: a repair that was killed leaves files of its own. */
  readonly named: number;
}

const planOf = (damage: string, { tree, known, named, snapshotRevision }: Salvaged): RepairPlan => ({
  damage,
  keptRevision: tree.revision,
  keptKeys: tree.keys,
  // Between a snapshot that is lost and the revision before it there may be a gap that an earlier repair left.
  lostRevisions: Math.max(0, known - Math.max(tree.revision, snapshotRevision)),
  revision: Math.max(known, tree.revision, named) + UNNOTED_REVISIONS,
});

/** All that can be read from the front without a gap. */
async function salvage(disk: Disk, directory: string): Promise<Salvaged> {
  const files = await listFiles(disk, directory);
  const manifest = await readable(() => readManifest(disk, directory));
  const clusterId = manifest?.clusterId ?? (await clusterIdIn(disk, files));
  const notes = clusterId === undefined ? undefined : await readable(() => readProgress(disk, directory, clusterId));
  const tree = await salvageSnapshot(disk, files, { clusterId, manifest });
  await salvageLogs(disk, files.logs, { clusterId, tree });
  const named = Math.max(FIRST_REVISION, ...[...files.logs, ...files.snapshots].map(({ revision }) => revision));
  return { tree, clusterId, known: knownRevision(manifest, notes ?? []), named, snapshotRevision: manifest?.snapshot?.revision ?? 0 };
}

const knownRevision = (manifest: ManifestContent | undefined, notes: readonly ProgressNote[]): number =>
  Math.max(FIRST_REVISION, ...(manifest?.segments ?? []).map(({ revision }) => revision), ...notes.map(({ revision }) => revision));

/** undefined: it is damaged. */
async function readable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return undefined;
    throw error;
  }
}

async function clusterIdIn(disk: Disk, { logs, snapshots }: StoredFiles): Promise<string | undefined> {
  for (const { path } of [...logs, ...snapshots]) {
    const clusterId = (await headerOf(disk, path))?.clusterId;
    if (clusterId !== undefined) return clusterId;
  }
  return undefined;
}

/** The newest snapshot that is sound; without one, an empty tree, which only a log from the first revision can fill. */
async function salvageSnapshot(
  disk: Disk,
  { snapshots }: StoredFiles,
  { clusterId, manifest }: { readonly clusterId: string | undefined; readonly manifest: ManifestContent | undefined },
): Promise<Tree> {
  for (const { path, revision } of [...snapshots].reverse()) {
    // Written by a repair, or a compaction, that a crash ended before it counted.
    if (revision > knownRevision(manifest, []) && manifest !== undefined && manifest.snapshot?.revision !== revision) continue;
    const tree = new Tree(revision, revision);
    if ((await readable(() => loadSnapshot(disk, { path, revision, clusterId }, tree))) !== undefined) return tree;
  }
  return new Tree(FIRST_REVISION, 0);
}

async function salvageLogs(
  disk: Disk,
  logs: readonly StoredFile[],
  { clusterId, tree }: { readonly clusterId: string | undefined; readonly tree: Tree },
): Promise<void> {
  const first = logs.findLastIndex(({ revision }) => revision <= tree.revision);
  for (const { path, revision } of logs.slice(Math.max(first, 0))) {
    if (revision > tree.revision) return;
    const segment: Segment = { path, base: revision, last: revision, bytes: 0, digest: 0 };
    const end = await readable(() => replaySegment(disk, { path, base: revision, clusterId, checkpoints: [], segment }, tree));
    if (end === undefined) return;
  }
}

async function copyFiles(disk: Disk, { from, to, names }: { readonly from: string; readonly to: string; readonly names: readonly string[] }): Promise<void> {
  await disk.makeDirectory(to);
  for (const name of names) {
    const size = await disk.size(`${from}/${name}`);
    const file = await disk.openAppend(`${to}/${name}`);
    try {
      await disk.truncate(`${to}/${name}`, 0);
      for (let offset = 0; offset < size; offset += COPY_BYTES) await file.append([await disk.read(`${from}/${name}`, offset, COPY_BYTES)]);
      await file.sync();
    } finally {
      await file.close();
    }
  }
  await disk.syncDirectory(to);
}

const COPY_BYTES = 4 << 20;
