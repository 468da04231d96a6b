import { statusErrors } from '../../api/status.ts';
import { retryAfterSeconds } from '../limits.ts';

export interface FairQueueOptions {
  /** Requests that run at once. */
  readonly seats: number;
  /** Requests of all flows that wait for a seat. */
  readonly waiting: number;
  /** Requests of one flow: arriving, waiting and running. */
  readonly perFlow: number;
  readonly soon: (callback: () => void) => void;
  readonly refused: (limit: string) => void;
  /** For requests that take long: one starts at a time, with pauses in between. */
  readonly pacer?: Pacer;
}

/** Decides when the next request may start. */
export interface Pacer {
  /** A request starts. `next` is called once another one may; `waiting` is the length of the queue then. */
  started(next: () => void, waiting: () => number): void;
}

/** The requests of one user. Exists as long as there are any. */
export interface Flow {
  readonly name: string;
  /** Arriving, waiting or running. */
  present: number;
  /** Seats held. */
  held: number;
  /** Of its large bodies, received or announced. */
  bodyBytes: number;
  /** In order of arrival. */
  readonly waiting: QueueEntry[];
}

interface QueueEntry {
  readonly go: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Seats for requests. While there are free seats, a request costs a few counters. Then requests wait by flow, and flows are served round robin:
 * a user with a thousand requests waits for their own requests, and other users do not.
 *
 *     seats 4, flows a and b:   a1 a2 a3 run, a4 … a900 wait (one flow gets no more than three quarters), b1 runs at once
 *
 * When too many wait, the last request of the longest flow is refused, so that a new flow always finds a place.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #flowSeats: number;
  readonly #flows = new Map<string, Flow>();
  /** Flows with waiting requests; the first is next. */
  readonly #waitingFlows = new Set<Flow>();
  #used = 0;
  #waiting = 0;
  #scheduled = false;
  /** A request has started, and the pacer has not allowed the next one yet. */
  #pausing = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#flowSeats = Math.max(1, Math.ceil((options.seats * 3) / 4));
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** A request arrives. @throws ApiError 429 */
  arrive(name: string): Flow {
    let flow = this.#flows.get(name);
    if (flow === undefined) {
      flow = { name, present: 0, held: 0, bodyBytes: 0, waiting: [] };
      this.#flows.set(name, flow);
    }
    if (flow.present >= this.#options.perFlow) throw this.#overloadError('requests of a user');
    flow.present += 1;
    return flow;
  }

  /** A request has ended, with or without a seat. */
  depart(flow: Flow): void {
    flow.present -= 1;
    this.#deleteIfIdle(flow);
  }

  /**
   * Takes a seat. undefined: the request has it. Otherwise `seated` resolves with the seat, or rejects with 429;
   * `giveUp` refuses a request that still waits, and returns whether it did.
   */
  enter(flow: Flow): { readonly seated: Promise<void>; readonly giveUp: () => boolean } | undefined {
    if (this.#waitingFlows.size === 0 && !this.#pausing && this.#hasSeat(flow)) {
      this.#occupySeat(flow);
      this.#pause();
      return undefined;
    }
    this.#makeRoom(flow);
    let giveUp = (): boolean => false;
    const seated = new Promise<void>((go, refuse) => {
      const waiting: QueueEntry = { go, refuse };
      giveUp = () => this.#remove(flow, waiting, 'time in the queue');
      flow.waiting.push(waiting);
    });
    this.#waitingFlows.add(flow);
    this.#waiting += 1;
    this.#schedule();
    return { seated, giveUp };
  }

  leave(flow: Flow): void {
    flow.held -= 1;
    this.#used -= 1;
    this.#deleteIfIdle(flow);
    if (this.#waitingFlows.size > 0) this.#schedule();
  }

  #deleteIfIdle(flow: Flow): void {
    if (flow.present === 0 && flow.held === 0 && flow.waiting.length === 0) this.#flows.delete(flow.name);
  }

  #hasSeat(flow: Flow): boolean {
    return this.#used < this.#options.seats && flow.held < this.#flowSeats;
  }

  #pause(): void {
    if (this.#options.pacer === undefined) return;
    this.#pausing = true;
    const next = (): void => {
      this.#pausing = false;
      if (this.#waitingFlows.size > 0) this.#giveSeats();
    };
    this.#options.pacer.started(next, () => this.#waiting);
  }

  #occupySeat(flow: Flow): void {
    flow.held += 1;
    this.#used += 1;
  }

  /** @throws ApiError 429 if no flow has more requests waiting than this one will have */
  #makeRoom(flow: Flow): void {
    if (this.#waiting < this.#options.waiting) return;
    let longest: Flow | undefined;
    let most = flow.waiting.length + 1;
    for (const other of this.#waitingFlows) {
      if (other.waiting.length <= most) continue;
      longest = other;
      most = other.waiting.length;
    }
    const last = longest?.waiting.at(-1);
    if (longest === undefined || last === undefined) throw this.#overloadError('requests waiting');
    this.#remove(longest, last, 'requests waiting');
  }

  #remove(flow: Flow, waiting: QueueEntry, limit: string): boolean {
    const at = flow.waiting.lastIndexOf(waiting);
    if (at < 0) return false;
    flow.waiting.splice(at, 1);
    if (flow.waiting.length === 0) this.#waitingFlows.delete(flow);
    this.#deleteIfIdle(flow);
    this.#waiting -= 1;
    waiting.refuse(this.#overloadError(limit));
    return true;
  }

  /** Not at once: requests that have arrived meanwhile are read first, and take part. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.soon(() => {
      this.#scheduled = false;
      this.#giveSeats();
    });
  }

  /** Gives out the free seats; with a pacer only one, so that other work runs in between. */
  #giveSeats(): void {
    for (const flow of this.#waitingFlows) {
      if (this.#pausing || this.#used >= this.#options.seats) return;
      const next = this.#hasSeat(flow) ? flow.waiting.shift() : undefined;
      if (next === undefined) continue;
      this.#waiting -= 1;
      this.#waitingFlows.delete(flow);
      if (flow.waiting.length > 0) this.#waitingFlows.add(flow);
      this.#occupySeat(flow);
      next.go();
      this.#pause();
    }
  }

  #overloadError(limit: string): Error {
    this.#options.refused(limit);
    return overloadError();
  }
}

export const overloadError = (): Error =>
  statusErrors.tooManyRequests('the server has received too many requests and has asked us to try again later', retryAfterSeconds);
