import { failed } from '../../drivers/contract.ts';
import { CsiEndpoints } from '../../drivers/csi/controller-endpoints.ts';
import type { DriverSet } from '../../drivers/driver-set.ts';
import type { Channel } from '../../grpc/channel.ts';
import type { NodeAgentOptions } from '../../node/agent.ts';
import type { World } from '../../world/world.ts';
import type { CsiDriverFeatures } from '../drivers/csi/backend.ts';
import { type DriverProcess, endpointOf, SimulatedCsiDriver } from '../drivers/csi/driver.ts';
import { RegistrySockets } from '../drivers/csi/registry-sockets.ts';
import { callerHeader } from '../drivers/csi/serial-calls.ts';
import type { DiskChange } from '../drivers/simulated-disk-driver.ts';
import { nodeRoot, type SimulatedMachine } from '../host/simulated-machine.ts';
import { csiLeftUndone } from '../invariants/csi-end-state.ts';
import type { Facts } from '../invariants/facts.ts';
import type { Observer } from '../invariants/observer.ts';
import { SimulatedChannel, type SimulatedGrpcServer } from '../world/grpc-channel.ts';
import { perfectNetwork, SimulatedNetwork } from '../world/network.ts';
import { ProcessChannel } from '../world/process-channel.ts';
import type { SimulatedProcess } from '../world/process.ts';
import type { SimulatedWorld } from '../world/world.ts';
import type { CsiFault } from './plan/csi-faults.ts';

export interface FuzzCsiOptions {
  readonly world: SimulatedWorld;
  readonly drivers: readonly CsiDriverFeatures[];
  /** All nodes. */
  readonly machines: ReadonlyMap<string, SimulatedMachine>;
  readonly observer: Observer;
  readonly onDisk: (change: DiskChange) => void;
  readonly onDelete: (id: string) => () => void;
  /** Kills a component. */
  readonly crash: (component: string, backMs: number) => void;
}

/** The run of a component that calls drivers. */
export interface CsiCaller {
  readonly process: SimulatedProcess;
  readonly world: World;
  /** Of the run. */
  readonly number: number;
}

/** The CSI drivers of a world that are behind sockets. */
export class FuzzCsi {
  readonly #options: FuzzCsiOptions;
  readonly #network: SimulatedNetwork;
  readonly #drivers = new Map<string, SimulatedCsiDriver>();
  /** By the node's name. */
  readonly #registries = new Map<string, RegistrySockets>();
  readonly #kills: { calls: number; readonly moment: 'before' | 'after'; readonly backMs: number }[] = [];
  /** Processes that are down, with their nodes: '' is the controller. */
  readonly #off = new Set<string>();

  constructor(options: FuzzCsiOptions) {
    this.#options = options;
    const { world, machines, onDisk, onDelete } = options;
    this.#network = new SimulatedNetwork(world, perfectNetwork);
    const hosts = new Map(
      Array.from(machines, ([node, machine]) => [node, { host: machine.driverHost(), connect: (id: string) => machine.attach(id) }] as const),
    );
    for (const features of options.drivers) {
      const driver: SimulatedCsiDriver = new SimulatedCsiDriver({
        world,
        features,
        machines: hosts,
        onDisk,
        onDelete,
        onEvent: (_, id, event) => options.observer.csiChanged(driver.backend, id, event),
      });
      driver.controller.faults.onCrash = (backMs) => this.#restart(driver.controller, backMs);
      for (const process of driver.nodes.values()) process.faults.onCrash = (backMs) => this.#restart(process, backMs);
      this.#drivers.set(features.name, driver);
      options.observer.facts.csi.set(features.name, driver.backend);
    }
    for (const node of machines.keys()) {
      const registry = new RegistrySockets();
      for (const name of this.#drivers.keys()) registry.add(socketOf(name));
      this.#registries.set(node, registry);
    }
  }

  /** Makes a process with the controllers act for every driver. */
  connectControllers(caller: CsiCaller, drivers: DriverSet): void {
    const endpoints = new CsiEndpoints({
      world: caller.world,
      drivers,
      readSecret: async () => failed('NotFound', 'there are no secrets'),
      dial: (address) => this.#channel(caller, this.#driver(address.slice(controllerScheme.length)).controller.server),
    });
    for (const name of this.#drivers.keys()) endpoints.open({ address: `${controllerScheme}${name}`, driver: name });
  }

  /** Registration on a node. */
  pluginsOf(node: string, caller: CsiCaller): NonNullable<NodeAgentOptions['plugins']> {
    return {
      sockets: this.#registry(node).seenBy(caller.world.timers),
      connect: (address) => {
        const path = address.slice('unix://'.length);
        for (const [name, driver] of this.#drivers) {
          if (path === socketOf(name)) return this.#channel(caller, driver.registration);
          if (path === endpointOf(name)) return this.#channel(caller, processOf(driver, node).server);
        }
        throw new Error(`there is no socket ${path}`);
      },
    };
  }

  inflict(fault: CsiFault): void {
    const { timers } = this.#options.world;
    switch (fault.kind) {
      case 'csi-call': {
        const driver = this.#driver(fault.driver);
        return (fault.node === undefined ? driver.controller : processOf(driver, fault.node)).faults.arm(fault.fault, fault.calls);
      }
      case 'csi-gone':
        this.#leave(fault.driver, fault.node);
        return void timers.after(fault.forMs, () => this.#comeBack(fault.driver, fault.node));
      case 'csi-down':
        return this.#restart(this.#driver(fault.driver).controller, fault.forMs);
      case 'csi-kill-caller':
        return void this.#kills.push({ ...fault });
    }
  }

  /** No more faults. What hangs is killed, and everything is up. */
  heal(isOff: (node: string) => boolean): void {
    this.#kills.length = 0;
    for (const driver of this.#drivers.values()) {
      for (const process of [driver.controller, ...driver.nodes.values()]) {
        process.faults.heal();
        process.crash();
      }
      driver.controller.start();
    }
    for (const node of this.#registries.keys()) if (!isOff(node)) this.powerOn(node);
  }

  powerOff(node: string): void {
    this.#off.add(node);
    this.#registry(node).clear();
    for (const driver of this.#drivers.values()) {
      processOf(driver, node).crash();
      driver.backend.forgetNode(node);
    }
  }

  powerOn(node: string): void {
    this.#off.delete(node);
    for (const name of this.#drivers.keys()) this.#comeBack(name, node);
  }

  /** A container sees these disks from now on, and writes to them. */
  write(handles: Iterable<string | undefined>): void {
    for (const handle of handles) for (const { backend } of this.#drivers.values()) if (handle !== undefined) backend.write(handle);
  }

  /** Every pod that runs writes. */
  writeAll(): void {
    for (const { backend } of this.#drivers.values()) this.write(new Set(backend.publishes.values()));
  }

  leftUndone(facts: Facts): string | undefined {
    for (const { backend } of this.#drivers.values()) {
      const left = csiLeftUndone(backend, facts);
      if (left !== undefined) return left;
    }
    return undefined;
  }

  #channel({ process, number }: CsiCaller, server: SimulatedGrpcServer): Channel {
    const step = (moment: 'before' | 'after', path: string): void => {
      if (/\/(Probe|\w*Get\w*|List\w*)$/.test(path) || !process.alive) return;
      const due = this.#kills.findIndex((kill) => kill.moment === moment && kill.calls-- <= 0);
      const [kill] = due < 0 ? [] : this.#kills.splice(due, 1);
      if (kill !== undefined) this.#options.crash(process.name, kill.backMs);
    };
    return new ProcessChannel(new SimulatedChannel(server, this.#network), { process, metadata: { [callerHeader]: `${process.name}-${number}` }, step });
  }

  #restart(process: DriverProcess, backMs: number): void {
    process.crash();
    this.#options.world.timers.after(backMs, () => {
      const node = Array.from(this.#drivers.values()).flatMap(({ nodes }) => Array.from(nodes).filter(([, each]) => each === process))[0]?.[0];
      if (node === undefined || !this.#off.has(node)) process.start();
    });
  }

  #leave(name: string, node: string): void {
    this.#registry(node).remove(socketOf(name));
    processOf(this.#driver(name), node).crash();
  }

  #comeBack(name: string, node: string): void {
    if (this.#off.has(node)) return;
    processOf(this.#driver(name), node).start();
    this.#registry(node).add(socketOf(name));
  }

  #driver(name: string): SimulatedCsiDriver {
    return present(this.#drivers.get(name), name);
  }

  #registry(node: string): RegistrySockets {
    return present(this.#registries.get(node), node);
  }
}

const controllerScheme = 'unix:///controllers/';
const socketOf = (driver: string): string => `${nodeRoot}/plugins_registry/${driver}-reg.sock`;

const processOf = ({ nodes }: SimulatedCsiDriver, node: string): DriverProcess => present(nodes.get(node), node);

function present<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`there is no ${name}`);
  return value;
}
