/**
 * The kubelet's files of CSI volumes, below the node's directory:
 *
 *     plugins/kubernetes.io/csi/DRIVER/SHA256(HANDLE)/globalmount          staging path; vol_data.json beside it
 *     pods/UID/volumes/kubernetes.io~csi/NAME/mount                        target path; vol_data.json beside it
 *     plugins/kubernetes.io/csi/volumeDevices/staging/NAME                 staging path of a block volume
 *     plugins/kubernetes.io/csi/volumeDevices/publish/NAME/UID             target path of a block volume, a file
 *     plugins/kubernetes.io/csi/volumeDevices/NAME/data/vol_data.json
 *     plugins/kubernetes.io/csi/volumeDevices/NAME/dev/UID                 the target path, bind-mounted
 *     pods/UID/volumeDevices/kubernetes.io~csi/NAME                        a link to the target path
 */
import { directoryOf, mountAt, type NodeHost, removeMountPoint } from '../mount/node-host.ts';

/** The kubelet's file beside the mount point. It names driver and volume, for unmounting. */
const volumeDataFile = 'vol_data.json';

export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle?: string;
  readonly specVolID?: string;
  readonly nodeName?: string;
  readonly attachmentID?: string;
  readonly volumeLifecycleMode?: 'Persistent' | 'Ephemeral';
}

/** Written only if it differs: a volume is published again and again. */
export async function writeVolumeData({ files }: NodeHost, directory: string, data: VolumeData): Promise<void> {
  const text = JSON.stringify(data);
  await files.makeDirectory(directory, 0o750);
  const path = `${directory}/${volumeDataFile}`;
  if ((await files.stat(path)) !== undefined && decode(await files.read(path)) === text) return;
  await files.write(path, new TextEncoder().encode(text), 0o600);
}

/** Undefined: there is none, or it was being written when the process died. */
export async function readVolumeData({ files }: NodeHost, directory: string): Promise<VolumeData | undefined> {
  const path = `${directory}/${volumeDataFile}`;
  if ((await files.stat(path)) === undefined) return undefined;
  try {
    const data = JSON.parse(decode(await files.read(path))) as Partial<VolumeData> | null;
    return typeof data?.driverName === 'string' ? { ...data, driverName: data.driverName } : undefined;
  } catch {
    return undefined;
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Removes the mount point with vol_data.json and their directory. Whatever is still mounted there is unmounted: its driver says that it is not. */
export async function removeVolumeDirectory(host: NodeHost, mountPath: string): Promise<void> {
  const directory = directoryOf(mountPath);
  await removeMountPoint(host, mountPath);
  await removeVolumeData(host, directory);
  if ((await host.files.stat(directory)) !== undefined) await host.files.removeDirectory(directory);
}

/** After a failed call: what is mounted stays. */
export async function removeUnlessMounted(host: NodeHost, mountPath: string): Promise<void> {
  if ((await mountAt(host, mountPath)) === undefined) await removeVolumeDirectory(host, mountPath);
}

async function removeVolumeData({ files }: NodeHost, directory: string): Promise<void> {
  const path = `${directory}/${volumeDataFile}`;
  if ((await files.stat(path)) !== undefined) await files.removeFile(path);
}

export interface BlockPaths {
  readonly staging: string;
  /** Of the files, one for each pod. */
  readonly publishDirectory: string;
  /** Of vol_data.json. */
  readonly data: string;
  /** The kubelet's global map: the published devices once more, one for each pod. */
  readonly devices: string;
}

export function blockPaths(root: string, name: string): BlockPaths {
  const base = `${root}/plugins/kubernetes.io/csi/volumeDevices`;
  return { staging: `${base}/staging/${name}`, publishDirectory: `${base}/publish/${name}`, data: `${base}/${name}/data`, devices: `${base}/${name}/dev` };
}

/** The files of a pod: where the driver publishes the device, and where the node maps it. */
export interface BlockTarget {
  readonly published: string;
  readonly mapped: string;
}

/** A pod that uses the volume twice has two: the last part of `target` tells them apart. */
export function blockTarget({ publishDirectory, devices }: BlockPaths, podUid: string, target: string): BlockTarget {
  const use = /~([^/~]*)$/.exec(target.slice(target.lastIndexOf('/')))?.[1];
  const file = `${podUid}${use === undefined ? '' : `~${use}`}`;
  return { published: `${publishDirectory}/${file}`, mapped: `${devices}/${file}` };
}

/** Once the volume is unstaged, no pod has it: everything of it is removed. */
export async function removeBlockDirectories(host: NodeHost, { staging, publishDirectory, data, devices }: BlockPaths): Promise<void> {
  const { files } = host;
  await removeMountPoint(host, staging);
  if ((await files.stat(publishDirectory)) !== undefined) await files.removeDirectory(publishDirectory);
  await removeVolumeData(host, data);
  for (const directory of [devices, data, directoryOf(data)]) if ((await files.stat(directory)) !== undefined) await files.removeDirectory(directory);
}
