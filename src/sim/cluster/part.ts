import type { Transport } from '../../machinery/transport.ts';
import type { World } from '../../world/world.ts';
import { type ClockError, WrongClock } from '../clock.ts';
import type { SimulatedNetwork } from '../network.ts';
import { SimulatedProcess } from '../process.ts';

export interface PartOptions {
  readonly world: World;
  readonly name: string;
  /** What lies between it and the server; absent: nothing. */
  readonly network?: SimulatedNetwork;
  readonly clock?: ClockError;
  /** What the program does when it starts, with empty memory. */
  readonly run: (life: PartLife) => void;
}

/** One run of the program. */
export interface PartLife {
  readonly process: SimulatedProcess;
  /** As the program sees it: by its own clock. */
  readonly world: World;
  /** The server, as it is seen from there. */
  readonly through: (server: Transport) => Transport;
  /** 1, 2 … */
  readonly number: number;
}

/** A program on a machine of its own: it can die between any two of its steps, and start again knowing nothing. */
export class Part {
  readonly name: string;
  readonly #options: PartOptions;
  #process: SimulatedProcess | undefined;
  readonly #clock: WrongClock | undefined;
  #lives = 0;

  constructor(options: PartOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock === undefined ? undefined : new WrongClock(options.world.clock, options.clock);
  }

  /** Whether it was wrong. */
  setClockRight(): boolean {
    this.#clock?.setRight();
    return this.#clock !== undefined;
  }

  get up(): boolean {
    return this.#process?.alive ?? false;
  }

  start(): void {
    if (this.up) return;
    const { world, network, run } = this.#options;
    const number = ++this.#lives;
    const process = new SimulatedProcess(world, this.name);
    this.#process = process;
    run({
      process,
      number,
      world: this.#clock?.world(process) ?? process,
      through: (server) => process.transport(network === undefined ? server : network.transport(server)),
    });
  }

  pause(): void {
    this.#process?.pause();
  }

  resume(): void {
    this.#process?.resume();
  }

  /** Resolves as soon as it goes on. */
  async whileAwake(): Promise<void> {
    await this.#process?.whileAwake(undefined);
  }

  crash(): void {
    if (this.up) this.#process?.kill();
  }
}
