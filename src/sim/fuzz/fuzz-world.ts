import { never } from '../world/process.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { isRead, methodOf, requestPath } from '../../api/request-info.ts';
import type { Client } from '../../client/client.ts';
import type { Transport, TransportRequest } from '../../client/transport.ts';
import type { Host } from '../../node/host.ts';
import type { ApiRequest, ApiResponse } from '../../apiserver/api.ts';
import { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import { SimulatedComponent, type ComponentRun } from '../cluster/simulated-component.ts';
import { type DiskChange, SimulatedDiskDriver } from '../drivers/simulated-disk-driver.ts';
import { DriverFaults, faultInjectingDriver, type FaultInjectionOptions } from './fault-injecting-driver.ts';
import { isCsiFault } from './plan/csi-faults.ts';
import { type Fault, isNetworkFault, networkFaults, type OtherFault } from './plan/faults.ts';
import { invariantsOf } from '../invariants/index.ts';
import { Observer, type Violation } from '../invariants/observer.ts';
import type { Gate, GateVerdict } from './gate.ts';
import { perfectNetwork, SimulatedNetwork } from '../world/network.ts';
import type { SimulatedWorld } from '../world/world.ts';
import { type ArmedCrash, ArmedCrashes } from './armed-crashes.ts';
import { AttachAttempts } from './attach-attempts.ts';
import { type ConductOptions, isRealWrite, observeConduct } from './conduct.ts';
import { Disturbances, allComponents } from './disturbances.ts';
import { controllersAreWell, controllersName, mostReplicas, nodeNames, componentNames, type FuzzPlan, schedulerIsAlone, schedulerName } from './plan/plan.ts';
import { FuzzCsi } from './fuzz-csi.ts';
import { FuzzMachines } from './fuzz-machines.ts';
import { FuzzServer } from './fuzz-server.ts';
import { FuzzTimeline } from './fuzz-timeline.ts';

/** Longer intervals than in production, so that a world takes fewer steps. */
const timing = { leaseMs: 40_000, renewWithinMs: 30_000, retryMs: 10_000 };

export interface FuzzWorldOptions {
  readonly onViolation: (violation: Violation) => void;
  /** Every effect waits at the gate; absent: none does. */
  readonly gate?: Gate;
}

/** The cluster of a plan, with every fault that can be injected into it. */
export class FuzzWorld {
  readonly world: SimulatedWorld;
  readonly plan: FuzzPlan;
  readonly timeline: FuzzTimeline;
  readonly observer: Observer;
  readonly disks = new SimulatedDiskDriver();
  readonly cluster: SimulatedCluster;
  readonly agents: FuzzMachines;
  /** Undefined: no CSI driver is behind a socket. */
  readonly csi: FuzzCsi | undefined;
  readonly #server: FuzzServer;
  readonly #components = new Map<string, SimulatedComponent>();
  readonly #networks = new Map<string, SimulatedNetwork>();
  readonly #armed = new ArmedCrashes();
  readonly #armedPauses: { readonly component: string; writes: number; readonly forMs: number }[] = [];
  readonly #driverFaults = new DriverFaults();
  /** Machines that are switched off. */
  readonly #off = new Set<string>();
  readonly #lost = new Set<string>();
  hasClockAhead = false;
  #healed = false;
  readonly #disturbances: Disturbances;
  #deletions = 0;
  readonly #began: number;
  readonly #gate: Gate | undefined;
  readonly conduct: ConductOptions;

  constructor(world: SimulatedWorld, plan: FuzzPlan, { onViolation, gate }: FuzzWorldOptions) {
    this.#gate = gate;
    this.conduct = { onViolation };
    this.world = world;
    this.plan = plan;
    this.#began = world.clock.monotonic();
    this.#disturbances = new Disturbances(() => world.clock.monotonic());
    this.timeline = new FuzzTimeline(() => world.clock.monotonic() - this.#began);
    this.observer = new Observer({
      invariants: invariantsOf({
        volumeLimit: plan.settings.volumeLimit,
        mostReplicas: plan.faults.length === 0 ? mostReplicas(plan) : undefined,
        controllersAreWell: controllersAreWell(plan),
        schedulerIsAlone: schedulerIsAlone(plan),
        disturbedUntil: this.#disturbances.until,
      }),
      now: () => world.clock.monotonic(),
      onChange: (change) => {
        if (change.type === 'machine' && change.event.do === 'start') this.csi?.write(change.event.disks.values());
        attempts.observe(change);
        this.timeline.change(change);
      },
      onViolation,
    });
    const attempts = new AttachAttempts(this.observer.facts, () => world.clock.monotonic());
    this.disks.refuses = (placement) => attempts.refusal(placement);
    const { store, bindsTogether } = plan.settings;
    this.cluster = SimulatedCluster.prepare(world, {
      store,
      bindsTogether,
      disks: this.disks,
      timing,
      disk: { before: ({ name }) => this.#server.beforeDiskOperation(name) },
      onRequest: (request) => this.#onRequest(request),
    });
    this.#server = new FuzzServer({ world, server: this.cluster.server, observer: this.observer, timeline: this.timeline });
    const crash = (node: string, backMs: number) => this.#crash(node, backMs);
    this.agents = new FuzzMachines({ world, observer: this.observer, timeline: this.timeline, nodes: plan.settings.agents ?? [], crash });
    this.disks.onChange = (change) => {
      this.agents.diskChanged(change);
      this.observer.diskChanged(change);
    };
    const onDisk = (change: DiskChange) => this.disks.onChange(change);
    const csi = { world, machines: this.agents.all, observer: this.observer, onDisk, onDelete: this.#onDelete, crash };
    this.csi = plan.settings.csi === undefined ? undefined : new FuzzCsi({ ...csi, drivers: plan.settings.csi });
    for (const name of componentNames(plan.settings)) this.#addComponent(name);
  }

  get client(): Client {
    return this.cluster.client;
  }

  /** Starts the server, then all components. Resolves when the nodes are ready. */
  async start(): Promise<void> {
    await this.#server.start();
    for (const component of this.#components.values()) component.start();
    await this.world.sleep(6_000);
  }

  inflict(fault: Fault): void {
    if (this.#healed) return;
    const { kind } = fault;
    if (isCsiFault(fault)) return this.csi?.inflict(fault);
    if (isNetworkFault(kind)) {
      const { component, forMs } = fault as Extract<Fault, { component: string; forMs: number }>;
      this.#disturbances.begin(component, forMs);
      this.#networks.get(component)?.setFaults(networkFaults[kind]);
      this.world.timers.after(forMs, () => this.#networks.get(component)?.setFaults(perfectNetwork));
      return;
    }
    this.#inflictOther(fault as OtherFault);
  }

  #inflictOther(fault: OtherFault): void {
    const { timers } = this.world;
    switch (fault.kind) {
      case 'crash':
        return this.#armed.arm(fault);
      case 'crash-in-driver':
        return void this.#driverFaults.crashes.push({ calls: fault.calls, moment: fault.moment, onCrash: ({ name }) => this.#crash(name, fault.backMs) });
      case 'server-crash':
        this.#disturbances.begin(allComponents, fault.backMs);
        this.#server.crash(fault.how);
        return void timers.after(fault.backMs, () => void this.#server.start());
      case 'disk-damage':
        this.#disturbances.begin(allComponents, 0);
        return this.#server.damage(fault);
      case 'disk-full':
        this.#disturbances.begin(allComponents, fault.forMs);
        this.#server.limitDisk(this.cluster.server.disk?.used ?? Number.POSITIVE_INFINITY);
        return void timers.after(fault.forMs, () => this.#server.limitDisk(Number.POSITIVE_INFINITY));
      case 'disk-slow':
        this.#disturbances.begin(allComponents, fault.forMs);
        this.#server.syncDelayMs = fault.delayMs;
        return void timers.after(fault.forMs, () => {
          this.#server.syncDelayMs = 0;
        });
      case 'backend-fails':
        return void this.#driverFaults.failures.push(...Array.from({ length: fault.calls }, () => fault.moment));
      case 'backend-slow':
        this.#driverFaults.delayMs = fault.delayMs;
        return void timers.after(fault.forMs, () => {
          this.#driverFaults.delayMs = 0;
        });
      case 'node-loss':
        this.machines.off(fault.component);
        if (fault.backMs === undefined) this.#lost.add(fault.component);
        else timers.after(fault.backMs, () => this.machines.on(fault.component));
        return undefined;
      case 'pause':
        return void this.#armedPauses.push({ component: fault.component, writes: fault.writes, forMs: fault.forMs });
      case 'compaction':
        this.#disturbances.begin(allComponents, 0);
        return void this.#server.compact();
      case 'power-cut':
        for (const node of nodeNames(this.plan.settings)) this.machines.off(node);
        return void timers.after(fault.forMs, () => nodeNames(this.plan.settings).forEach((node) => this.machines.on(node)));
      case 'crash-on-host':
      case 'lost-mount':
        return this.agents.inflict(fault);
      case 'clock':
        // The clock is skewed from the beginning.
        return undefined;
    }
  }

  /** Ends all faults; nodes that are lost for good are deleted. From now on nothing fails. */
  async heal(): Promise<void> {
    this.#healed = true;
    this.#disturbances.end();
    this.timeline.add('fault', 'no more faults');
    for (const network of this.#networks.values()) network.heal();
    this.#armed.heal();
    this.#armedPauses.length = 0;
    this.#driverFaults.heal();
    this.agents.heal();
    this.csi?.heal((node) => this.#off.has(node));
    this.#server.syncDelayMs = 0;
    this.#server.limitDisk(Number.POSITIVE_INFINITY);
    await this.#server.start();
    for (const node of this.#lost) await this.#removeNode(node);
    for (const component of this.#components.values()) {
      component.resume();
      // Timers that were set by the skewed clock would fire at the wrong time.
      if (component.correctClock()) component.crash();
      this.hasClockAhead ||= component.hasClockAhead;
      this.#start(component);
    }
  }

  /** Kills the server, and starts it again on what is on its disk. */
  async restartServer(): Promise<void> {
    this.#server.crash('killed');
    await this.#server.start();
  }

  /** Restarts every component, with empty memory. */
  restart(): void {
    this.timeline.add('fault', 'every component restarts');
    for (const component of this.#components.values()) {
      component.crash();
      this.#start(component);
    }
  }

  readonly machines = {
    off: (node: string): void => {
      this.timeline.add('fault', `machine ${node} is off`);
      this.#off.add(node);
      this.#components.get(node)?.crash();
      this.agents.get(node)?.powerOff();
      this.csi?.powerOff(node);
    },
    on: (node: string): void => {
      if (this.#lost.has(node)) return;
      this.#off.delete(node);
      this.csi?.powerOn(node);
      const component = this.#components.get(node);
      if (component !== undefined) this.#start(component);
    },
  };

  async #removeNode(name: string): Promise<void> {
    for (;;) {
      const removed = await this.client.delete(nodeKind, { name });
      if (removed.ok || removed.reason === 'notFound') return;
      await this.world.sleep(1_000);
    }
  }

  #start(component: SimulatedComponent): void {
    if (component.up || this.#off.has(component.name)) return;
    this.timeline.add('fault', `${component.name} starts`);
    component.start();
  }

  #crash(name: string, backMs: number): void {
    const component = this.#components.get(name);
    if (component === undefined || !component.up) return;
    this.timeline.add('fault', `${name} crashes`);
    this.#disturbances.begin(name, backMs);
    component.crash();
    this.#gate?.drop(name);
    this.world.timers.after(backMs, () => this.#start(component));
  }

  #addComponent(name: string): void {
    const network = new SimulatedNetwork(this.world, perfectNetwork);
    const clock = this.plan.faults.find((fault) => fault.kind === 'clock' && fault.component === name);
    // Controllers compare heartbeats with their clocks; schedulers do not.
    if (clock !== undefined && !name.startsWith('scheduler')) this.#disturbances.begin(name, Number.POSITIVE_INFINITY);
    this.#networks.set(name, network);
    this.#components.set(
      name,
      new SimulatedComponent({
        world: this.world,
        name,
        network,
        ...(clock?.kind === 'clock' ? { clock } : {}),
        run: (run) => this.#run(name, { ...run, through: (server) => run.through(this.#withCrashes(name, observeConduct(name, server, this.conduct))) }),
      }),
    );
  }

  #run(name: string, run: ComponentRun): void {
    const { settings } = this.plan;
    const identity = `${name}-${run.number}`;
    const numbers = Array.from({ length: Math.max(settings.leaders, settings.nodes) }, (_, i) => i + 1);
    if (numbers.some((number) => controllersName(number) === name)) {
      const throughTo = (driver: Parameters<typeof faultInjectingDriver>[0]) =>
        faultInjectingDriver(driver, {
          world: this.world,
          process: run.process,
          faults: this.#driverFaults,
          onDelete: this.#onDelete,
          onExpand: (handle, capacity) => this.observer.expandAsked(handle, capacity),
          ...this.#chosenCrashes(name),
        });
      this.cluster.startControllers({ ...run, identity, throughTo, onDrivers: (drivers) => this.csi?.connectControllers(run, drivers) });
    } else if (numbers.some((number) => schedulerName(number) === name)) this.cluster.startScheduler({ ...run, identity });
    else this.#runNode(name, run);
  }

  #runNode(name: string, run: ComponentRun): void {
    const [hosts, machine] = [this.#host(name), this.agents.get(name)];
    const host = hosts.get(name);
    if (machine === undefined || host === undefined) this.cluster.startNodes({ ...run, hosts });
    else {
      const readsAsNode = this.plan.settings.readsAsNode ?? false;
      this.cluster.startAgent({ ...run, host, machine, readsAsNode, ...(this.csi === undefined ? {} : { plugins: this.csi.pluginsOf(name, run) }) });
    }
  }

  readonly #onDelete = (deletes: string): (() => void) => {
    const id = ++this.#deletions;
    this.observer.driverCalled({ id, deletes, arrives: false });
    return () => this.observer.driverCalled({ id, deletes, arrives: true });
  };

  #host(name: string): ReadonlyMap<string, Host> {
    const { nodes, volumeLimit } = this.plan.settings;
    const all = this.cluster.hosts({ count: nodes, ...(volumeLimit === undefined ? {} : { volumeLimit }) });
    return new Map(Array.from(all).filter(([each]) => each === name));
  }

  /** Crashes a component at one of its writes. */
  #withCrashes(name: string, server: Transport): Transport {
    return {
      watch: (request, sink) => server.watch(request, sink),
      send: async (request) => {
        if (isRealWrite(request)) await this.#pauseAt(name);
        const crash = isRealWrite(request) ? await this.#crashAt(name, request) : undefined;
        if (crash?.moment === 'before') {
          this.#crash(name, crash.backMs);
          return await never();
        }
        const answer = await server.send(request);
        if (crash !== undefined) this.#crash(name, crash.backMs);
        return answer;
      },
    };
  }

  /** Pauses a component before a write, which it sends when it resumes. */
  async #pauseAt(name: string): Promise<void> {
    const due = this.#armedPauses.findIndex((pause) => pause.component === name && pause.writes-- <= 0);
    const component = this.#components.get(name);
    if (due < 0 || component === undefined) return;
    const [pause] = this.#armedPauses.splice(due, 1);
    this.timeline.add('fault', `${name} is paused`);
    this.#disturbances.begin(name, pause?.forMs ?? 0);
    this.observer.paused(pause?.forMs ?? 0);
    component.pause();
    this.world.timers.after(pause?.forMs ?? 0, () => {
      this.timeline.add('fault', `${name} resumes`);
      component.resume();
    });
    await component.untilResumed();
  }

  async #crashAt(name: string, { info, body }: TransportRequest): Promise<Pick<ArmedCrash, 'moment' | 'backMs'> | undefined> {
    if (this.#gate === undefined) return this.#armed.due(name);
    const verdict = await this.#pass(name, `${methodOf(info)} ${requestPath(info)}`, body?.object);
    return verdict === 'go' ? undefined : { moment: verdict === 'crash-before' ? 'before' : 'after', backMs: restartMs };
  }

  /** With a gate, the explorer chooses at which driver call a component crashes. */
  #chosenCrashes(name: string): Pick<FaultInjectionOptions, 'verdict' | 'onCrash'> {
    return this.#gate === undefined ? {} : { verdict: (what) => this.#pass(name, what), onCrash: () => this.#crash(name, restartMs) };
  }

  async #pass(who: string, what: string, body?: unknown): Promise<GateVerdict> {
    return (await this.#gate?.pass({ who, what, body, canCrash: !who.startsWith('node-') })) ?? 'go';
  }

  #onRequest(request: ApiRequest): (response: ApiResponse | undefined) => void {
    const done = this.timeline.request(request);
    const { fence, info, user } = request;
    const deletesPod = info.type === 'resource' && info.verb === 'delete' && info.resource === 'pods' && user.name.endsWith('moor-scheduler');
    const deleted = deletesPod ? this.observer.schedulerDeletes(`${info.namespace}/${info.name}`) : undefined;
    const since = this.cluster.server.store?.revision() ?? 0;
    return (response) => {
      done();
      if (response?.type === 'object' || (response?.type === 'status' && response.status.status === 'Success')) deleted?.();
      // An older revision was not written by this request.
      if (isRead(request.info) || response?.type !== 'object' || response.stored.revision <= since) return;
      const { revision } = response.stored;
      this.observer.acknowledge(revision);
      if (fence !== undefined) this.observer.fencedWrite({ ...fence, revision });
    };
  }
}

/** In explored worlds. */
const restartMs = 1_000;
