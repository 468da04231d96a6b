import type { Transport, TransportRequest } from '../../client/transport.ts';
import type { World } from '../../world/world.ts';

/**
 * A request to the API server of this process is answered without a turn of the event loop: five hundred pods that a controller creates at once would
 * be one turn, in which no request from outside, no lease and no other controller is looked after. So the requests of a client, or of a group of them, take
 * `turnMs` of a turn; those that come later wait for the next turns, in their order.
 *
 * Leases never wait: a node or a leader must not be taken for dead because others are busy. Nor do events: a recorder holds so many, and drops those
 * that it cannot write in time. On virtual time no turn takes long, and nothing waits.
 */
export class RequestTurns {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #waiting: (() => void)[] = [];
  /** When the share of the current turn is used up. Undefined: nothing was sent in this turn. */
  #until: number | undefined;

  constructor(world: Pick<World, 'clock' | 'timers'>) {
    this.#world = world;
  }

  /** The transport with its requests in turns. */
  limit(transport: Transport): Transport {
    return {
      send: (request) => {
        const turn = isUrgent(request) ? undefined : this.#turn();
        return turn === undefined ? transport.send(request) : turn.then(() => transport.send(request));
      },
      watch: (request, sink) => transport.watch(request, sink),
    };
  }

  /** Undefined: the request may be sent now. */
  #turn(): Promise<void> | undefined {
    const now = this.#world.clock.monotonic();
    if (this.#until === undefined) this.#begin(now);
    else if (this.#waiting.length > 0 || now > this.#until) return new Promise((resolve) => void this.#waiting.push(resolve));
    return undefined;
  }

  #begin(now: number): void {
    this.#until = now + turnMs;
    this.#world.timers.soon(() => this.#end());
  }

  /** The next turn begins with those that wait. How long they take is not known before they are answered: a few at a time. */
  #end(): void {
    this.#until = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin(this.#world.clock.monotonic());
    for (const go of this.#waiting.splice(0, requestsPerTurn)) go();
  }
}

const isUrgent = ({ info }: TransportRequest): boolean => info.type === 'resource' && (info.resource === 'leases' || info.resource === 'events');

const turnMs = 5;
const requestsPerTurn = 8;
