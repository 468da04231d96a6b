import { kubeletDirectory, pathOnNode } from '../../api/volumes/kubelet-directory.ts';
import type { HostFiles } from '../../world/mounts.ts';

interface Endpoint {
  readonly path: string;
  /** A path of the node as the driver sees it. */
  readonly pathInDriver: (path: string) => string;
}

/**
 * The driver's socket. A driver in a container names it as it sees it, below /var/lib/kubelet: if there is a socket at that place below the node's
 * directory, all paths in calls are told to it in the same way. A driver that is a process of the machine names the path itself.
 */
export async function resolveEndpoint(
  endpoint: string,
  { root, files }: { readonly root: string; readonly files: Pick<HostFiles, 'stat'> },
): Promise<Endpoint> {
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : endpoint;
  const onNode = pathOnNode(path, root);
  const isInContainer = onNode !== path && (await files.stat(onNode, 'follow'))?.type === 'socket';
  if (!isInContainer) return { path, pathInDriver: (each) => each };
  return { path: onNode, pathInDriver: (each) => (each.startsWith(`${root}/`) ? `${kubeletDirectory}${each.slice(root.length)}` : each) };
}
