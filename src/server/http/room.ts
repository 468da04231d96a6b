import { statusErrors } from '../../api/status.ts';
import type { World } from '../../world/world.ts';
import type { ApiRequest, User } from '../api.ts';
import type { Attributes } from '../auth/authorizer.ts';
import type { Exchange } from './exchange.ts';
import { FairQueue, type Flow, overload } from './fair-queue.ts';
import type { Limits } from './limits.ts';
import { type Priority, priorities, priorityOf } from './priority.ts';
import type { RequestMetrics } from './request-metrics.ts';

export interface RoomOptions {
  readonly limits: Limits;
  readonly world: World;
  readonly metrics: RequestMetrics;
}

/** Whose request it is, and for what. */
export interface Asking {
  readonly exchange: Exchange;
  readonly attributes: Attributes;
  readonly user: User;
}

export interface Work<T> {
  /** After so long the client is told that it did not work out. */
  readonly ms: number;
  readonly receive: () => Promise<ApiRequest>;
  readonly perform: (received: ApiRequest) => Promise<T>;
}

/** Bodies up to here are not counted: connections are, and so much fits into the buffers of one. */
const smallBodyBytes = 64 * 1024;
/** From here on reading a body keeps the processor busy for long enough that others notice. */
const wideBodyBytes = 256 * 1024;

/**
 * Room for requests: who is worked for now, who waits, who is sent away. A seat is held only while there is work to do: neither a body
 * that arrives slowly nor an answer that is taken slowly keeps anybody waiting.
 */
export class Room {
  readonly #options: RoomOptions;
  readonly #queues: Readonly<Record<Priority, FairQueue>>;
  /** Of all large bodies that are here or announced. */
  #bodyBytes = 0;

  constructor(options: RoomOptions) {
    this.#options = options;
    const { limits, world, metrics } = options;
    const queue = (): FairQueue =>
      new FairQueue({
        seats: limits.seats,
        waiting: limits.requestsWaiting,
        perFlow: limits.requestsPerUser,
        soon: (callback) => world.timers.soon(callback),
        refused: (limit) => metrics.refused.add(1, limit),
      });
    this.#queues = { vital: queue(), system: queue(), bulk: queue() };
    metrics.waiting = () => priorities.reduce((sum, priority) => sum + this.#queues[priority].waiting, 0);
  }

  /** @throws ApiError 429 at once if there is no room at all; rejects with 429 or 504 */
  run<T>(asking: Asking, work: Work<T>): Promise<T> {
    const { metrics, world } = this.#options;
    const queue = this.#queues[priorityOf(asking.user, asking.attributes)];
    const flow = queue.arrive(asking.user.name);
    const visit = new Visit(queue, flow);
    metrics.inFlight += 1;
    return new Promise((resolve, reject) => {
      const cancel = world.timers.after(work.ms, () => {
        // Who still waits has had nothing done for them, and may simply ask again.
        if (!visit.giveUp()) reject(statusErrors.timeout('request did not complete within the allotted timeout'));
      });
      // Work that goes on after its time is over still counts: it still costs.
      void this.#serve(visit, asking, work)
        .then(resolve, reject)
        .finally(() => {
          metrics.inFlight -= 1;
          cancel();
          queue.depart(flow);
        });
    });
  }

  async #serve<T>(visit: Visit, asking: Asking, { receive, perform }: Work<T>): Promise<T> {
    const reserved = this.#reserve(visit.flow, asking.exchange);
    try {
      const received = await receive();
      const width = isWide(asking.attributes, received) ? visit.queue.wide : 1;
      const waits = visit.enter(width);
      if (waits !== undefined) {
        asking.exchange.onClose(() => void visit.giveUp());
        await waits;
      }
      try {
        return await perform(received);
      } finally {
        visit.queue.leave(visit.flow, width);
      }
    } finally {
      visit.flow.bodyBytes -= reserved;
      this.#bodyBytes -= reserved;
    }
  }

  /** @throws ApiError 429 */
  #reserve(flow: Flow, exchange: Exchange): number {
    if (exchange.method === 'GET' || exchange.method === 'DELETE') return 0;
    const { limits, metrics } = this.#options;
    const announced = exchange.header('content-length');
    const bytes = announced === undefined ? limits.bodyBytes : Math.min(Number(announced), limits.bodyBytes);
    if (bytes <= smallBodyBytes) return 0;
    if (flow.bodyBytes + bytes > limits.bodiesBytesPerUser || this.#bodyBytes + bytes > limits.bodiesBytes) {
      metrics.refused.add(1, 'bytes of bodies');
      throw overload();
    }
    flow.bodyBytes += bytes;
    this.#bodyBytes += bytes;
    return bytes;
  }
}

/** One request in its queue. */
class Visit {
  readonly queue: FairQueue;
  readonly flow: Flow;
  #giveUp: (() => boolean) | undefined;

  constructor(queue: FairQueue, flow: Flow) {
    this.queue = queue;
    this.flow = flow;
  }

  enter(width: number): Promise<void> | undefined {
    const place = this.queue.enter(this.flow, width);
    this.#giveUp = place?.giveUp;
    return place?.seated;
  }

  /** Whether it was still waiting; then it is refused. */
  giveUp(): boolean {
    return this.#giveUp?.() ?? false;
  }
}

/** Whether it concerns many objects or many bytes. */
function isWide(attributes: Attributes, { body, query }: ApiRequest): boolean {
  if (body.type === 'bytes' && body.bytes.length > wideBodyBytes) return true;
  if (attributes.type !== 'resource' || attributes.name !== '') return false;
  if (attributes.verb === 'watch') return (query.get('resourceVersion') ?? '0') === '0' || query.get('sendInitialEvents') === 'true';
  return attributes.verb === 'list' || attributes.verb === 'deletecollection';
}
