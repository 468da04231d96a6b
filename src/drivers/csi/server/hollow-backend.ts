import type { HostFiles } from '../../../world/mounts.ts';
import type { VolumeBackend } from './backend.ts';

const size = 2 ** 50;

/** Volumes without data: a driver for tests of provisioning, whose targets are empty directories and files. What pods write there goes with the target. */
export function hollowBackend(driverName: string, files: HostFiles): VolumeBackend {
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    driverName,
    block: true,
    isRecordOnly: true,
    attaches: true,
    stages: true,
    expandsOnNode: false,
    expandsOnline: true,
    granularity: 1,
    mostBytes: size,
    refusal: () => undefined,
    create: nothing,
    remove: nothing,
    grow: nothing,
    volumePath: (id) => id,
    snapshotPath: (id) => id,
    snapshot: nothing,
    removeSnapshot: nothing,
    availableBytes: () => Promise.resolve(size),
    node: {
      stage: (_, path) => files.makeDirectory(path, 0o750),
      unstage: nothing,
      publish: ({ block }, { target }) => (block ? files.write(target, new Uint8Array(), 0o640) : files.makeDirectory(target, 0o750)),
      unpublish: async ({ block }, target) => {
        if ((await files.stat(target)) !== undefined) await (block ? files.removeFile(target) : files.removeTree(target));
      },
      expand: nothing,
      usage: ({ bytes }) => Promise.resolve({ capacity: bytes, available: bytes, used: 0, inodes: 0, inodesFree: 0 }),
    },
  };
}
