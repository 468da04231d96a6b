import type { Transport } from '../../client/transport.ts';
import type { World } from '../../world/world.ts';
import { type ClockSkew, SkewedClock } from '../world/skewed-clock.ts';
import type { SimulatedNetwork } from '../world/network.ts';
import { SimulatedProcess } from '../world/process.ts';

export interface SimulatedComponentOptions {
  readonly world: World;
  readonly name: string;
  /** The network between it and the server; absent: a direct connection. */
  readonly network?: SimulatedNetwork;
  readonly clock?: ClockSkew;
  /** Starts the program, with empty memory. */
  readonly run: (run: ComponentRun) => void;
}

/** One run of the program. */
export interface ComponentRun {
  readonly process: SimulatedProcess;
  /** With the component's own clock. */
  readonly world: World;
  /** Wraps the connection to the server. */
  readonly through: (server: Transport) => Transport;
  /** The number of the run: 1, 2 … */
  readonly number: number;
}

/** A component on its own machine: controllers, a scheduler or a node agent. It can crash between any two steps, and restarts with empty memory. */
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

  /** True: the clock was skewed. */
  correctClock(): boolean {
    this.#clock?.correct();
    return this.#clock !== undefined;
  }

  /** Also once corrected: clocks do not go back. */
  get hasClockAhead(): boolean {
    return this.#clock?.isAhead === true;
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

  async untilResumed(): Promise<void> {
    await this.#process?.untilResumed(undefined);
  }

  crash(): void {
    if (this.up) this.#process?.kill();
  }
}
