import type { Socket } from 'node:net';
import type { World } from '../../world/world.ts';
import { createPacer } from '../flow-control/pacing.ts';
import { FairQueue } from '../flow-control/fair-queue.ts';
import type { Limits } from '../limits.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';

/** While many wait at the door, handshakes get half of the time. */
const maxPauseRatio = 1;

/**
 * The door: new connections are let in one in a turn of the event loop, and addresses take turns. A handshake costs as much as ten requests, and whoever can
 * connect can ask for a thousand of them at once, without any proof of who they are: those who are inside must not wait for that.
 */
export class HandshakeLimiter {
  readonly #queue: FairQueue;

  constructor({ limits, world, metrics }: { limits: Limits; world: World; metrics: RequestMetrics }) {
    this.#queue = new FairQueue({
      seats: 1,
      // So many can be open: nobody is turned away here.
      waiting: limits.connections,
      perFlow: limits.connections,
      soon: (callback) => world.timers.soon(callback),
      refused: () => undefined,
      pacer: createPacer(world, { otherRequests: () => metrics.handled, maxPauseRatio }),
    });
  }

  /** `letIn` is called when it is the connection's turn: at once if nobody else is at the door. */
  accept(socket: Socket, letIn: () => void): void {
    const flow = this.#queue.arrive(socket.remoteAddress ?? '');
    const enter = (): void => {
      this.#queue.leave(flow);
      this.#queue.depart(flow);
      if (!socket.destroyed) letIn();
    };
    const place = this.#queue.enter(flow);
    if (place === undefined) {
      enter();
      return;
    }
    const goAway = (): void => void place.giveUp();
    // Whoever breaks off while waiting does so with an error that nobody else listens to.
    socket.on('error', goAway).once('close', goAway);
    place.seated.then(
      () => {
        socket.removeListener('close', goAway);
        enter();
      },
      () => {
        this.#queue.depart(flow);
        socket.destroy();
      },
    );
  }
}
