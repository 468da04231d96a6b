import type { PersistentVolumeSource } from '../../api/generated/types.ts';
import { compareQuantities } from '../../api/quantity.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import type { Asset } from '../../api/volumes/intent.ts';
import {
  type Attacher,
  type CreateVolumeRequest,
  type DriverAnswer,
  type DriverFailure,
  deposed,
  type ControllerExpandVolumeRequest,
  failed,
  type Leader,
  type VolumeDriver,
} from '../../drivers/contract.ts';
import { allows, inZone } from '../../drivers/hollow/driver.ts';
import type { World } from '../../world/world.ts';
import type { BackendCall, BackendFault } from './language/script-step.ts';
import type { DriverPlan } from './language/scenario.ts';

type Call = Exclude<BackendCall, 'every'>;

export interface BackendOptions {
  readonly plan: DriverPlan;
  readonly world: World;
  /** The current zones of the cluster. */
  readonly zones: () => readonly string[];
  readonly zoneOf: (node: string) => string | undefined;
  /** Called for every completed call. */
  readonly onCall: (call: BackendCallRecord) => void;
}

export interface BackendCallRecord {
  readonly driver: string;
  /** In CSI's terms: 'ControllerPublishVolume pvc-1 to node-1'. */
  readonly call: string;
  readonly failure?: { readonly code: string; readonly message: string };
}

interface Disk {
  size: string;
  readonly zone: string | undefined;
}

/** A disk that is there before the cluster is, and the nodes to which it is attached. */
export interface AdoptedDisk {
  readonly handle: string;
  readonly disk: Readonly<Disk>;
  readonly nodes: readonly string[];
}

/** Makes calls fail, for a number of times or until a time. */
type Fault = Pick<BackendFault, 'call' | 'code' | 'message'> & { left: number; readonly until: number };

/** A storage backend with disks in zones, whose delays and failures the scenario sets. It outlives every process. */
export class SimulatedBackend implements VolumeDriver {
  readonly capabilities: DriverCapabilities;
  readonly disks = new Map<string, Disk>();
  readonly failedZones = new Set<string>();
  /** Nodes, by handle. */
  readonly #attached = new Map<string, Set<string>>();
  readonly #options: BackendOptions;
  #faults: Fault[] = [];
  #slow: { readonly call: BackendCall; readonly takesMs: number; readonly until: number }[] = [];
  readonly #afterNext = new Map<BackendCall, () => void>();
  #highest = 0;

  constructor(options: BackendOptions) {
    this.#options = options;
    const { name, attaches } = options.plan;
    this.capabilities = { name, provisions: true, deletes: true, mountOptions: true, block: true, expands: 'always', attaches };
  }

  fail({ call, code, message, times, forMs }: BackendFault): void {
    this.#faults.push({ call, code, message, left: times ?? Number.POSITIVE_INFINITY, until: this.#until(forMs) });
  }

  slowDown(call: BackendCall, takesMs: number, forMs: number | undefined): void {
    this.#slow.push({ call, takesMs, until: this.#until(forMs) });
  }

  recover(): void {
    this.#faults = [];
    this.#slow = [];
  }

  /** Called after the effect of the next call, before its answer. */
  afterNext(call: BackendCall, then: () => void): void {
    this.#afterNext.set(call, then);
  }

  handleFor(name: string): string {
    return name;
  }

  handleOf({ csi }: PersistentVolumeSource): string | undefined {
    return csi?.driver === this.capabilities.name ? csi.volumeHandle : undefined;
  }

  createVolume(request: CreateVolumeRequest, leader: Leader): Promise<DriverAnswer<Asset>> {
    const { name, capacity } = request;
    const zone = this.disks.get(name)?.zone ?? this.#zoneFor(request);
    const where = zone === undefined ? '' : ` in ${zone}`;
    return this.#do({ call: 'create', text: `CreateVolume ${name}${where}`, zones: [zone], leader }, () => {
      if (this.#options.plan.zonal && zone === undefined) return failed('ResourceExhausted', 'no zone of this backend is one that the class allows');
      const again = this.disks.get(name);
      if (again === undefined) this.disks.set(name, { size: capacity, zone });
      const asset: Asset = { handle: name, capacity: again?.size ?? capacity, source: { csi: { driver: this.capabilities.name, volumeHandle: name } } };
      return { ok: true, value: zone === undefined ? asset : { ...asset, nodeAffinity: inZone(zone) } };
    });
  }

  deleteVolume(handle: string, leader: Leader): Promise<DriverAnswer<undefined>> {
    return this.#do({ call: 'delete', text: `DeleteVolume ${handle}`, zones: [this.disks.get(handle)?.zone], leader }, () => {
      const nodes = [...(this.#attached.get(handle) ?? [])];
      // As CSI specifies for DeleteVolume.
      if (nodes.length > 0) return failed('FailedPrecondition', `the disk is attached to ${nodes.join(', ')}`);
      this.disks.delete(handle);
      return { ok: true, value: undefined };
    });
  }

  async listVolumes(): Promise<DriverAnswer<readonly string[]>> {
    return { ok: true, value: [...this.disks.keys()] };
  }

  controllerExpandVolume(
    { handle, capacity }: ControllerExpandVolumeRequest,
    leader: Leader,
  ): Promise<DriverAnswer<{ capacity: string; nodeExpansionRequired: boolean }>> {
    const disk = this.disks.get(handle);
    return this.#do({ call: 'resize', text: `ControllerExpandVolume ${handle} to ${capacity}`, zones: [disk?.zone], leader }, () => {
      const size = disk !== undefined && compareQuantities(disk.size, capacity) > 0 ? disk.size : capacity;
      if (disk !== undefined) disk.size = size;
      return { ok: true, value: { capacity: size, nodeExpansionRequired: false } };
    });
  }

  readonly attacher: Attacher = {
    controllerPublishVolume: ({ handle, nodeId }, leader) => {
      const [zone, ofNode] = [this.disks.get(handle)?.zone, this.#options.zoneOf(nodeId)];
      return this.#do({ call: 'attach', text: `ControllerPublishVolume ${handle} to ${nodeId}`, zones: [zone, ofNode], leader }, () =>
        zone !== undefined && ofNode !== undefined && zone !== ofNode
          ? failed('InvalidArgument', `the disk is in ${zone}, the node is in ${ofNode}`)
          : this.#attach(handle, nodeId),
      );
    },
    controllerUnpublishVolume: ({ handle, nodeId }, leader) =>
      this.#do({ call: 'detach', text: `ControllerUnpublishVolume ${handle} from ${nodeId}`, zones: [this.disks.get(handle)?.zone], leader }, () => {
        this.#attached.get(handle)?.delete(nodeId);
        return { ok: true, value: undefined };
      }),
    listPublishedVolumes: async () => ({
      ok: true,
      value: [...this.#attached].flatMap(([handle, nodes]) => Array.from(nodes, (nodeId) => ({ handle, nodeId }))),
    }),
  };

  /** Adds an existing disk. */
  adopt({ handle, disk, nodes }: AdoptedDisk): void {
    this.disks.set(handle, { ...disk });
    for (const node of nodes) this.#attach(handle, node);
  }

  /** Its disks, as `adopt` takes them. */
  inventory(): readonly AdoptedDisk[] {
    return [...this.disks].map(([handle, disk]) => ({ handle, disk: { ...disk }, nodes: [...(this.#attached.get(handle) ?? [])] }));
  }

  #attach(handle: string, node: string): DriverAnswer<Record<string, string>> {
    this.#attached.set(handle, (this.#attached.get(handle) ?? new Set()).add(node));
    return { ok: true, value: {} };
  }

  async #do<T>(request: BackendRequest, effect: () => DriverAnswer<T>): Promise<DriverAnswer<T>> {
    const { world, plan, onCall: tell } = this.#options;
    const { call, text, zones, leader } = request;
    await new Promise<void>((resolve) => void world.timers.after(this.#takes(call), resolve));
    if (leader.epoch < this.#highest) return deposed(leader, this.#highest);
    this.#highest = leader.epoch;
    const failedZone = zones.find((zone) => zone !== undefined && this.failedZones.has(zone));
    const answer = this.#fault(call) ?? (failedZone === undefined ? effect() : failed('DeadlineExceeded', `no answer from ${failedZone}`));
    tell({ driver: plan.name, call: text, ...(answer.ok ? {} : { failure: answer }) });
    if (answer.ok) this.#runAfter(call);
    return answer;
  }

  #runAfter(call: Call): void {
    for (const each of [call, 'every'] as const) {
      const then = this.#afterNext.get(each);
      this.#afterNext.delete(each);
      then?.();
    }
  }

  #fault(call: Call): DriverFailure | undefined {
    const now = this.#options.world.clock.monotonic();
    const fault = this.#faults.find((each) => concerns(each.call, call) && each.left > 0 && now < each.until);
    if (fault === undefined) return undefined;
    fault.left--;
    return failed(fault.code, fault.message);
  }

  #takes(call: Call): number {
    const now = this.#options.world.clock.monotonic();
    return this.#slow.findLast((each) => concerns(each.call, call) && now < each.until)?.takesMs ?? this.#options.plan.takes[call];
  }

  #until(forMs: number | undefined): number {
    return forMs === undefined ? Number.POSITIVE_INFINITY : this.#options.world.clock.monotonic() + forMs;
  }

  /** The zone of the selected node; else one of the allowed zones, in turn. Undefined: no zone. */
  #zoneFor({ selectedNode, allowedTopologies = [] }: CreateVolumeRequest): string | undefined {
    const { plan, zones, zoneOf } = this.#options;
    if (!plan.zonal) return undefined;
    const allowed = zones().filter((zone) => allowedTopologies.length === 0 || allowedTopologies.some((term) => allows(term, zone)));
    const chosen = selectedNode === undefined ? undefined : zoneOf(selectedNode);
    return chosen === undefined ? allowed[this.disks.size % Math.max(allowed.length, 1)] : allowed.find((zone) => zone === chosen);
  }
}

interface BackendRequest {
  readonly call: Call;
  readonly text: string;
  /** The zones that have to be up for an answer. */
  readonly zones: readonly (string | undefined)[];
  readonly leader: Leader;
}

const concerns = (fault: BackendCall, call: Call): boolean => fault === 'every' || fault === call;
