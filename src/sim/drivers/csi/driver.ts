import {
  Controller,
  GroupController,
  Identity,
  Node,
  PluginCapability_Service_Type as Service,
  PluginCapability_VolumeExpansion_Type as Expansion,
} from '../../../grpc/generated/csi.ts';
import { Registration } from '../../../grpc/generated/pluginregistration.ts';
import type { NodeHost } from '../../../drivers/mount/node-host.ts';
import type { CallHandler } from '../../../grpc/channel.ts';
import { handlersOf } from '../../../grpc/service.ts';
import { SimulatedGrpcServer } from '../../world/grpc-channel.ts';
import type { SimulatedWorld } from '../../world/world.ts';
import type { DiskChange } from '../simulated-disk-driver.ts';
import { CsiBackend, type CsiDriverFeatures, type CsiEvent } from './backend.ts';
import { CallFaults } from './call-faults.ts';
import { SimulatedController } from './controller.ts';
import { SimulatedNode } from './node.ts';
import { SerialCalls, withWireFaults } from './serial-calls.ts';

export interface SimulatedCsiDriverOptions {
  readonly world: SimulatedWorld;
  readonly features: CsiDriverFeatures;
  /** By the node's name. */
  readonly machines: ReadonlyMap<string, { readonly host: NodeHost; readonly connect: (id: string) => void }>;
  readonly onEvent: (driver: string, id: string, event: CsiEvent) => void;
  readonly onDisk: (change: DiskChange) => void;
  readonly onDelete: (id: string) => () => void;
}

/** A process of a driver: it crashes and comes back, and what it keeps is the backend's. */
export class DriverProcess {
  readonly server: SimulatedGrpcServer;
  readonly faults: CallFaults;
  readonly #calls: SerialCalls;

  constructor(faults: CallFaults, calls: SerialCalls, handlers: readonly ReadonlyMap<string, CallHandler>[]) {
    this.faults = faults;
    this.#calls = calls;
    this.server = new SimulatedGrpcServer(...handlers.map((each) => withWireFaults(each, faults, changes)));
  }

  crash(): void {
    this.#calls.restart();
    this.server.crash();
  }

  start(): void {
    this.server.start();
  }
}

/** Questions change nothing, and no fault is due with them. */
const changes = (path: string): boolean => !/\/(Probe|\w*Get\w*|List\w*|NotifyRegistrationStatus)$/.test(path);

/** A CSI driver in the simulated network: a controller, and on each machine a node service that registers. It speaks the bytes that real drivers do. */
export class SimulatedCsiDriver {
  readonly backend: CsiBackend;
  readonly controller: DriverProcess;
  /** By the node's name. */
  readonly nodes: ReadonlyMap<string, DriverProcess>;
  readonly registration: SimulatedGrpcServer;

  constructor(options: SimulatedCsiDriverOptions) {
    const { world, features, machines, onEvent, onDisk, onDelete } = options;
    this.backend = new CsiBackend(features);
    const { backend } = this;
    const report = (id: string, event: CsiEvent): void => onEvent(features.name, id, event);
    const serial = (): { readonly faults: CallFaults; readonly calls: SerialCalls } => {
      const faults = new CallFaults(world);
      return { faults, calls: new SerialCalls(faults, report) };
    };
    const { faults, calls } = serial();
    const controller = new SimulatedController({ backend, calls, report, onDisk, onDelete });
    const identity = handlersOf(Identity, this.#identity());
    this.controller = new DriverProcess(faults, calls, [
      identity,
      handlersOf(Controller, controller.service()),
      handlersOf(GroupController, controller.groupService()),
    ]);
    this.nodes = new Map(
      Array.from(machines, ([node, machine]) => {
        const own = serial();
        const service = new SimulatedNode({ node, backend, calls: own.calls, report, ...machine });
        return [node, new DriverProcess(own.faults, own.calls, [identity, handlersOf(Node, service.service())])];
      }),
    );
    this.registration = new SimulatedGrpcServer(
      handlersOf(Registration, {
        getInfo: async () => ({ type: 'CSIPlugin', name: features.name, endpoint: endpointOf(features.name), supportedVersions: ['1.0.0'] }),
        notifyRegistrationStatus: async () => ({}),
      }),
    );
  }

  #identity() {
    const { name, zones, expansion } = this.backend.features;
    const services = [Service.CONTROLLER_SERVICE, Service.GROUP_CONTROLLER_SERVICE, ...(zones ? [Service.VOLUME_ACCESSIBILITY_CONSTRAINTS] : [])];
    const expands = expansion === 'offline' ? Expansion.OFFLINE : Expansion.ONLINE;
    return {
      getPluginInfo: async () => ({ name, vendorVersion: '1' }),
      probe: async () => ({ ready: true }),
      getPluginCapabilities: async () => ({
        capabilities: [
          ...services.map((type) => ({ type: { case: 'service' as const, value: { type } } })),
          { type: { case: 'volumeExpansion' as const, value: { type: expands } } },
        ],
      }),
    };
  }
}

/** The socket of a driver on its machine. */
export const endpointOf = (driver: string): string => `/csi/${driver}.sock`;
