import type { Answer, Transport } from '../../client/transport.ts';
import type { Cancel, Log, World } from '../../world/world.ts';

/**
 * A process of the simulated cluster: it can be killed at any moment. Then none of its callbacks runs any more and no answer reaches it;
 * requests that it had sent take effect all the same. Its pending promises never settle.
 *
 * It can also be paused, as by a long garbage collection or a live migration of its machine: callbacks then wait until it resumes, and it
 * does not know how late it is.
 */
export class SimulatedProcess implements World {
  readonly name: string;
  readonly clock: World['clock'];
  readonly random: World['random'];
  readonly log: Log;
  readonly timers: World['timers'];
  readonly #world: World;
  #alive = true;
  /** While it is paused: callbacks to run when it resumes, in any order. */
  #paused: (() => void)[] | undefined;
  /** Deliveries of streams that came while it was paused, in order. */
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

  /** Runs what has waited, in any order; streams deliver in order. */
  resume(): void {
    const callbacks = this.#paused;
    this.#paused = undefined;
    for (const callback of callbacks ?? []) this.#world.timers.soon(callback);
    if (this.#deferred.length > 0) this.#world.timers.soon(() => this.#deliverDeferred());
  }

  /** Resolves once the process is not paused; never if it is dead. */
  async untilResumed<T>(value: T): Promise<T> {
    const paused = this.#paused;
    if (paused !== undefined) await new Promise<void>((resolve) => paused.push(resolve));
    return this.#alive ? value : await never();
  }

  /** The transport as this process uses it: without answers once it is dead. */
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

  /** A delivery waits behind older ones: no connection reorders them. */
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

/** A promise that never settles. A new one each time: a shared one would keep everything that awaits it in memory. */
export const never = (): Promise<never> => new Promise(() => undefined);
