import type { Cancel, Log, Timers } from '../../world/world.ts';
import type { Runtime } from '../runtime.ts';
import type { ImageStore } from './image-store.ts';

export interface ImageCollectorOptions {
  readonly images: Pick<ImageStore, 'collect'>;
  readonly timers: Timers;
  readonly log: Log;
}

/** As the kubelet. */
const everyMs = 5 * 60_000;

/** Removes blobs and layers that neither a name nor a container uses: at the start, and every five minutes. */
export class ImageCollector {
  readonly #options: ImageCollectorOptions;
  readonly #runtimes: { readonly runtime: ObservedRuntime; readonly pods: Set<string>; readonly cancel: Cancel }[] = [];
  #cancel: Cancel = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ImageCollectorOptions) {
    this.#options = options;
  }

  /** Before the runtime recovers its pods: each of them is observed then. */
  follow(runtime: ObservedRuntime): void {
    const pods = new Set<string>();
    const cancel = runtime.observe((uid) => void (runtime.pod(uid) === undefined ? pods.delete(uid) : pods.add(uid)));
    this.#runtimes.push({ runtime, pods, cancel });
  }

  /** Once all runtimes have recovered their pods. */
  start(): void {
    this.#running = this.#collect().then(() => {
      if (!this.#isStopped) this.#cancel = this.#options.timers.after(everyMs, () => this.start());
    });
  }

  /** Resolves once nothing is being removed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    for (const { cancel } of this.#runtimes) cancel();
    await this.#running;
  }

  async #collect(): Promise<void> {
    const { images, log } = this.#options;
    try {
      const bytes = await images.collect(this.#digestsInUse());
      if (bytes > 0) log.info('images were removed that neither a name nor a container uses', { bytes });
    } catch (error) {
      log.warn('images cannot be collected', { error: String(error) });
    }
  }

  /** Of all runs, also of those that have ended: their pods may start them again. */
  #digestsInUse(): ReadonlySet<string> {
    const runs = this.#runtimes.flatMap(({ runtime, pods }) => [...pods].flatMap((uid) => runtime.pod(uid)?.runs ?? []));
    const ids = runs.flatMap(({ imageId = '', imageVolumes = [] }) => [imageId, ...imageVolumes]);
    return new Set(ids.flatMap((id) => /@(sha256:[0-9a-f]{64})$/.exec(id)?.[1] ?? []));
  }
}

type ObservedRuntime = Pick<Runtime, 'pod' | 'observe'>;
