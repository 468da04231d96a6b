import type { DiskChange } from '../drivers/simulated-disk-driver.ts';
import { SimulatedMachine } from '../host/simulated-machine.ts';
import { leftMounted } from '../invariants/machines.ts';
import type { Observer } from '../invariants/observer.ts';
import type { SimulatedWorld } from '../world/world.ts';
import type { FuzzTimeline } from './fuzz-timeline.ts';
import type { Fault } from './plan/faults.ts';

export interface FuzzMachinesOptions {
  readonly world: SimulatedWorld;
  readonly observer: Observer;
  readonly timeline: FuzzTimeline;
  /** The nodes that have a real agent. */
  readonly nodes: readonly string[];
  readonly crash: (node: string, backMs: number) => void;
}

export type MachineFault = Extract<Fault, { kind: 'crash-on-host' | 'lost-mount' }>;

/** The machines of a world on which the real node agent runs. */
export class FuzzMachines {
  readonly #options: FuzzMachinesOptions;
  readonly #machines: ReadonlyMap<string, SimulatedMachine>;

  constructor(options: FuzzMachinesOptions) {
    this.#options = options;
    const { world, observer, nodes } = options;
    this.#machines = new Map(
      nodes.map((node) => {
        return [node, new SimulatedMachine({ world, random: world.random, onEvent: (event) => observer.machineChanged(node, event) })];
      }),
    );
  }

  /** By the node's name. */
  get all(): ReadonlyMap<string, SimulatedMachine> {
    return this.#machines;
  }

  /** Undefined: the node is hollow. */
  get(node: string): SimulatedMachine | undefined {
    return this.#machines.get(node);
  }

  /** Disks appear and disappear with their attachments. */
  diskChanged(change: DiskChange): void {
    const machine = 'node' in change ? this.#machines.get(change.node) : undefined;
    if (machine === undefined || !('node' in change)) return;
    const { type, node, handle } = change;
    if (type === 'attached') return machine.attach(handle);
    this.#options.observer.unplugged(node, handle, machine.hasMounted(handle));
    return machine.detach(handle);
  }

  inflict(fault: MachineFault): void {
    const machine = this.#machines.get(fault.component);
    if (machine === undefined) return;
    const { crash, timeline } = this.#options;
    if (fault.kind === 'crash-on-host') {
      machine.kills.push({ calls: fault.calls, moment: fault.moment, onKill: () => crash(fault.component, fault.backMs) });
      return;
    }
    // An agent verifies its mounts when it starts.
    crash(fault.component, fault.backMs);
    const lost = machine.loseMount(fault.number);
    if (lost !== undefined) timeline.add('fault', `${lost} is not mounted any more`);
  }

  heal(): void {
    for (const machine of this.#machines.values()) machine.kills.length = 0;
  }

  leftUndone(): string | undefined {
    for (const [node, machine] of this.#machines) {
      const left = leftMounted(this.#options.observer.facts, node, machine.mounted());
      if (left !== undefined) return left;
    }
    return undefined;
  }
}
