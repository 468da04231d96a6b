import type { FileStat } from '../../world/mounts.ts';
import { type DriverAnswer, failed, type NodeDriver, type NodePublishVolumeResponse } from '../contract.ts';
import { attempt, type NodeHost } from '../mount/node-host.ts';

/** What is on the node already; nothing is mounted for it, so nothing is ever taken away: kubernetes.io/host-path. */
export function hostPathNode(host: NodeHost): NodeDriver {
  return {
    capabilities: { name: 'kubernetes.io/host-path', stages: false, mountOptions: false, block: false, requiresRemount: false },
    nodePublishVolume: ({ volume }) => attempt(() => check(volume.source.hostPath?.path ?? '', volume.source.hostPath?.type ?? '', host)),
    nodeUnpublishVolume: async () => ({ ok: true, value: undefined }),
    nodeGetVolumeStats: async () => failed('Unimplemented', 'what is in a directory of the node is not counted'),
  };
}

/** By the type that the pod demands: what it must be, and in what words it is not. */
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
  if (type === '') return { ok: true, value };
  const demand = demands[type];
  if (demand === undefined) return failed('InvalidArgument', `${type} is an invalid volume type`);
  const facts = await files.stat(path, 'follow');
  if (facts === undefined && type === 'DirectoryOrCreate') {
    await files.makeDirectory(path, 0o755);
    return { ok: true, value };
  }
  if (facts === undefined && type === 'FileOrCreate') {
    await files.write(path, new Uint8Array(), 0o644);
    return { ok: true, value };
  }
  if (facts?.type !== demand.is) return failed('InvalidArgument', `hostPath type check failed: ${path} is not ${demand.words}`);
  return { ok: true, value };
}
