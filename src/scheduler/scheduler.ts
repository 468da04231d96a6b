import type { Client } from '../client/client.ts';
import type { Informers } from '../client/informers/informers.ts';
import type { EventSeriesRecorder } from '../client/events/event-series-recorder.ts';
import { Pump } from '../client/pump.ts';
import type { Cancel, Log, World } from '../world/world.ts';
import { BindingCycles, type AssumedPod } from './binding-cycle.ts';
import { SchedulerCache } from './scheduler-cache.ts';
import { type CycleResult, type CycleContext, SchedulingCycle } from './scheduling-cycle.ts';
import { fitMessage, unschedulablePlugins, textOf, pendingPlugins } from './diagnosis.ts';
import { executePreemption } from './preemption-executor.ts';
import { type SchedulerInformers, schedulerInformers } from './scheduler-informers.ts';
import { type ClusterEvent, isFailure, type Plugin, type PodInfo } from './framework.ts';
import type { LiveNodeInfo } from './node-info.ts';
import { NominatedPods } from './nominated-pods.ts';
import { podEventHandler } from './pod-event-handlers.ts';
import { patchPodStatus } from './pod-status.ts';
import type { PodCycle } from './pod-cycle.ts';
import { postFilter, type Victims } from './preemption.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

export interface SchedulerOptions {
  readonly world: World;
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Pick<EventSeriesRecorder, 'record'>;
  /** In the order in which they filter. */
  readonly plugins: readonly Plugin[];
  /** A write was refused because another process leads. */
  readonly onDeposed?: () => void;
}

/**
 * Gives pods their nodes. One pod at a time is decided on, from what is known at this moment and without waiting; its node counts as
 * taken at once. Telling the server, and whatever has to be done before, goes on beside the next decisions, and is undone if it fails.
 *
 * Crash anywhere: what was decided and not yet written is lost, and decided again by the next process from what the server has.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #log: Log;
  readonly #followed: SchedulerInformers;
  readonly #cluster: SchedulerCache;
  readonly #nominations = new NominatedPods();
  readonly #queue: SchedulingQueue;
  readonly #cycle: CycleContext;
  readonly #search: SchedulingCycle;
  readonly #binder: BindingCycles;
  readonly #unsubscribe: Cancel;
  /** Work that does not block the next decision. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #pump: Pump;

  constructor(options: SchedulerOptions) {
    const { world, client, plugins, informers } = options;
    this.#options = options;
    this.#log = world.log.with({ component: 'scheduler' });
    this.#followed = schedulerInformers(informers);
    this.#cluster = new SchedulerCache(this.#followed.views);
    this.#queue = new SchedulingQueue(world, plugins);
    this.#pump = new Pump(world, () => this.#scheduleOne(), { steps: decisionsPerRun, ms: runMs });
    this.#queue.onReady = () => this.#pump.schedule();
    this.#cycle = { plugins, cluster: this.#cluster, nominations: this.#nominations, random: () => world.random.float() };
    this.#search = new SchedulingCycle(this.#cycle);
    this.#binder = new BindingCycles({ client, world, nodeExists: (name) => this.#cluster.node(name) !== undefined });
    const pods = podEventHandler({ cache: this.#cluster, queue: this.#queue, nominations: this.#nominations, bindingCycles: this.#binder });
    const observers = plugins.filter((plugin) => plugin.observe !== undefined);
    this.#unsubscribe = this.#followed.subscribe((change) => {
      if (change.resource === 'node') this.#followNode(change);
      for (const plugin of observers) plugin.observe?.(change);
      if (change.resource === 'pod') pods(change);
      else this.#queue.changed(change);
    });
    void informers.synced().then(() => this.#pump.start());
  }

  /** Nothing is being done, and nothing will be unless something changes or time passes. */
  get idle(): boolean {
    return this.#pump.state !== 'waiting' && this.#underWay.size === 0 && !this.#queue.busy;
  }

  /** Decides no more; resolves once what is under way has ended. */
  async stop(): Promise<void> {
    this.#halt();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #halt(): void {
    this.#pump.stop();
    this.#queue.stop();
    this.#unsubscribe();
    this.#binder.stop();
  }

  #followNode({ before, after }: Extract<ClusterEvent, { resource: 'node' }>): void {
    if (after === undefined) this.#cluster.removeNode(before?.metadata.name ?? '');
    else this.#cluster.setNode(after);
  }

  #scheduleOne(): boolean {
    const pod = this.#queue.pop();
    if (pod === undefined) return false;
    try {
      this.#schedule(pod);
    } catch (error) {
      // A plugin broke its contract. That is this pod's problem, not that of the others.
      this.#log.error('a pod could not be decided on', { pod: pod.key, error });
      this.#queue.failed(pod.uid);
    }
    return true;
  }

  #schedule(pod: PodInfo): void {
    if (pod.pod.metadata.deletionTimestamp !== undefined) {
      this.#queue.delete(pod.uid);
      return this.#tell(pod, `skip schedule deleting pod: ${pod.key}`);
    }
    const result = this.#search.schedulePod(pod);
    if (this.#log.debugs) this.#log.debug('decided', { pod: pod.key, result: result.type, node: result.type === 'found' ? result.node.name : undefined });
    switch (result.type) {
      case 'found':
        return this.#place(pod, result);
      case 'none':
        return this.#reject(pod, result);
      case 'noNodes':
        this.#queue.rejected(pod.uid, { rejectors: anyNewNode });
        return this.#report(pod, { reason: 'Unschedulable', message: 'no nodes available to schedule pods', nominatedNodeName: '' });
      case 'failed':
        return this.#fail(pod, result.message);
    }
  }

  /** Reserve. */
  #place(pod: PodInfo, { node, run }: { readonly node: LiveNodeInfo; readonly run: PodCycle }): void {
    this.#cluster.assumePod(pod, node.name);
    this.#nominations.delete(pod.uid);
    for (const { plugin, cycle: stages } of run.plugins) {
      const verdict = stages.reserve?.(node);
      if (verdict === undefined) continue;
      run.unreserve(node);
      this.#cluster.forgetPod(pod.uid);
      if (isFailure(verdict)) return this.#fail(pod, `running Reserve plugin "${plugin.name}": ${verdict.message}`);
      this.#queue.rejected(pod.uid, { rejectors: new Set([plugin.name]) });
      return this.#report(pod, { reason: 'Unschedulable', message: `0/1 nodes are available: 1 ${textOf(verdict)}.`, nominatedNodeName: '' });
    }
    this.#doBeside(() => this.#bind({ pod, node, cycle: run }));
  }

  async #bind(placement: AssumedPod): Promise<void> {
    const { pod, node } = placement;
    const end = await this.#binder.run(placement);
    switch (end.type) {
      case 'bound':
        return this.#options.recorder.record(pod.pod, {
          type: 'Normal',
          reason: 'Scheduled',
          action: 'Binding',
          message: `Successfully assigned ${pod.key} to ${node.name}`,
        });
      case 'failed':
        return this.#undo(placement, end.message);
      case 'deposed':
        this.#log.info('no longer leading', { pod: pod.key });
        this.#halt();
        this.#options.onDeposed?.();
    }
  }

  #undo({ pod, node, cycle: run }: AssumedPod, message: string): void {
    run.unreserve(node);
    this.#cluster.forgetPod(pod.uid);
    if (this.#pump.state === 'stopped') return;
    // Whatever it would have taken is free again: only now, even if the pod is long gone from its node.
    const before = { ...pod.pod, spec: { ...pod.pod.spec, nodeName: node.name } };
    this.#queue.changed({ resource: 'pod', before, after: undefined });
    const current = this.#queue.get(pod.uid);
    if (current !== undefined && current.pod.metadata.deletionTimestamp === undefined) return this.#fail(current, message);
    this.#queue.delete(pod.uid);
    this.#tell(pod, message);
  }

  #reject(pod: PodInfo, { diagnosis, run }: Extract<CycleResult, { type: 'none' }>): void {
    const result = postFilter(this.#cycle, diagnosis, run);
    this.#queue.rejected(pod.uid, { rejectors: unschedulablePlugins(diagnosis), pending: pendingPlugins(diagnosis) });
    if (result.type === 'preempt') return this.#preempt(pod, result.victims, fitMessage(diagnosis));
    const message = fitMessage(diagnosis, result.message);
    if (!result.keepsPromise) this.#nominations.delete(pod.uid);
    this.#report(pod, { reason: 'Unschedulable', message, ...(result.keepsPromise ? {} : { nominatedNodeName: '' }) });
  }

  #preempt(pod: PodInfo, victims: Victims, message: string): void {
    const { client, world, recorder } = this.#options;
    const outbid = [...this.#nominations.on(victims.node.name)].filter(({ priority }) => priority < pod.priority);
    this.#nominations.set(pod, victims.node.name);
    this.#queue.hold(pod.uid);
    this.#report(pod, { reason: 'Unschedulable', message, nominatedNodeName: victims.node.name });
    this.#doBeside(async () => {
      const done = await executePreemption({ pod, victims, lowerNominated: outbid }, { client, world, recorder, bindingCycles: this.#binder });
      this.#queue.unhold(pod.uid, { activate: !done });
    });
  }

  #fail(pod: PodInfo, message: string): void {
    this.#log.warn('a pod could not be scheduled', { pod: pod.key, message });
    this.#queue.failed(pod.uid);
    this.#nominations.delete(pod.uid);
    this.#report(pod, { reason: 'SchedulerError', message, nominatedNodeName: '' });
  }

  #report(pod: PodInfo, { reason, message, ...nominated }: { readonly reason: string; readonly message: string; readonly nominatedNodeName?: string }): void {
    const { client, world } = this.#options;
    // The pod as it is now: it may have changed since it was taken from the queue.
    const current = this.#queue.get(pod.uid) ?? pod;
    this.#tell(current, message);
    this.#doBeside(async () => {
      const result = await patchPodStatus(
        current.pod,
        { condition: { type: 'PodScheduled', status: 'False', reason, message }, ...nominated },
        { client, world },
      );
      if (!result.ok && result.reason !== 'notFound') this.#log.warn('a status could not be written', { pod: pod.key, error: result.error.message });
    });
  }

  #tell({ pod }: PodInfo, message: string): void {
    this.#options.recorder.record(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message: shortened(message) });
  }

  #doBeside(work: () => Promise<void>): void {
    const done = work()
      .catch((error: unknown) => this.#log.error('scheduling work failed', { error }))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }
}

/** How long, and for how many pods, decisions are made before the event loop goes on with requests. */
const runMs = 5;
const decisionsPerRun = 16;

/** The plugin that every new node wakes: what a pod waits for where there are none. */
const anyNewNode: ReadonlySet<string> = new Set(['NodeName']);

/** Events take no more. */
const noteLimit = 1024;
const shortened = (message: string): string => (message.length <= noteLimit ? message : `${message.slice(0, noteLimit - 4)} ...`);
