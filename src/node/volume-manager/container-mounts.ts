import type { Container, EphemeralContainer, Pod, VolumeMount } from '../../api/generated/types.ts';
import type { HostFiles, Mounts } from '../../world/mounts.ts';
import type { ContainerDevice, ContainerMount, ContainerMounts, MountedVolume, PodMountState } from '../contract.ts';
import { bindSubPath } from './sub-paths.ts';

export interface ContainerMountsRequest {
  readonly host: { readonly mounts: Mounts; readonly files: HostFiles };
  /** Of the node. */
  readonly root: string;
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly volumes: PodMountState;
  readonly expand: (subPathExpr: string) => string;
}

/** The mounts and devices of a container, from its pod's volumes. */
export async function containerMounts(request: ContainerMountsRequest): Promise<ContainerMounts> {
  const { container, volumes } = request;
  if (!volumes.ready) return { ok: false, error: `volumes are not mounted: ${volumes.waiting.join(', ')}` };
  const mounts: ContainerMount[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = volumes.mounts.get(mount.name);
    if (volume === undefined) return { ok: false, error: missing(mount.name, 'mount', container.name) };
    const isImage = request.pod.spec.volumes?.some(({ name, image }) => name === mount.name && image !== undefined) === true;
    const path = await resolvePath(request, { mount, volume, index, isImage });
    if (!path.ok) return path;
    mounts.push(isImage ? { ...mountOf(mount, volume, ''), imageSubPath: path.hostPath } : mountOf(mount, volume, path.hostPath));
  }
  const devices: ContainerDevice[] = [];
  for (const { name, devicePath } of container.volumeDevices ?? []) {
    const volume = volumes.mounts.get(name);
    if (volume === undefined) return { ok: false, error: missing(name, 'map', container.name) };
    devices.push({ hostPath: volume.hostPath, containerPath: devicePath, readOnly: volume.readOnly });
  }
  return { ok: true, mounts, devices };
}

const missing = (volume: string, what: string, container: string): string =>
  `cannot find volume ${JSON.stringify(volume)} to ${what} into container ${JSON.stringify(container)}`;

function mountOf(
  { name, mountPath, readOnly = false, recursiveReadOnly, mountPropagation }: VolumeMount,
  volume: MountedVolume,
  hostPath: string,
): ContainerMount {
  const propagation = propagations[mountPropagation ?? ''] ?? 'private';
  const isReadOnly = readOnly || volume.readOnly;
  return {
    hostPath,
    volume: name,
    containerPath: mountPath.startsWith('/') ? mountPath : `/${mountPath}`,
    readOnly: isReadOnly,
    recursiveReadOnly: readOnly && (recursiveReadOnly === 'Enabled' || recursiveReadOnly === 'IfPossible'),
    propagation,
  };
}

const propagations: Readonly<Record<string, ContainerMount['propagation']>> = { HostToContainer: 'slave', Bidirectional: 'shared' };

type ResolvedPath = { readonly ok: true; readonly hostPath: string } | { readonly ok: false; readonly error: string };

interface Part {
  readonly mount: VolumeMount;
  readonly volume: MountedVolume;
  readonly index: number;
  /** The path is one of the image. */
  readonly isImage: boolean;
}

/** The volume, or its sub-path that the container asks for. */
async function resolvePath({ host, root, pod, container, expand }: ContainerMountsRequest, { mount, volume, index, isImage }: Part): Promise<ResolvedPath> {
  const { subPath: plain = '', subPathExpr = '', name } = mount;
  const hostPath = isImage ? '' : volume.hostPath;
  if (plain === '' && subPathExpr === '') return { ok: true, hostPath };
  const fails = (error: string): ResolvedPath => ({ ok: false, error });
  try {
    const subPath = subPathExpr === '' ? plain : expand(subPathExpr);
    if (subPath === '') return { ok: true, hostPath };
    if (subPath.startsWith('/')) return fails(`error SubPath \`${subPath}\` must not be an absolute path`);
    if (subPath.split('/').includes('..')) return fails(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
    if (isImage) return { ok: true, hostPath: subPath };
    const { uid = '' } = pod.metadata;
    const target = await bindSubPath(host, { root, uid, volume: name, container: container.name, index, hostPath, subPath });
    return { ok: true, hostPath: target };
  } catch {
    // The kubelet says no more: events must not reveal what is in the volume.
    return fails(`failed to prepare subPath for volumeMount ${JSON.stringify(name)} of container ${JSON.stringify(container.name)}`);
  }
}
