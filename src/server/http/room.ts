import { statusErrors } from '../../api/status.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { ApiRequest, User } from '../api.ts';
import type { Attributes } from '../auth/authorizer.ts';
import type { Exchange } from './exchange.ts';
import { breathe } from './breathe.ts';
import { Deadlines } from './deadlines.ts';
import { FairQueue, type Flow, overload, type Pace } from './fair-queue.ts';
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

/** However many wait, a fifth of the time is for what takes long. */
const longestPause = 4;
/** Bodies up to here are not counted: connections are, and so much fits into the buffers of one. */
const smallBodyBytes = 64 * 1024;
/** From here on reading a body keeps the processor busy for long enough that others notice. */
const wideBodyBytes = 32 * 1024;

/**
 * Room for requests: who is worked for now, who waits, who is sent away. A seat is held only while there is work to do: neither a body
 * that arrives slowly nor an answer that is taken slowly keeps anybody waiting.
 */
export class Room {
  readonly #options: RoomOptions;
  readonly #lanes: Readonly<Record<Priority, Lane>>;
  readonly #usualDeadlines: Deadlines;
  /** Of all large bodies that are here or announced. */
  #bodyBytes = 0;
  /** Requests so far that were done in no time. */
  #quick = 0;

  constructor(options: RoomOptions) {
    this.#options = options;
    const { limits, world, metrics } = options;
    this.#usualDeadlines = new Deadlines(world, limits.requestMs);
    const queue = (seats: number, pace?: Pace): FairQueue =>
      new FairQueue({
        ...(pace === undefined ? {} : { pace }),
        seats,
        waiting: limits.requestsWaiting,
        perFlow: limits.requestsPerUser,
        soon: (callback) => world.timers.soon(callback),
        refused: (limit) => metrics.refused.add(1, limit),
      });
    const lane = (): Lane => ({
      narrow: queue(limits.seats),
      wide: queue(Math.ceil(limits.seats / 50), breathe(world, { others: () => this.#quick, longestPause })),
    });
    this.#lanes = { vital: lane(), system: lane(), bulk: lane() };
    const waitingIn = ({ narrow, wide }: Lane): number => narrow.waiting + wide.waiting;
    metrics.waiting = () => priorities.reduce((sum, priority) => sum + waitingIn(this.#lanes[priority]), 0);
  }

  /** @throws ApiError 429 at once if there is no room at all; rejects with 429 or 504 */
  run<T>(asking: Asking, work: Work<T>): Promise<T> {
    const { metrics } = this.#options;
    const lane = this.#lanes[priorityOf(asking.user, asking.attributes)];
    const flow = lane.narrow.arrive(asking.user.name);
    const visit = new Visit(lane, flow);
    metrics.inFlight += 1;
    return new Promise((resolve, reject) => {
      const cancel = this.#after(work.ms, () => {
        // Who still waits has had nothing done for them, and may simply ask again.
        if (!visit.giveUp()) reject(statusErrors.timeout('request did not complete within the allotted timeout'));
      });
      // Work that goes on after its time is over still counts: it still costs.
      void this.#serve(visit, asking, work)
        .then(resolve, reject)
        .finally(() => {
          metrics.inFlight -= 1;
          cancel();
          lane.narrow.depart(flow);
        });
    });
  }

  #after(ms: number, over: () => void): Cancel {
    const { world, limits } = this.#options;
    return ms === limits.requestMs ? this.#usualDeadlines.set(over) : world.timers.after(ms, over);
  }

  async #serve<T>(visit: Visit, asking: Asking, { receive, perform }: Work<T>): Promise<T> {
    const reserved = this.#reserve(visit.flow, asking.exchange);
    try {
      const received = await receive();
      const wide = isWide(asking.attributes, received);
      if (!wide) this.#quick += 1;
      const waits = visit.enter(wide);
      if (waits !== undefined) {
        asking.exchange.onClose(() => void visit.giveUp());
        await waits;
      }
      try {
        return await perform(received);
      } finally {
        visit.leave();
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

/**
 * The requests of one priority. What takes long has few seats of its own and begins one at a time: on one processor nobody is served
 * sooner by more, and what is done in no time does not wait for it.
 */
interface Lane {
  readonly narrow: FairQueue;
  readonly wide: FairQueue;
}

/** One request in its lane. */
class Visit {
  /** As one of all requests of its user. */
  readonly flow: Flow;
  readonly #lane: Lane;
  #seat: { readonly queue: FairQueue; readonly flow: Flow } | undefined;
  #giveUp: (() => boolean) | undefined;

  constructor(lane: Lane, flow: Flow) {
    this.#lane = lane;
    this.flow = flow;
  }

  /** @throws ApiError 429 */
  enter(wide: boolean): Promise<void> | undefined {
    if (!wide) return this.#enter({ queue: this.#lane.narrow, flow: this.flow });
    const flow = this.#lane.wide.arrive(this.flow.name);
    try {
      return this.#enter({ queue: this.#lane.wide, flow });
    } finally {
      // Its user's requests are counted already; the flow stays as long as it waits or holds a seat.
      this.#lane.wide.depart(flow);
    }
  }

  #enter(seat: { readonly queue: FairQueue; readonly flow: Flow }): Promise<void> | undefined {
    const place = seat.queue.enter(seat.flow);
    this.#seat = seat;
    this.#giveUp = place?.giveUp;
    return place?.seated;
  }

  leave(): void {
    this.#seat?.queue.leave(this.#seat.flow);
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
