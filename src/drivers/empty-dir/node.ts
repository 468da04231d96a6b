import { attempt, done, failed, type NodeDriver, succeeded } from '../contract.ts';
import { type EmptyDirectoryOptions, makeEmptyDirectory, makeTmpfs, removeEmptyDirectory } from '../mount/empty-directory.ts';
import { usageOfTree } from '../mount/node-host.ts';

const medium = { disk: '', memory: 'Memory' } as const;

/** kubernetes.io/empty-dir: a directory on the node's disk, or a tmpfs, with the lifetime of its pod. */
export function emptyDirNode(options: EmptyDirectoryOptions): NodeDriver {
  return {
    capabilities: { name: 'kubernetes.io/empty-dir', stages: false, mountOptions: false, block: false, requiresRemount: false },
    nodePublishVolume: (request) =>
      attempt(async () => {
        const { medium: asked = medium.disk, sizeLimit } = request.volume.source.emptyDir ?? {};
        if (asked === medium.disk) await makeEmptyDirectory(options, request);
        else if (asked === medium.memory) await makeTmpfs(options, request, sizeLimit);
        else return failed('InvalidArgument', `unknown storage medium ${JSON.stringify(asked)}`);
        return succeeded({ path: request.target });
      }),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeEmptyDirectory(options, target);
        return done;
      }),
    nodeGetVolumeStats: (path) => usageOfTree(options, path),
  };
}
