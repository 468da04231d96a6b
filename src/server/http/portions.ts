import type { Timers } from '../../world/world.ts';

/** So many requests of one connection begin in one turn of the event loop: a few milliseconds of work. */
const portion = 16;

interface Line {
  begun: number;
  readonly waiting: (() => void)[];
}

/**
 * Requests that arrive on one connection at once (streams of HTTP/2, a hundred of them in one packet) begin in portions: between two portions everybody else's
 * turn comes. Connections are bounded in how many requests they may have open, so what waits here is bounded as well.
 */
export class Portions<C extends object> {
  readonly #timers: Pick<Timers, 'soon'>;
  /** Of connections on which something began in this turn of the event loop, or waits. */
  readonly #lines = new Map<C, Line>();
  #scheduled = false;

  constructor(timers: Pick<Timers, 'soon'>) {
    this.#timers = timers;
  }

  begin(connection: C, request: () => void): void {
    let line = this.#lines.get(connection);
    if (line === undefined) {
      line = { begun: 0, waiting: [] };
      this.#lines.set(connection, line);
    }
    if (line.begun >= portion) line.waiting.push(request);
    else {
      line.begun += 1;
      request();
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#timers.soon(() => {
      this.#scheduled = false;
      for (const [connection, line] of this.#lines) {
        const next = line.waiting.splice(0, portion);
        if (next.length === 0) this.#lines.delete(connection);
        line.begun = next.length;
        for (const request of next) request();
      }
      if (this.#lines.size > 0) this.#schedule();
    });
  }
}
