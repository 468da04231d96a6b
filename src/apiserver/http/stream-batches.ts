import type { Timers } from '../../world/world.ts';

/** So many requests of one connection begin in one turn of the event loop: a few milliseconds of work. */
const batchSize = 16;

interface ConnectionQueue {
  started: number;
  readonly waiting: (() => void)[];
}

/**
 * Requests that arrive on one connection at once (streams of HTTP/2, a hundred of them in one packet) begin in portions: between two portions everybody else's
 * turn comes. Connections are bounded in how many requests they may have open, so what waits here is bounded as well.
 */
export class StreamBatches<C extends object> {
  readonly #timers: Pick<Timers, 'soon'>;
  /** Of connections on which something began in this turn of the event loop, or waits. */
  readonly #queues = new Map<C, ConnectionQueue>();
  #scheduled = false;

  constructor(timers: Pick<Timers, 'soon'>) {
    this.#timers = timers;
  }

  start(connection: C, request: () => void): void {
    let line = this.#queues.get(connection);
    if (line === undefined) {
      line = { started: 0, waiting: [] };
      this.#queues.set(connection, line);
    }
    if (line.started >= batchSize) line.waiting.push(request);
    else {
      line.started += 1;
      request();
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#timers.soon(() => {
      this.#scheduled = false;
      for (const [connection, line] of this.#queues) {
        const next = line.waiting.splice(0, batchSize);
        if (next.length === 0) this.#queues.delete(connection);
        line.started = next.length;
        for (const request of next) request();
      }
      if (this.#queues.size > 0) this.#schedule();
    });
  }
}
