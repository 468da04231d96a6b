/** The kubelet's image manager: gives each container that is about to be created its image. */
import type { Container, Pod, Secret } from '../../api/generated/types.ts';
import type { ContainerSpec } from '../runtime.ts';
import { imageUserViolation, withImage } from './container-image.ts';
import { credentialsFor } from './credentials.ts';
import { hostImageId, withHostProgram } from './host-programs.ts';
import type { ImageStore, NamedImage, ReadyImage } from './image-store.ts';
import { type ImageReference, isReference, parseReference, referenceText, repositoryOf } from './reference.ts';

export type EnsuredImage =
  | { readonly ok: true; readonly image: ContainerImage; readonly events: readonly ImageEvent[] }
  /** It is being pulled. */
  | { readonly ok: 'pending'; readonly done: Promise<unknown>; readonly events: readonly ImageEvent[] }
  /** In the kubelet's words: why the container waits. */
  | { readonly ok: false; readonly reason: string; readonly message: string; readonly events: readonly ImageEvent[] };

export interface ImageEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'Pulling' | 'Pulled' | 'Failed' | 'BackOff' | 'InspectFailed' | 'ErrImageNeverPull';
  readonly message: string;
}

/** The files of an image. */
export interface ImageVolume {
  readonly imageId: string;
  /** Directories, the uppermost first. */
  readonly layers: readonly string[];
}

/** An image that is there. */
export interface ContainerImage {
  /** As a volume; undefined: it is only a name. */
  readonly volume?: ImageVolume;
  /** The container with all that the image says; or why it cannot be created, with the reason of its waiting. */
  readonly complete: (spec: ContainerSpec, pod: Pod, container: Container) => ContainerSpec | { readonly reason: string; readonly error: string };
}

export interface ImageManager {
  /** `secrets`: those that the pod names for its images. */
  ensure(pod: Pod, container: Container, secrets: readonly Secret[]): Promise<EnsuredImage>;
}

/** Images that were loaded; every other name stands for the host's programs. */
export class LoadedImages implements ImageManager {
  readonly #images: ImageStore;

  constructor(images: ImageStore) {
    this.#images = images;
  }

  async ensure(_: Pod, { image = '' }: Container, secrets: readonly Secret[]): Promise<EnsuredImage> {
    const parsed = parseReference(image);
    if (!isReference(parsed)) return invalidName(image, parsed.error);
    const found = await this.#images.find(referenceText(parsed));
    if (found !== undefined)
      return (await isPermitted(this.#images, { found, parsed, secrets })) ? preparedImage(this.#images, { found, image, parsed }) : neverPulled(image);
    const message = `Container image ${JSON.stringify(image)} is only a name (--images=host): the container sees programs and libraries of the node`;
    return { ok: true, image: hostImage, events: [{ type: 'Normal', reason: 'Pulled', message }] };
  }
}

/** The kubelet's. */
export function invalidName(image: string, error: string): EnsuredImage {
  const quoted = JSON.stringify(image);
  const message = `Failed to apply default image tag ${quoted}: couldn't parse image name ${quoted}: ${error}`;
  return { ok: false, reason: 'InvalidImageName', message, events: [{ type: 'Warning', reason: 'InspectFailed', message }] };
}

/** The kubelet's, also for an image that is there and that the pod may not use: its presence is not revealed. */
export function neverPulled(image: string): EnsuredImage {
  const message = `Container image ${JSON.stringify(image)} is not present with pull policy of Never`;
  const reason = 'ErrImageNeverPull';
  return { ok: false, reason, message, events: [{ type: 'Warning', reason, message }, failed(reason)] };
}

export const failed = (reason: string): ImageEvent => ({ type: 'Warning', reason: 'Failed', message: `Error: ${reason}` });

interface ForPod {
  readonly found: NamedImage;
  readonly parsed: ImageReference;
  readonly secrets: readonly Secret[];
}

/** Whether a pod with these secrets may use an image that is there. */
export function isPermitted(images: ImageStore, { found, parsed, secrets }: ForPod): Promise<boolean> {
  const repository = repositoryOf(parsed);
  const sources = credentialsFor(repository, secrets).map(({ source }) => source);
  return images.pullRecords.permits({ digest: found.digest, repository }, sources);
}

interface FoundImage {
  readonly found: NamedImage;
  readonly image: string;
  readonly parsed: ImageReference;
  /** Of the event Pulled; absent: it was there. */
  readonly pulled?: string;
}

export async function preparedImage(images: ImageStore, { found, image, parsed, pulled }: FoundImage): Promise<EnsuredImage> {
  const quoted = JSON.stringify(image);
  try {
    const ready = await images.prepare(found.digest, found.name);
    const message = pulled ?? `Container image ${quoted} already present on machine and can be accessed by the pod`;
    return { ok: true, image: storedImage(ready, `${repositoryOf(parsed)}@${ready.digest}`), events: [{ type: 'Normal', reason: 'Pulled', message }] };
  } catch (error) {
    const message = `Failed to inspect image ${quoted}: ${(error as Error).message}`;
    return { ok: false, reason: 'ImageInspectError', message, events: [{ type: 'Warning', reason: 'InspectFailed', message }] };
  }
}

const hostImage: ContainerImage = {
  complete: (spec, pod, container) => {
    const violation = imageUserViolation(pod, container, '');
    if (violation !== undefined) return { reason: 'CreateContainerConfigError', error: violation };
    const complete = withHostProgram({ ...spec, imageId: hostImageId });
    return 'error' in complete ? { reason: 'CreateContainerError', error: complete.error } : complete;
  },
};

const storedImage = (ready: ReadyImage, imageId: string): ContainerImage => ({
  volume: { imageId, layers: ready.layers },
  complete: (spec, pod, container) => {
    const violation = imageUserViolation(pod, container, ready.config.user);
    if (violation !== undefined) return { reason: 'CreateContainerConfigError', error: violation };
    const complete = withImage({ ...spec, imageId }, ready, pod);
    return 'error' in complete ? { reason: 'CreateContainerError', error: complete.error } : complete;
  },
});
