import type { Answer, Stream, StreamEvent, StreamSink, Transport, TransportRequest } from '../../client/transport.ts';
import { ApiError } from '../../api/status.ts';
import type { Prng } from './prng.ts';
import type { SimulatedWorld } from './world.ts';

/** How bad a network is. Probabilities are per request, or per batch of a stream. */
export interface NetworkFaults {
  /** A request or an event takes up to this long. */
  readonly delayMs: number;
  /** A request gets lost on the way to the server: it has no effect. */
  readonly lostBefore: number;
  /** Its answer gets lost: it has had its effect, and the client does not know. */
  readonly lostAfter: number;
  /** A stream is cut instead of delivering a batch. */
  readonly cut: number;
  /** A stream stalls for `stallMs`: its reader's cache becomes stale. */
  readonly stall: number;
  readonly stallMs: number;
  /** The resource whose streams stall; absent: all. */
  readonly stalls?: string;
  /** A batch of a stream is delivered twice, as after a watch that began too early. */
  readonly twice: number;
  /** A write is answered with a conflict, and has no effect, as if another client had written the same before. */
  readonly conflict: number;
}

export const perfectNetwork: NetworkFaults = { delayMs: 0, lostBefore: 0, lostAfter: 0, cut: 0, stall: 0, stallMs: 0, twice: 0, conflict: 0 };
export const badNetwork: NetworkFaults = { ...perfectNetwork, delayMs: 50, lostBefore: 0.05, lostAfter: 0.05, cut: 0.1, stall: 0.05, stallMs: 5_000 };

/**
 * A network between clients and a server, which delays, loses and cuts by the world's seed. It never reorders the events
 * of a stream, as TCP does not. `heal()` makes it perfect from then on.
 */
export class SimulatedNetwork {
  readonly #world: SimulatedWorld;
  readonly #random: Prng;
  #faults: NetworkFaults;

  constructor(world: SimulatedWorld, faults: NetworkFaults) {
    this.#world = world;
    this.#random = world.random.fork();
    this.#faults = faults;
  }

  heal(): void {
    this.setFaults(perfectNetwork);
  }

  setFaults(faults: NetworkFaults): void {
    this.#faults = faults;
  }

  /** The server, as the client reaches it through this network. */
  transport(server: Transport): Transport {
    return {
      send: (request) => this.#send(server, request),
      watch: (request, sink) => new DelayedStream(server, request, sink, this).open(),
    };
  }

  async #send(server: Transport, request: TransportRequest): Promise<Answer> {
    await this.#world.sleep(this.delay());
    if (this.#random.chance(this.#faults.lostBefore)) return lost('the request was lost');
    if (request.info.verb === 'update' && this.#happens(this.#faults.conflict)) return conflict;
    const answer = await server.send(request);
    await this.#world.sleep(this.delay());
    return this.#random.chance(this.#faults.lostAfter) ? lost('the answer was lost') : answer;
  }

  delay(): number {
    return this.#random.float() * this.#faults.delayMs;
  }

  streamDelay({ info }: TransportRequest): number {
    const { stall, stallMs, stalls } = this.#faults;
    const mayStall = stalls === undefined || (info.type === 'resource' && info.resource === stalls);
    return mayStall && this.#random.chance(stall) ? stallMs : this.delay();
  }

  twice(): boolean {
    return this.#happens(this.#faults.twice);
  }

  /** A fault with probability 0 draws no number: so seeds without it replay unchanged. */
  #happens(probability: number): boolean {
    return probability > 0 && this.#random.chance(probability);
  }

  losesRequest(): boolean {
    return this.#happens(this.#faults.lostBefore);
  }

  losesAnswer(): boolean {
    return this.#happens(this.#faults.lostAfter);
  }

  cuts(): boolean {
    return this.#random.chance(this.#faults.cut);
  }

  get world(): SimulatedWorld {
    return this.#world;
  }
}

const conflict: Answer = {
  type: 'failed',
  error: new ApiError(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version and try again'),
};
const lost = (message: string): Answer => ({ type: 'unreachable', error: new Error(message) });

type Delivery = { readonly events: readonly StreamEvent[] } | { readonly end: ApiError | undefined };

/** Delivers batches in order, each with its own delay. */
class DelayedStream {
  readonly #server: Transport;
  readonly #request: TransportRequest;
  readonly #sink: StreamSink;
  readonly #network: SimulatedNetwork;
  readonly #underWay: Delivery[] = [];
  #stream: Stream | undefined;
  #closed = false;

  constructor(server: Transport, request: TransportRequest, sink: StreamSink, network: SimulatedNetwork) {
    this.#server = server;
    this.#request = request;
    this.#sink = sink;
    this.#network = network;
  }

  open(): Stream {
    this.#network.world.timers.after(this.#network.delay(), () => {
      if (this.#closed) return;
      this.#stream = this.#server.watch(this.#request, {
        events: (events) => this.#receive({ events }),
        end: (end) => this.#receive({ end }),
      });
    });
    return { close: () => this.#close() };
  }

  #close(): void {
    this.#closed = true;
    this.#stream?.close();
  }

  #receive(delivery: Delivery): void {
    this.#underWay.push(delivery);
    if (this.#underWay.length === 1) this.#deliverNext();
  }

  #deliverNext(): void {
    this.#network.world.timers.after(this.#network.streamDelay(this.#request), () => {
      const next = this.#underWay[0];
      if (next === undefined || this.#closed) return;
      if ('end' in next || this.#network.cuts()) {
        this.#close();
        return this.#sink.end('end' in next ? next.end : undefined);
      }
      this.#deliver(next.events);
      this.#underWay.shift();
      if (this.#underWay.length > 0) this.#deliverNext();
    });
  }

  /** The network may cut a batch between two events of one revision: the protocol does not promise batches. */
  #deliver(events: readonly StreamEvent[]): void {
    if (events.length > 1 && this.#network.cuts()) {
      this.#sink.events(events.slice(0, -1));
      this.#close();
      return this.#sink.end(undefined);
    }
    this.#sink.events(events);
    if (this.#network.twice() && !this.#closed) this.#sink.events(events);
  }
}
