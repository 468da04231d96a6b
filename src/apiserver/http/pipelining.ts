import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Timers } from '../../world/world.ts';

interface Pipeline {
  /** Whose turn it is. */
  current: ServerResponse;
  last: ServerResponse;
  waiting: number;
}

/**
 * Requests that a client sends over HTTP/1.1 without waiting for answers (pipelining). Node hands them out all at once, as many as
 * a few kilobytes hold; answered all at once, their answers would lie in memory until the client reads. So each is answered when
 * the answer before it is out, in a turn of the event loop of its own, so that others are served between two of them; and a client that sends too many
 * ahead is cut off.
 */
export class PipelineQueue {
  readonly #limit: number;
  readonly #timers: Pick<Timers, 'soon'>;
  readonly #pipelines = new WeakMap<Duplex, Pipeline>();

  constructor(limit: number, timers: Pick<Timers, 'soon'>) {
    this.#limit = limit;
    this.#timers = timers;
  }

  /** Whether part of an answer is on its way: nothing else may be written in between. */
  isResponding(socket: Duplex): boolean {
    const current = this.#pipelines.get(socket)?.current;
    return current !== undefined && current.headersSent && !current.destroyed;
  }

  enqueue(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
    const { socket } = request;
    const line = this.#pipelines.get(socket);
    if (line === undefined || line.last.destroyed) {
      this.#pipelines.set(socket, { current: response, last: response, waiting: 0 });
      answer();
      return;
    }
    const before = line.last;
    line.last = response;
    line.waiting += 1;
    if (line.waiting > this.#limit) socket.destroy();
    else
      before.once('close', () => {
        line.waiting -= 1;
        this.#timers.soon(() => {
          line.current = response;
          if (!socket.destroyed) answer();
        });
      });
  }
}
