/** Volumes of a pod that are images (`volumes[].image`): each container that mounts one gets the image's files, read-only. */
import type { Container, Pod, Secret } from '../../api/generated/types.ts';
import type { ContainerMount } from '../contract.ts';
import type { EnsuredImage, ImageEvent, ImageManager, ImageVolume } from '../images/image-manager.ts';

export interface ImageVolumesRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly images: ImageManager;
  readonly secrets: readonly Secret[];
  /** Of the pod. */
  readonly record: (event: ImageEvent) => void;
}

/** By the volume's name; or why the container waits. */
type EnsuredVolumes = { readonly ok: true; readonly volumes: ReadonlyMap<string, ImageVolume> } | Exclude<EnsuredImage, { readonly ok: true }>;

export async function ensureImageVolumes({ pod, container, images, secrets, record }: ImageVolumesRequest): Promise<EnsuredVolumes> {
  const mounted = new Set(container.volumeMounts?.map(({ name }) => name));
  const volumes = new Map<string, ImageVolume>();
  for (const { name, image } of pod.spec.volumes ?? []) {
    if (image === undefined || !mounted.has(name)) continue;
    const { reference = '', pullPolicy = 'IfNotPresent' } = image;
    // A key of its own: a container of the pod may have the volume's name.
    const ensured = await images.ensure(pod, { name: `volumes/${name}`, image: reference, imagePullPolicy: pullPolicy, resources: {} }, secrets);
    for (const event of ensured.events) record(event);
    if (ensured.ok !== true) return ensured;
    if (ensured.image.volume === undefined) return noFiles(name, reference);
    volumes.set(name, ensured.image.volume);
  }
  return { ok: true, volumes };
}

/** With `--images=host` a name stands for the programs of the node, which are no content of a volume. */
function noFiles(volume: string, reference: string): EnsuredVolumes {
  const message = `volume ${JSON.stringify(volume)}: image ${JSON.stringify(reference)} is not on this node: load it with "moor load", or pull images with --images=registry`;
  return { ok: false, reason: 'CreateContainerError', message, events: [] };
}

export const withImageVolumes = (mounts: readonly ContainerMount[], volumes: ReadonlyMap<string, ImageVolume>): readonly ContainerMount[] =>
  mounts.map((mount) => {
    const volume = volumes.get(mount.volume);
    return volume === undefined ? mount : { ...mount, imageLayers: volume.layers };
  });

/** For the collector of images: they are in use. */
export const idsOf = (volumes: ReadonlyMap<string, ImageVolume>): { readonly imageVolumes?: readonly string[] } =>
  volumes.size === 0 ? {} : { imageVolumes: Array.from(volumes.values(), ({ imageId }) => imageId) };
