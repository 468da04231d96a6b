/** Where containers see the node's directory, and where CSI drivers expect it. */
export const kubeletDirectory = '/var/lib/kubelet';

/** A path of the kubelet's directory, below the node's directory `root`; other paths as they are. */
export function pathOnNode(path: string, root: string): string {
  return path === kubeletDirectory || path.startsWith(`${kubeletDirectory}/`) ? `${root}${path.slice(kubeletDirectory.length)}` : path;
}
