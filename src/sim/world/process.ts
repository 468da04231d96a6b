import type { Answer, Transport } from '../../client/transport.ts';
import type { Cancel, Log, World } from '../../world/world.ts';

/**
 * A process of the simulated cluster: it can be killed at any moment. Then none of its callbacks runs any more and no
 * answer reaches it; what it had sent takes effect all the same. Whatever it awaited, it awaits for ever.
 *
 * It can also be paused, as by a long garbage collection or by somebody who moves its machine: then all that waits until it goes on, and
 * it does not know how late it is.
 */
export class SimulatedProcess implements World {
  readonly name: string;
  readonly clock: World['clock'];
  readonly random: World['random'];
  readonly log: Log;
  readonly timers: World['timers'];
  readonly #world: World;
  #alive = true;
  /** While it is paused: what is to happen when it goes on, in any order. */
  #paused: (() => void)[] | undefined;
  /** What streams have brought meanwhile, and until that is heard: in order. */
  readonly #deferred: (() => void)[] = [];

  constructor(world: World, name: string) {
    this.name = name;
    this.#world = world;
    this.clock = world.clock;
    this.random = world.random;
    this.log = world.log.with({ process: name });
    this.timers = {
      after: (ms: number, callback: () => void): Cancel => world.timers.after(ms, () => this.#run(callback)),
      soon: (callback: () => void) => world.timers.soon(() => this.#run(callback)),
    };
  }

  get alive(): boolean {
    return this.#alive;
  }

  kill(): void {
    this.#alive = false;
    this.log.info('killed');
  }

  pause(): void {
    this.#paused ??= [];
  }

  /** What has waited happens now, in whatever order; but streams deliver in theirs. */
  resume(): void {
    const callbacks = this.#paused;
    this.#paused = undefined;
    for (const callback of callbacks ?? []) this.#world.timers.soon(callback);
    if (this.#deferred.length > 0) this.#world.timers.soon(() => this.#deliverDeferred());
  }

  /** Something outside has answered. */
  async untilResumed<T>(value: T): Promise<T> {
    const paused = this.#paused;
    if (paused !== undefined) await new Promise<void>((resolve) => paused.push(resolve));
    return this.#alive ? value : await never();
  }

  /** The same transport, as seen from this process. */
  transport(transport: Transport): Transport {
    return {
      send: (request) => (this.#alive ? this.#whileAlive(transport.send(request)) : never()),
      watch: (request, sink) => {
        if (!this.#alive) return { close: () => undefined };
        return transport.watch(request, {
          events: (batch) => this.#deliver(() => sink.events(batch)),
          end: (error) => this.#deliver(() => sink.end(error)),
        });
      },
    };
  }

  #whileAlive(answer: Promise<Answer>): Promise<Answer> {
    return answer.then((value) => (this.#paused === undefined ? (this.#alive ? value : never()) : this.untilResumed(value)));
  }

  #run(callback: () => void): void {
    if (this.#paused !== undefined) this.#paused.push(() => this.#run(callback));
    else if (this.#alive) callback();
  }

  /** What comes while older news wait to be heard waits behind them. */
  #deliver(callback: () => void): void {
    if (this.#paused !== undefined || this.#deferred.length > 0) this.#deferred.push(callback);
    else if (this.#alive) callback();
  }

  #deliverDeferred(): void {
    while (this.#paused === undefined && this.#alive && this.#deferred.length > 0) {
      this.#deferred[0]?.();
      this.#deferred.shift();
    }
  }
}

/** A new one each time: what waits for a promise is kept for as long as the promise is. */
const never = (): Promise<never> => new Promise(() => undefined);
