import { pathOnNode } from '../../api/volumes/kubelet-directory.ts';
import type { FileStat } from '../../world/mounts.ts';
import { attempt, done, type DriverAnswer, failed, type NodeDriver, type NodePublishVolumeResponse, succeeded } from '../contract.ts';
import { type NodeHost } from '../mount/node-host.ts';

/** kubernetes.io/host-path: a path of the node. Nothing is mounted, so nothing is removed. `root`: the directory that is shown as /var/lib/kubelet. */
export function hostPathNode(host: NodeHost, root?: string): NodeDriver {
  const onNode = (path: string): string => (root === undefined ? path : pathOnNode(path, root));
  return {
    capabilities: { name: 'kubernetes.io/host-path', stages: false, mountOptions: false, block: false, requiresRemount: false },
    nodePublishVolume: ({ volume }) => attempt(() => check(onNode(volume.source.hostPath?.path ?? ''), volume.source.hostPath?.type ?? '', host)),
    nodeUnpublishVolume: async () => done,
    nodeGetVolumeStats: async () => failed('Unimplemented', 'hostPath volumes have no stats'),
  };
}

/** By hostPath type: the required file type, and its name in Kubernetes' message. */
const demands: Readonly<Record<string, { readonly is: FileStat['type']; readonly words: string }>> = {
  DirectoryOrCreate: { is: 'directory', words: 'a directory' },
  Directory: { is: 'directory', words: 'a directory' },
  FileOrCreate: { is: 'file', words: 'a file' },
  File: { is: 'file', words: 'a file' },
  Socket: { is: 'socket', words: 'a socket file' },
  CharDevice: { is: 'character-device', words: 'a character device' },
  BlockDevice: { is: 'block-device', words: 'a block device' },
};

async function check(path: string, type: string, { files }: NodeHost): Promise<DriverAnswer<NodePublishVolumeResponse>> {
  const value = { path };
  if (path.split('/').includes('..')) return failed('InvalidArgument', `invalid HostPath \`${path}\`: must not contain '..'`);
  if (type === '') return succeeded(value);
  const demand = demands[type];
  if (demand === undefined) return failed('InvalidArgument', `${type} is an invalid volume type`);
  const stat = await files.stat(path, 'follow');
  if (stat === undefined && type === 'DirectoryOrCreate') {
    await files.makeDirectory(path, 0o755);
    return succeeded(value);
  }
  if (stat === undefined && type === 'FileOrCreate') {
    await files.write(path, new Uint8Array(), 0o644);
    return succeeded(value);
  }
  if (stat?.type !== demand.is) return failed('InvalidArgument', `hostPath type check failed: ${path} is not ${demand.words}`);
  return succeeded(value);
}
