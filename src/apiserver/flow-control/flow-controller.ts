import type { RequestInfo } from '../../api/request-info.ts';
import { statusErrors } from '../../api/status.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { ApiRequest, User } from '../api.ts';
import type { Exchange } from '../exchange.ts';
import { createPacer } from './pacing.ts';
import { Deadlines } from './deadlines.ts';
import { FairQueue, type Flow, overloadError, type Pacer } from './fair-queue.ts';
import type { Limits } from '../limits.ts';
import { type PriorityLevelName, priorityLevelNames, priorityLevelOf } from './priority-level.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';

export interface FlowControllerOptions {
  readonly limits: Limits;
  readonly world: World;
  readonly metrics: RequestMetrics;
}

/** Whose request it is, and for what. */
export interface IncomingRequest {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly user: User;
}

export interface RequestWork<T> {
  /** After so long the client is told that it did not work out. */
  readonly timeoutMs: number;
  readonly receive: () => Promise<ApiRequest>;
  readonly perform: (received: ApiRequest) => Promise<T>;
}

/** However many wait, a fifth of the time is for what takes long. */
const maxPauseRatio = 4;
/** Bodies up to here are not counted: connections are, and so much fits into the buffers of one. */
const uncountedBodyBytes = 64 * 1024;
/** From here on reading a body keeps the processor busy for long enough that others notice. */
const longBodyBytes = 32 * 1024;

/**
 * Room for requests: who is worked for now, who waits, who is sent away. A seat is held only while there is work to do: neither a body
 * that arrives slowly nor an answer that is taken slowly keeps anybody waiting.
 */
export class FlowController {
  readonly #options: FlowControllerOptions;
  readonly #levels: Readonly<Record<PriorityLevelName, PriorityLevel>>;
  readonly #defaultDeadlines: Deadlines;
  /** Of all large bodies that are here or announced. */
  #bodyBytes = 0;
  /** Requests so far that were done in no time. */
  #shortRequests = 0;

  constructor(options: FlowControllerOptions) {
    this.#options = options;
    const { limits, world, metrics } = options;
    this.#defaultDeadlines = new Deadlines(world, limits.requestMs);
    const queue = (seats: number, pace?: Pacer): FairQueue =>
      new FairQueue({
        ...(pace === undefined ? {} : { pacer: pace }),
        seats,
        waiting: limits.requestsWaiting,
        perFlow: limits.requestsPerUser,
        soon: (callback) => world.timers.soon(callback),
        refused: (limit) => metrics.refused.add(1, limit),
      });
    const lane = (): PriorityLevel => ({
      short: queue(limits.seats),
      long: queue(Math.ceil(limits.seats / 50), createPacer(world, { otherRequests: () => this.#shortRequests, maxPauseRatio })),
    });
    this.#levels = { vital: lane(), system: lane(), bulk: lane() };
    const waitingIn = ({ short: narrow, long: wide }: PriorityLevel): number => narrow.waiting + wide.waiting;
    metrics.waiting = () => priorityLevelNames.reduce((sum, priority) => sum + waitingIn(this.#levels[priority]), 0);
  }

  /** @throws ApiError 429 at once if there is no room at all; rejects with 429 or 504 */
  run<T>(asking: IncomingRequest, work: RequestWork<T>): Promise<T> {
    const { metrics } = this.#options;
    const lane = this.#levels[priorityLevelOf(asking.user, asking.info)];
    const flow = lane.short.arrive(asking.user.name);
    const visit = new QueuedRequest(lane, flow);
    metrics.inFlight += 1;
    return new Promise((resolve, reject) => {
      const cancel = this.#after(work.timeoutMs, () => {
        // Who still waits has had nothing done for them, and may simply ask again.
        if (!visit.giveUp()) reject(statusErrors.timeout('request did not complete within the allotted timeout'));
      });
      // Work that goes on after its time is over still counts: it still costs.
      void this.#serve(visit, asking, work)
        .then(resolve, reject)
        .finally(() => {
          metrics.inFlight -= 1;
          cancel();
          lane.short.depart(flow);
        });
    });
  }

  #after(ms: number, over: () => void): Cancel {
    const { world, limits } = this.#options;
    return ms === limits.requestMs ? this.#defaultDeadlines.set(over) : world.timers.after(ms, over);
  }

  async #serve<T>(visit: QueuedRequest, asking: IncomingRequest, { receive, perform }: RequestWork<T>): Promise<T> {
    const reserved = this.#reserve(visit.flow, asking.exchange);
    try {
      const received = await receive();
      const wide = isLong(asking.info, received);
      if (!wide) this.#shortRequests += 1;
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
    if (bytes <= uncountedBodyBytes) return 0;
    if (flow.bodyBytes + bytes > limits.bodiesBytesPerUser || this.#bodyBytes + bytes > limits.bodiesBytes) {
      metrics.refused.add(1, 'bytes of bodies');
      throw overloadError();
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
interface PriorityLevel {
  readonly short: FairQueue;
  readonly long: FairQueue;
}

/** One request in its lane. */
class QueuedRequest {
  /** As one of all requests of its user. */
  readonly flow: Flow;
  readonly #level: PriorityLevel;
  #seat: { readonly queue: FairQueue; readonly flow: Flow } | undefined;
  #giveUp: (() => boolean) | undefined;

  constructor(lane: PriorityLevel, flow: Flow) {
    this.#level = lane;
    this.flow = flow;
  }

  /** @throws ApiError 429 */
  enter(wide: boolean): Promise<void> | undefined {
    if (!wide) return this.#enter({ queue: this.#level.short, flow: this.flow });
    const flow = this.#level.long.arrive(this.flow.name);
    try {
      return this.#enter({ queue: this.#level.long, flow });
    } finally {
      // Its user's requests are counted already; the flow stays as long as it waits or holds a seat.
      this.#level.long.depart(flow);
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
function isLong(info: RequestInfo, { body, query }: ApiRequest): boolean {
  if (body.type === 'bytes' && body.bytes.length > longBodyBytes) return true;
  if (info.type !== 'resource' || info.name !== '') return false;
  if (info.verb === 'watch') return (query.get('resourceVersion') ?? '0') === '0' || query.get('sendInitialEvents') === 'true';
  return info.verb === 'list' || info.verb === 'deletecollection';
}
