import type { Transport } from '../../client/transport.ts';
import type { World } from '../../world/world.ts';
import { type ClockSkew, SkewedClock } from '../world/skewed-clock.ts';
import type { SimulatedNetwork } from '../world/network.ts';
import { SimulatedProcess } from '../world/process.ts';

export interface SimulatedComponentOptions {
  readonly world: World;
  readonly name: string;
  /** What lies between it and the server; absent: nothing. */
  readonly network?: SimulatedNetwork;
  readonly clock?: ClockSkew;
  /** What the program does when it starts, with empty memory. */
  readonly run: (run: ComponentRun) => void;
}

/** One run of the program. */
export interface ComponentRun {
  readonly process: SimulatedProcess;
  /** As the program sees it: by its own clock. */
  readonly world: World;
  /** The server, as it is seen from there. */
  readonly through: (server: Transport) => Transport;
  /** 1, 2 … */
  readonly number: number;
}

/** A program on a machine of its own: it can die between any two of its steps, and start again knowing nothing. */
export class SimulatedComponent {
  readonly name: string;
  readonly #options: SimulatedComponentOptions;
  #process: SimulatedProcess | undefined;
  readonly #clock: SkewedClock | undefined;
  #runs = 0;

  constructor(options: SimulatedComponentOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock === undefined ? undefined : new SkewedClock(options.world.clock, options.clock);
  }

  /** Whether it was wrong. */
  correctClock(): boolean {
    this.#clock?.correct();
    return this.#clock !== undefined;
  }

  get up(): boolean {
    return this.#process?.alive ?? false;
  }

  start(): void {
    if (this.up) return;
    const { world, network, run } = this.#options;
    const number = ++this.#runs;
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
  async untilResumed(): Promise<void> {
    await this.#process?.untilResumed(undefined);
  }

  crash(): void {
    if (this.up) this.#process?.kill();
  }
}
