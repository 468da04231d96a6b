/** Images that are pulled from registries, by the pull policies of containers, with the kubelet's events, reasons and back-off. */
import type { Container, Pod, Secret } from '../../../api/generated/types.ts';
import { RecentMap } from '../../../client/recent-map.ts';
import type { Clock } from '../../../world/world.ts';
import { type EnsuredImage, failed, type ImageEvent, type ImageManager, invalidName, isPermitted, neverPulled, preparedImage } from '../image-manager.ts';
import type { NamedImage } from '../image-store.ts';
import { type ImageReference, isReference, parseReference, referenceText, repositoryOf } from '../reference.ts';
import { credentialsFor } from '../credentials.ts';
import { type PullContext, pullImage } from './pull-image.ts';

export interface PulledImagesOptions extends PullContext {
  readonly clock: Clock;
}

/** A pull for a container: it runs, or its outcome has not been taken yet. */
interface PullState {
  readonly done: Promise<unknown>;
  outcome?: { readonly found: NamedImage; readonly pulled: string } | { readonly error: string };
}

/** After a pull that failed. */
interface PullBackOff {
  readonly ms: number;
  readonly until: number;
  readonly error: string;
  isTold: boolean;
}

const [firstBackOffMs, longestBackOffMs] = [10_000, 300_000];
/** Pods that are gone are forgotten. */
const mostRemembered = 2_000;

export class PulledImages implements ImageManager {
  readonly #options: PulledImagesOptions;
  /** By pod and container. */
  readonly #states = new RecentMap<string, PullState | 'none'>(mostRemembered);
  readonly #backOffs = new RecentMap<string, PullBackOff | 'none'>(mostRemembered);
  /** Pods that want the same image at the same time share a pull. */
  readonly #running = new Map<string, ReturnType<typeof pullImage>>();

  constructor(options: PulledImagesOptions) {
    this.#options = options;
  }

  async ensure(pod: Pod, { name, image = '', imagePullPolicy }: Container, secrets: readonly Secret[]): Promise<EnsuredImage> {
    const parsed = parseReference(image);
    if (!isReference(parsed)) return invalidName(image, parsed.error);
    const key = `${pod.metadata.uid ?? ''}/${name}/${image}`;
    const state = this.#states.get(key);
    if (state !== undefined && state !== 'none') return this.#follow(key, state, { image, parsed });
    const found = await this.#options.images.find(referenceText(parsed));
    const isUsable = found !== undefined && imagePullPolicy !== 'Always' && (await isPermitted(this.#options.images, { found, parsed, secrets }));
    if (isUsable) return preparedImage(this.#options.images, { found, image, parsed });
    if (imagePullPolicy === 'Never') return neverPulled(image);
    const quoted = JSON.stringify(image);
    const backOff = this.#backOffs.get(key);
    if (backOff !== undefined && backOff !== 'none' && backOff.until > this.#options.clock.now()) return heldBack(backOff, quoted);
    return this.#start(key, { image, parsed, secrets });
  }

  #start(key: string, { image, parsed, secrets }: Wanted & { readonly secrets: readonly Secret[] }): EnsuredImage {
    const { clock } = this.#options;
    const began = clock.monotonic();
    const state: PullState = {
      done: this.#pull(parsed, secrets).then(
        (found) => {
          const seconds = `${((clock.monotonic() - began) / 1000).toFixed(3)}s`;
          const pulled = `Successfully pulled image ${JSON.stringify(image)} in ${seconds} (${seconds} including waiting). Image size: ${found.size} bytes.`;
          state.outcome = { found, pulled };
        },
        (error: unknown) => {
          state.outcome = { error: (error as Error).message };
        },
      ),
    };
    this.#states.set(key, state);
    return { ok: 'pending', done: state.done, events: [{ type: 'Normal', reason: 'Pulling', message: `Pulling image ${JSON.stringify(image)}` }] };
  }

  #pull(parsed: ImageReference, secrets: readonly Secret[]): ReturnType<typeof pullImage> {
    const credentials = credentialsFor(repositoryOf(parsed), secrets);
    const key = JSON.stringify([referenceText(parsed), credentials]);
    const running = this.#running.get(key) ?? pullImage(parsed, credentials, this.#options).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  async #follow(key: string, state: PullState, { image, parsed }: Wanted): Promise<EnsuredImage> {
    const { outcome } = state;
    if (outcome === undefined) return { ok: 'pending', done: state.done, events: [] };
    this.#states.set(key, 'none');
    if ('found' in outcome) {
      this.#backOffs.set(key, 'none');
      return preparedImage(this.#options.images, { ...outcome, image, parsed });
    }
    const before = this.#backOffs.get(key);
    const ms = before === undefined || before === 'none' ? firstBackOffMs : Math.min(2 * before.ms, longestBackOffMs);
    this.#backOffs.set(key, { ms, until: this.#options.clock.now() + ms, error: outcome.error, isTold: false });
    const event: ImageEvent = { type: 'Warning', reason: 'Failed', message: `Failed to pull image ${JSON.stringify(image)}: ${outcome.error}` };
    return { ok: false, reason: 'ErrImagePull', message: outcome.error, events: [event, failed('ErrImagePull')] };
  }
}

interface Wanted {
  readonly image: string;
  readonly parsed: ImageReference;
}

function heldBack(backOff: PullBackOff, quoted: string): EnsuredImage {
  const events: readonly ImageEvent[] = backOff.isTold
    ? []
    : [{ type: 'Normal', reason: 'BackOff', message: `Back-off pulling image ${quoted}` }, failed('ImagePullBackOff')];
  backOff.isTold = true;
  return { ok: false, reason: 'ImagePullBackOff', message: `Back-off pulling image ${quoted}: ErrImagePull: ${backOff.error}`, events };
}
