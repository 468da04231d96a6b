import type { Socket } from 'node:net';
import type { World } from '../../world/world.ts';
import { createPacer } from '../flow-control/pacing.ts';
import { FairQueue } from '../flow-control/fair-queue.ts';
import type { Limits } from '../limits.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';

/** While many connections wait, handshakes get half of the time. */
const maxPauseRatio = 1;

/**
 * Starts one TLS handshake in each turn of the event loop, round robin by address. A handshake costs as much as ten requests, and an unauthenticated
 * client can open a thousand connections at once: requests on open connections must not wait for their handshakes.
 */
export class HandshakeLimiter {
  readonly #queue: FairQueue;

  constructor({ limits, world, metrics }: { limits: Limits; world: World; metrics: RequestMetrics }) {
    this.#queue = new FairQueue({
      seats: 1,
      // As many as may be open: no connection is refused here.
      waiting: limits.connections,
      perFlow: limits.connections,
      soon: (callback) => world.timers.soon(callback),
      refused: () => undefined,
      pacer: createPacer(world, { otherRequests: () => metrics.handled, maxPauseRatio }),
    });
  }

  /** `startHandshake` is called at once if no other connection waits. */
  accept(socket: Socket, startHandshake: () => void): void {
    const flow = this.#queue.arrive(socket.remoteAddress ?? '');
    const enter = (): void => {
      this.#queue.leave(flow);
      this.#queue.depart(flow);
      if (!socket.destroyed) startHandshake();
    };
    const waiting = this.#queue.enter(flow);
    if (waiting === undefined) {
      enter();
      return;
    }
    const giveUp = (): void => void waiting.giveUp();
    // A waiting connection has no other listener for its errors.
    socket.on('error', giveUp).once('close', giveUp);
    waiting.seated.then(
      () => {
        socket.removeListener('close', giveUp);
        enter();
      },
      () => {
        this.#queue.depart(flow);
        socket.destroy();
      },
    );
  }
}
