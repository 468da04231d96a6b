import type { Disk } from '../../world/disk.ts';
import type { StoreContent } from '../content.ts';
import { Tree } from '../mvcc/tree.ts';
import { Version } from '../mvcc/version.ts';
import { createSegment } from './commit-log.ts';
import { Manifest } from './manifest.ts';
import { DEFAULT_SEGMENT_BYTES } from './open-files.ts';
import { createProgress } from './progress.ts';
import { writeSnapshot } from './snapshot.ts';

export interface WholeStore {
  readonly directory: string;
  readonly disk: Disk;
  readonly tree: Tree;
  /** Of the store that is written; not before that of the tree. */
  readonly revision: number;
  readonly clusterId: string;
}

/** Writes a store whose state is the tree's. Until the manifest is there, the last step but one, no server can take it for one. */
export async function writeWholeStore({ directory, disk, tree, revision, clusterId }: WholeStore): Promise<void> {
  tree.pin(tree.revision);
  const snapshot = await writeSnapshot({ directory, disk, tree, revision, clusterId, abandoned: () => false });
  const manifest = new Manifest({ disk, directory, clusterId }, { snapshot, segments: [] });
  const segment = await createSegment({ directory, disk, manifest, segmentBytes: DEFAULT_SEGMENT_BYTES }, revision);
  await manifest.update((layout) => ({ ...layout, segments: [segment] }));
  await createProgress(disk, directory, clusterId);
}

/** Creates a store with this content in a directory that has none. */
export async function fillEmbeddedStore(disk: Disk, directory: string, { clusterId, revision, entries }: StoreContent): Promise<void> {
  await disk.makeDirectory(directory);
  const tree = new Tree(revision, revision);
  for (const entry of entries) tree.load(new Version({ ...entry, memo: undefined }));
  await writeWholeStore({ directory, disk, tree, revision, clusterId });
  await disk.syncDirectory(directory);
}
