import type { Answer, Transport } from '../machinery/transport.ts';
import type { Cancel, Log, World } from '../world/world.ts';

/**
 * A process of the simulated cluster: it can be killed at any moment. Then none of its callbacks runs any more and no
 * answer reaches it; what it had sent takes effect all the same. Whatever it awaited, it awaits for ever.
 */
export class SimulatedProcess implements World {
  readonly name: string;
  readonly clock: World['clock'];
  readonly random: World['random'];
  readonly log: Log;
  readonly timers: World['timers'];
  #alive = true;

  constructor(world: World, name: string) {
    this.name = name;
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

  /** The same transport, as seen from this process. */
  transport(transport: Transport): Transport {
    return {
      send: (request) => (this.#alive ? this.#whileAlive(transport.send(request)) : never),
      watch: (request, sink) => {
        if (!this.#alive) return { close: () => undefined };
        return transport.watch(request, {
          events: (batch) => this.#run(() => sink.events(batch)),
          end: (error) => this.#run(() => sink.end(error)),
        });
      },
    };
  }

  #whileAlive(answer: Promise<Answer>): Promise<Answer> {
    return answer.then((value) => (this.#alive ? value : never));
  }

  #run(callback: () => void): void {
    if (this.#alive) callback();
  }
}

const never = new Promise<Answer>(() => undefined);
