import type { RequestInfo } from '../../api/request-info.ts';
import { statusErrors } from '../../api/status.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { ApiRequest, User } from '../api.ts';
import type { Exchange } from '../exchange.ts';
import { createPacer } from './pacing.ts';
import { Deadlines } from './deadlines.ts';
import { FairQueue, type Flow, overloadError, type Pacer } from './fair-queue.ts';
import type { Limits } from '../limits.ts';
import { type ConfiguredLevel, FlowConfiguration } from './flow-configuration.ts';
import { type PriorityLevelName, priorityLevelNames, priorityLevelOf } from './priority-level.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';

export interface FlowControllerOptions {
  readonly limits: Limits;
  readonly world: World;
  readonly metrics: RequestMetrics;
  /** The FlowSchemas and PriorityLevelConfigurations at this moment; absent: those of every cluster. */
  readonly flowConfiguration?: (() => FlowConfiguration) | undefined;
}

export interface IncomingRequest {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly user: User;
}

export interface RequestWork<T> {
  /** Then the client is answered 504. */
  readonly timeoutMs: number;
  readonly receive: () => Promise<ApiRequest>;
  readonly perform: (received: ApiRequest) => Promise<T>;
}

/** However many requests wait, long ones get a fifth of the time. */
const maxPauseRatio = 4;
/** Bodies up to here are not counted: connections are, and the buffers of one hold as much. */
const uncountedBodyBytes = 64 * 1024;
/** Levels that were deleted, or changed their names, are forgotten then. */
const maxConfiguredLevels = 1_000;
/** From here on decoding a body delays other requests noticeably. */
const longBodyBytes = 32 * 1024;

/**
 * API priority and fairness: decides whether a request runs now, waits, or is refused. A request holds a seat only while it is worked on:
 * neither a body that arrives slowly nor a response that is read slowly occupies one.
 */
export class FlowController {
  readonly #options: FlowControllerOptions;
  readonly #levels: Readonly<Record<PriorityLevelName, PriorityLevel>>;
  /** Those of PriorityLevelConfigurations, by name. Of a changed one, requests that are there already end in the old one. */
  readonly #configured = new Map<string, { readonly of: ConfiguredLevel; readonly level: PriorityLevel }>();
  readonly #queue: (seats: number, waiting: number, pacer?: Pacer) => FairQueue;
  readonly #defaultDeadlines: Deadlines;
  /** Of all large bodies, received or announced. */
  #bodyBytes = 0;
  /** Short requests so far. */
  #shortRequests = 0;

  constructor(options: FlowControllerOptions) {
    this.#options = options;
    const { limits, world, metrics } = options;
    this.#defaultDeadlines = new Deadlines(world, limits.requestMs);
    this.#queue = (seats, waiting, pacer) =>
      new FairQueue({
        ...(pacer === undefined ? {} : { pacer }),
        seats,
        waiting,
        perFlow: limits.requestsPerUser,
        soon: (callback) => world.timers.soon(callback),
        refused: (limit) => metrics.refused.add(1, limit),
      });
    const level = (): PriorityLevel => this.#level(limits.seats, limits.requestsWaiting);
    this.#levels = { vital: level(), system: level(), bulk: level() };
    const waitingIn = ({ short, long }: PriorityLevel): number => short.waiting + long.waiting;
    metrics.waiting = () => {
      const builtIn = priorityLevelNames.reduce((sum, priority) => sum + waitingIn(this.#levels[priority]), 0);
      return [...this.#configured.values()].reduce((sum, one) => sum + waitingIn(one.level), builtIn);
    };
  }

  #level(seats: number, waiting: number): PriorityLevel {
    const pacer = createPacer(this.#options.world, { otherRequests: () => this.#shortRequests, maxPauseRatio });
    return { short: this.#queue(seats, waiting), long: this.#queue(Math.ceil(seats / 50), waiting, pacer) };
  }

  /** The level of a request, and its flow there. */
  #placeOf({ user, info }: IncomingRequest): { readonly level: PriorityLevel; readonly flow: string } {
    const found = this.#options.flowConfiguration?.().classify(user, info);
    if (found?.type === 'configured') return { level: this.#configuredLevel(found.level), flow: found.flow };
    return { level: this.#levels[found?.level ?? priorityLevelOf(user, info)], flow: user.name };
  }

  #configuredLevel(of: ConfiguredLevel): PriorityLevel {
    const known = this.#configured.get(of.name);
    // Every write of a FlowSchema or level makes new ones of all: those that mean the same keep their seats, and the requests that hold them.
    if (known !== undefined && known.of.share === of.share && known.of.queueLength === of.queueLength) return known.level;
    const { limits } = this.#options;
    // An exempt level has room for all requests that connections can carry.
    const level =
      of.share === undefined
        ? this.#level(limits.requestsWaiting, limits.requestsWaiting)
        : this.#level(Math.ceil(limits.seats * of.share), Math.min(of.queueLength, limits.requestsWaiting));
    if (this.#configured.size >= maxConfiguredLevels) this.#configured.clear();
    this.#configured.set(of.name, { of, level });
    return level;
  }

  /** @throws ApiError 429 at once if its user has too many requests; rejects with 429 or 504 */
  run<T>(request: IncomingRequest, work: RequestWork<T>): Promise<T> {
    const { metrics } = this.#options;
    const { level, flow: name } = this.#placeOf(request);
    const flow = level.short.arrive(name);
    const queued = new QueuedRequest(level, flow);
    metrics.inFlight += 1;
    return new Promise((resolve, reject) => {
      const cancel = this.#after(work.timeoutMs, () => {
        // A request that still waits has had no effect: its client may retry.
        if (!queued.giveUp()) reject(statusErrors.timeout('request did not complete within the allotted timeout'));
      });
      // Work that goes on after the timeout still holds its seat.
      void this.#serve(queued, request, work)
        .then(resolve, reject)
        .finally(() => {
          metrics.inFlight -= 1;
          cancel();
          level.short.depart(flow);
        });
    });
  }

  #after(ms: number, over: () => void): Cancel {
    const { world, limits } = this.#options;
    return ms === limits.requestMs ? this.#defaultDeadlines.set(over) : world.timers.after(ms, over);
  }

  async #serve<T>(queued: QueuedRequest, request: IncomingRequest, { receive, perform }: RequestWork<T>): Promise<T> {
    const reserved = this.#reserve(queued.flow, request.exchange);
    try {
      const received = await receive();
      const long = isLong(request.info, received);
      if (!long) this.#shortRequests += 1;
      const waits = queued.enter(long);
      if (waits !== undefined) {
        request.exchange.onClose(() => void queued.giveUp());
        await waits;
      }
      try {
        return await perform(received);
      } finally {
        queued.leave();
      }
    } finally {
      queued.flow.bodyBytes -= reserved;
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

/** Long requests have few seats of their own and start one at a time: short ones do not wait for them, and on one processor more seats would not help. */
interface PriorityLevel {
  readonly short: FairQueue;
  readonly long: FairQueue;
}

class QueuedRequest {
  /** All requests of its user. */
  readonly flow: Flow;
  readonly #level: PriorityLevel;
  #seat: { readonly queue: FairQueue; readonly flow: Flow } | undefined;
  #giveUp: (() => boolean) | undefined;

  constructor(level: PriorityLevel, flow: Flow) {
    this.#level = level;
    this.flow = flow;
  }

  /** @throws ApiError 429 */
  enter(long: boolean): Promise<void> | undefined {
    if (!long) return this.#enter({ queue: this.#level.short, flow: this.flow });
    const flow = this.#level.long.arrive(this.flow.name);
    try {
      return this.#enter({ queue: this.#level.long, flow });
    } finally {
      // The user's requests are counted in the queue of short ones; this flow lives while a request waits or holds a seat.
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

  /** Refuses a request that still waits. False: it does not wait. */
  giveUp(): boolean {
    return this.#giveUp?.() ?? false;
  }
}

/** Whether a request concerns many objects or many bytes. */
function isLong(info: RequestInfo, { body, query }: ApiRequest): boolean {
  if (body.type === 'bytes' && body.bytes.length > longBodyBytes) return true;
  if (info.type !== 'resource' || info.name !== '') return false;
  if (info.verb === 'watch') return (query.get('resourceVersion') ?? '0') === '0' || query.get('sendInitialEvents') === 'true';
  return info.verb === 'list' || info.verb === 'deletecollection';
}
