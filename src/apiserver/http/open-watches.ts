import { overloadError } from '../flow-control/fair-queue.ts';
import type { Limits } from '../limits.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';
import type { WatchStream } from './watch-stream.ts';

/** The watches that are open or being opened, each counted for its user. */
export class OpenWatches {
  readonly #limits: Pick<Limits, 'watches' | 'watchesPerUser'>;
  readonly #metrics: RequestMetrics;
  readonly #streams = new Set<WatchStream>();
  readonly #ofUser = new Map<string, number>();
  #count = 0;

  constructor(limits: Limits, metrics: RequestMetrics) {
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** Counts one more watch. The caller calls the returned function once it has ended. @throws ApiError 429 */
  take(user: string): () => void {
    const mine = this.#ofUser.get(user) ?? 0;
    if (this.#count >= this.#limits.watches) throw this.#overload('watches');
    if (mine >= this.#limits.watchesPerUser) throw this.#overload('watches of a user');
    this.#ofUser.set(user, mine + 1);
    this.#count += 1;
    return () => {
      const left = (this.#ofUser.get(user) ?? 1) - 1;
      if (left === 0) this.#ofUser.delete(user);
      else this.#ofUser.set(user, left);
      this.#count -= 1;
    };
  }

  add(stream: WatchStream): void {
    this.#streams.add(stream);
    this.#metrics.watches = this.#streams.size;
  }

  remove(stream: WatchStream): void {
    this.#streams.delete(stream);
    this.#metrics.watches = this.#streams.size;
  }

  endAll(): void {
    for (const stream of this.#streams) stream.end(undefined);
  }

  #overload(limit: string): Error {
    this.#metrics.refused.add(1, limit);
    return overloadError();
  }
}
