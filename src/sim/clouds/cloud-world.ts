/** Random worlds with a cloud and the autoscaler: what users do, what fails, and what has to hold all the time and in the end. */
import { loadCel } from '../../api/cel/environment.ts';
import { ec2NodeClassKind } from '../../api/kinds/karpenter/ec2-node-class.ts';
import { nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import type { Fault } from '../../cloud/engine/faults.ts';
import type { Instance } from '../../cloud/engine/records.ts';
import { privateDnsName } from '../../cloud/engine/regions.ts';
import type { Violation } from '../invariants/observer.ts';
import { isLaunched } from '../../cluster/cloud/node-provider.ts';
import { CloudFaults } from '../cluster/cloud-faults.ts';
import { ScenarioCluster } from '../scenario/scenario-cluster.ts';
import { ok } from '../cluster/simulated-cluster.ts';
import { simulate, SimulationError, type SimulatedWorld } from '../world/world.ts';
import { cloudLeftUndone, cloudNotEmpty } from './end-state.ts';
import { CloudInvariants } from './invariants.ts';
import { classObjects, nodeClassObject, poolObject } from './objects.ts';
import { CloudUsers } from './users.ts';
import { type CloudEvent, type CloudFault, type CloudWorldPlan, describeEvent, isCalm, isFault, region } from './plan.ts';
import { CloudTimeline } from './timeline.ts';

export interface CloudWorldOutcome {
  readonly violation?: Violation | undefined;
  readonly timeline: readonly string[];
  /** How many instances there were. */
  readonly launches: number;
}

/** Long enough for all caches to be filled, and the first node to be ready. */
const startMs = 10_000;
/** Longer than any pause of the autoscaler between two looks, and than consolidateAfter. */
const quietMs = 4 * 60_000;
/** A forced detach takes six minutes, a claim whose instance never joins fifteen; consolidation goes node by node. */
const settleMs = 90 * 60_000;
const mostSteps = 20_000_000;

/** The same plan is the same world. */
export async function runCloudWorld(plan: CloudWorldPlan): Promise<CloudWorldOutcome> {
  // Real time passes while a module is loaded: not within a world.
  await loadCel();
  try {
    return await simulate(plan.seed, (world) => new CloudWorld(world, plan).run(), { steps: mostSteps, keepsLog: false });
  } catch (error) {
    if (!(error instanceof SimulationError)) throw error;
    return { violation: { invariant: 'no component throws, and the world ends', what: error.message }, timeline: [], launches: 0 };
  }
}

class CloudWorld {
  readonly #world: SimulatedWorld;
  readonly #plan: CloudWorldPlan;
  readonly #timeline: CloudTimeline;
  #faults: CloudFaults | undefined;
  #violation: Violation | undefined;
  /** Instances launched so far, and when the last of them was launched or ended. */
  #launches = 0;
  #changedAt = 0;
  #crashAtChange: { left: number; readonly forMs: number } | undefined;
  #isHealed = false;

  constructor(world: SimulatedWorld, plan: CloudWorldPlan) {
    this.#world = world;
    this.#plan = plan;
    this.#timeline = new CloudTimeline(() => world.clock.monotonic());
  }

  async run(): Promise<CloudWorldOutcome> {
    const cluster = await ScenarioCluster.build(this.#world, { hosts: [], drivers: [], cloud: { region, systemNodes: 1 }, onBackendCall: () => undefined });
    const { cloud } = cluster;
    if (cloud === undefined) throw new Error('the cluster is in no cloud');
    this.#faults = new CloudFaults(cloud);
    this.#timeline.follow(cluster.history, cloud);
    const invariants = new CloudInvariants({
      history: cluster.history,
      cloud,
      now: () => this.#world.clock.now(),
      onViolation: (violation) => this.#violated(violation),
    });
    cloud.onChange((change, before) => {
      if (change.in === 'instances') this.#instanceChanged(cluster, change.record, before as Instance | undefined);
    });
    cluster.start();
    await this.#world.sleep(startMs);
    await this.#prepare(cluster);
    await this.#disturb(cluster, cloud);
    await this.#heal(cluster);
    await this.#settle('once faults stop, all pods run and nothing leaks', () => cloudLeftUndone({ history: cluster.history, cloud }));
    if (isCalm(this.#plan)) this.#checkUse(invariants, cloud);
    if (this.#violation === undefined) {
      this.#timeline.add('everything is deleted');
      await new CloudUsers(cluster).removeAll();
      await this.#settle('once all is deleted, nothing is left in the cloud', () => cloudNotEmpty({ history: cluster.history, cloud }));
    }
    return { violation: this.#violation, timeline: this.#timeline.lines, launches: this.#launches };
  }

  async #prepare({ client }: ScenarioCluster): Promise<void> {
    for (const object of classObjects()) ok(await client.create(storageClassKind, object));
    ok(await client.create(ec2NodeClassKind, nodeClassObject));
    ok(await client.create(nodePoolKind, poolObject(this.#plan.pool)));
  }

  async #disturb(cluster: ScenarioCluster, cloud: Cloud): Promise<void> {
    const users = new CloudUsers(cluster);
    const begin = this.#world.clock.monotonic();
    for (const event of this.#plan.events) {
      await this.#world.sleep(begin + event.at - this.#world.clock.monotonic());
      if (this.#violation !== undefined) return;
      this.#timeline.add(describeEvent(event));
      if (isFault(event)) this.#inflict(event, cluster, cloud);
      else await users.act(event);
    }
  }

  #inflict(event: CloudEvent & CloudFault, cluster: ScenarioCluster, cloud: Cloud): void {
    switch (event.do) {
      case 'fault':
        return this.#fault(event.fault, event.forMs);
      case 'lose instance':
      case 'freeze instance': {
        const running = runningInstances(cloud);
        const instance = running[event.number % Math.max(running.length, 1)];
        if (instance === undefined) return;
        if (event.do === 'lose instance') cloud.loseInstance(instance.id);
        else this.#fault({ fault: 'frozen-instance', instance: instance.id }, event.forMs);
        return;
      }
      case 'crash':
        return this.#crash(cluster, event.process, event.forMs);
      case 'crash at change':
        this.#crashAtChange = { left: event.changes, forMs: event.forMs };
    }
  }

  #fault(fault: Fault, forMs: number): void {
    this.#faults?.begin(fault);
    this.#world.timers.after(forMs, () => {
      if (this.#faults?.end(fault) === true) this.#timeline.add(`it is over: ${JSON.stringify(fault)}`);
    });
  }

  #crash(cluster: ScenarioCluster, process: Parameters<ScenarioCluster['crash']>[0], forMs: number): void {
    this.#timeline.add(`${process} crash`);
    cluster.crash(process);
    this.#world.timers.after(forMs, () => void cluster.restart(process));
  }

  #instanceChanged(cluster: ScenarioCluster, instance: Instance | undefined, before: Instance | undefined): void {
    this.#changedAt = this.#world.clock.monotonic();
    if (before === undefined && instance !== undefined) this.#launches++;
    const armed = this.#crashAtChange;
    if (armed === undefined || this.#isHealed || --armed.left > 0) return;
    this.#crashAtChange = undefined;
    this.#crash(cluster, 'controllers', armed.forMs);
  }

  async #heal(cluster: ScenarioCluster): Promise<void> {
    this.#timeline.add('no more faults');
    this.#isHealed = true;
    this.#faults?.endAll();
    for (const process of ['server', 'controllers', 'scheduler'] as const) await cluster.restart(process);
  }

  /** Until nothing is left undone, and no instance came or went for a while: what launches and removes nodes for ever is never quiet. */
  async #settle(invariant: string, undone: () => string | undefined): Promise<void> {
    const begin = this.#world.clock.monotonic();
    const launches = this.#launches;
    while (this.#violation === undefined) {
      await this.#world.sleep(10_000);
      const now = this.#world.clock.monotonic();
      const left = undone();
      if (left === undefined && now - Math.max(this.#changedAt, begin) >= quietMs) return;
      if (now - begin < settleMs) continue;
      const minutes = settleMs / 60_000;
      if (left === undefined)
        this.#violated({ invariant: 'no launch-and-remove loop', what: `${this.#launches - launches} launches in ${minutes} minutes, and no end` });
      else this.#violated({ invariant, what: `${left}, after ${minutes} minutes and ${this.#launches - launches} launches` });
    }
  }

  /** Without faults and with nothing taken away, a node without a pod was launched for nothing. */
  #checkUse(invariants: CloudInvariants, cloud: Cloud): void {
    for (const { privateAddress, id } of [...cloud.state.instances.values()].filter(isLaunched))
      if (!invariants.hasHadPods(privateDnsName(privateAddress, region)))
        this.#violated({ invariant: 'no node is launched for nothing', what: `no pod was ever on ${id}` });
  }

  #violated(violation: Violation): void {
    this.#violation ??= violation;
    this.#timeline.add(`VIOLATION: ${violation.what}`);
  }
}

const runningInstances = (cloud: Cloud): readonly Instance[] =>
  [...cloud.state.instances.values()].filter((instance) => isLaunched(instance) && (instance.state === 'running' || instance.state === 'pending'));
