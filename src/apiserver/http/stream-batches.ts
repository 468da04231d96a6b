import type { Timers } from '../../world/world.ts';

/** Requests of one connection that start in one turn of the event loop: a few milliseconds of work. */
const batchSize = 16;

interface ConnectionQueue {
  started: number;
  readonly waiting: (() => void)[];
}

/**
 * Requests that arrive on one connection at once (a hundred HTTP/2 streams in one packet) start in batches: other connections are served between two
 * batches. A connection may have a limited number of streams open, which bounds the queue as well.
 */
export class StreamBatches<C extends object> {
  readonly #timers: Pick<Timers, 'soon'>;
  /** Of connections on which a request started in this turn of the event loop, or waits. */
  readonly #queues = new Map<C, ConnectionQueue>();
  #scheduled = false;

  constructor(timers: Pick<Timers, 'soon'>) {
    this.#timers = timers;
  }

  start(connection: C, request: () => void): void {
    let queue = this.#queues.get(connection);
    if (queue === undefined) {
      queue = { started: 0, waiting: [] };
      this.#queues.set(connection, queue);
    }
    if (queue.started >= batchSize) queue.waiting.push(request);
    else {
      queue.started += 1;
      request();
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#timers.soon(() => {
      this.#scheduled = false;
      for (const [connection, queue] of this.#queues) {
        const next = queue.waiting.splice(0, batchSize);
        if (next.length === 0) this.#queues.delete(connection);
        queue.started = next.length;
        for (const request of next) request();
      }
      if (this.#queues.size > 0) this.#schedule();
    });
  }
}
