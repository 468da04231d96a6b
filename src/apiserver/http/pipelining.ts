import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Timers } from '../../world/world.ts';

interface Pipeline {
  current: ServerResponse;
  last: ServerResponse;
  waiting: number;
}

/**
 * HTTP/1.1 pipelining: requests that a client sends without waiting for responses. Node emits them all at once, and all their responses would
 * lie in memory until the client reads. So each is answered after the response before it was sent, in its own turn of the event loop, so that other
 * connections are served in between. A client that sends too many ahead is disconnected.
 */
export class PipelineQueue {
  readonly #limit: number;
  readonly #timers: Pick<Timers, 'soon'>;
  readonly #pipelines = new WeakMap<Duplex, Pipeline>();

  constructor(limit: number, timers: Pick<Timers, 'soon'>) {
    this.#limit = limit;
    this.#timers = timers;
  }

  /** Whether part of a response was sent: nothing else may be written in between. */
  isResponding(socket: Duplex): boolean {
    const current = this.#pipelines.get(socket)?.current;
    return current !== undefined && current.headersSent && !current.destroyed;
  }

  enqueue(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
    const { socket } = request;
    const pipeline = this.#pipelines.get(socket);
    if (pipeline === undefined || pipeline.last.destroyed) {
      this.#pipelines.set(socket, { current: response, last: response, waiting: 0 });
      answer();
      return;
    }
    const before = pipeline.last;
    pipeline.last = response;
    pipeline.waiting += 1;
    if (pipeline.waiting > this.#limit) socket.destroy();
    else
      before.once('close', () => {
        pipeline.waiting -= 1;
        this.#timers.soon(() => {
          pipeline.current = response;
          if (!socket.destroyed) answer();
        });
      });
  }
}
