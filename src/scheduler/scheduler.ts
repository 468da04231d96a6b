import type { Client } from '../client/client.ts';
import type { Informers } from '../client/informers/informers.ts';
import type { EventSeriesRecorder } from '../client/events/event-series-recorder.ts';
import { Pump } from '../client/pump.ts';
import type { Cancel, Log, World } from '../world/world.ts';
import { type AssumedPod, BindingCycles } from './binding-cycle.ts';
import { SchedulerCache } from './scheduler-cache.ts';
import { type CycleContext, type CycleResult, SchedulingCycle } from './scheduling-cycle.ts';
import { fitMessage, pendingPlugins, textOf, unschedulablePlugins } from './diagnosis.ts';
import { executePreemption } from './preemption-executor.ts';
import { type SchedulerInformers, schedulerInformers } from './scheduler-informers.ts';
import { type ClusterEvent, isFailure, type Plugin, type PodInfo } from './framework.ts';
import type { LiveNodeInfo } from './node-info.ts';
import { NominatedPods } from './nominated-pods.ts';
import { podEventHandler } from './pod-event-handlers.ts';
import { patchUnboundPodStatus } from './pod-status.ts';
import { isTransient } from './retry.ts';
import type { PodCycle } from './pod-cycle.ts';
import { postFilter, type Victims } from './preemption.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

export interface SchedulerOptions {
  readonly world: World;
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Pick<EventSeriesRecorder, 'record'>;
  /** In filter order. */
  readonly plugins: readonly Plugin[];
  /** A write was refused: another process holds the lease. */
  readonly onDeposed?: () => void;
}

/**
 * kube-scheduler. The scheduling cycle decides on one pod at a time, from the caches and without waiting, and assumes the pod on its node at
 * once. The binding cycle (PreBind, Bind) runs concurrently with the next scheduling cycles. If it fails, the assumption is undone.
 *
 * A crash loses decisions that were not written yet. The next process decides again from what the API server has.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #log: Log;
  readonly #informers: SchedulerInformers;
  readonly #cache: SchedulerCache;
  readonly #nominatedPods = new NominatedPods();
  readonly #queue: SchedulingQueue;
  readonly #cycle: CycleContext;
  readonly #schedulingCycle: SchedulingCycle;
  readonly #bindingCycles: BindingCycles;
  readonly #unsubscribe: Cancel;
  /** Binding cycles, evictions and status writes. They do not block the next scheduling cycle. */
  readonly #background = new Set<Promise<void>>();
  readonly #pump: Pump;

  constructor(options: SchedulerOptions) {
    const { world, client, plugins, informers } = options;
    this.#options = options;
    this.#log = world.log.with({ component: 'scheduler' });
    this.#informers = schedulerInformers(informers);
    this.#cache = new SchedulerCache(this.#informers.views);
    this.#queue = new SchedulingQueue(world, plugins);
    this.#pump = new Pump(world, () => this.#scheduleOne(), { steps: cyclesPerRun, ms: runMs });
    this.#queue.onReady = () => this.#pump.schedule();
    this.#cycle = { plugins, cache: this.#cache, nominatedPods: this.#nominatedPods, random: () => world.random.float() };
    this.#schedulingCycle = new SchedulingCycle(this.#cycle);
    this.#bindingCycles = new BindingCycles({ client, world, nodeExists: (name) => this.#cache.node(name) !== undefined });
    const pods = podEventHandler({ cache: this.#cache, queue: this.#queue, nominatedPods: this.#nominatedPods, bindingCycles: this.#bindingCycles });
    const observers = plugins.filter((plugin) => plugin.observe !== undefined);
    this.#unsubscribe = this.#informers.subscribe((change) => {
      if (change.resource === 'node') this.#followNode(change);
      for (const plugin of observers) plugin.observe?.(change);
      if (change.resource === 'pod') pods(change);
      else this.#queue.changed(change);
    });
    void informers.synced().then(() => this.#pump.start());
  }

  /** No work is in flight, and none starts until an object changes or a timer fires. */
  get idle(): boolean {
    return this.#pump.state !== 'waiting' && this.#background.size === 0 && !this.#queue.busy;
  }

  /** Starts no more scheduling cycles. Resolves when the work in flight has ended. */
  async stop(): Promise<void> {
    this.#halt();
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  #halt(): void {
    this.#pump.stop();
    this.#queue.stop();
    this.#unsubscribe();
    this.#bindingCycles.stop();
  }

  #followNode({ before, after }: Extract<ClusterEvent, { resource: 'node' }>): void {
    if (after === undefined) this.#cache.removeNode(before.metadata.name);
    else this.#cache.setNode(after);
  }

  #scheduleOne(): boolean {
    const pod = this.#queue.pop();
    if (pod === undefined) return false;
    try {
      this.#schedule(pod);
    } catch (error) {
      // A plugin broke its contract. Only this pod is affected.
      this.#log.error('scheduling cycle failed', { pod: pod.key, error });
      this.#queue.failed(pod.uid);
    }
    return true;
  }

  #schedule(pod: PodInfo): void {
    if (pod.pod.metadata.deletionTimestamp !== undefined) {
      this.#queue.delete(pod.uid);
      return this.#recordFailure(pod, `skip schedule deleting pod: ${pod.key}`);
    }
    const result = this.#schedulingCycle.schedulePod(pod);
    if (this.#log.debugs)
      this.#log.debug('scheduling cycle ended', { pod: pod.key, result: result.type, node: result.type === 'found' ? result.node.name : undefined });
    switch (result.type) {
      case 'found':
        return this.#reserve(pod, result);
      case 'none':
        return this.#reject(pod, result);
      case 'noNodes':
        this.#queue.rejected(pod.uid, { unschedulablePlugins: anyNewNode });
        return this.#reportCondition(pod, { reason: 'Unschedulable', message: 'no nodes available to schedule pods', nominatedNodeName: '' });
      case 'failed':
        return this.#fail(pod, result.message);
    }
  }

  #reserve(pod: PodInfo, { node, cycle }: { readonly node: LiveNodeInfo; readonly cycle: PodCycle }): void {
    this.#cache.assumePod(pod, node.name);
    this.#nominatedPods.delete(pod.uid);
    for (const { plugin, cycle: pluginCycle } of cycle.plugins) {
      const verdict = pluginCycle.reserve?.(node);
      if (verdict === undefined) continue;
      cycle.unreserve(node);
      this.#cache.forgetPod(pod.uid);
      if (isFailure(verdict)) return this.#fail(pod, `running Reserve plugin "${plugin.name}": ${verdict.message}`);
      this.#queue.rejected(pod.uid, { unschedulablePlugins: new Set([plugin.name]) });
      return this.#reportCondition(pod, { reason: 'Unschedulable', message: `0/1 nodes are available: 1 ${textOf(verdict)}.`, nominatedNodeName: '' });
    }
    this.#runInBackground(() => this.#bind({ pod, node, cycle }));
  }

  async #bind(assumed: AssumedPod): Promise<void> {
    const { pod, node } = assumed;
    const outcome = await this.#bindingCycles.run(assumed);
    switch (outcome.type) {
      case 'bound':
        return this.#options.recorder.record(pod.pod, {
          type: 'Normal',
          reason: 'Scheduled',
          action: 'Binding',
          message: `Successfully assigned ${pod.key} to ${node.name}`,
        });
      case 'failed':
        return this.#undo(assumed, outcome.message);
      case 'deposed':
        this.#log.info('no longer leading', { pod: pod.key });
        this.#halt();
        this.#options.onDeposed?.();
    }
  }

  #undo({ pod, node, cycle }: AssumedPod, message: string): void {
    cycle.unreserve(node);
    this.#cache.forgetPod(pod.uid);
    if (this.#pump.state === 'stopped') return;
    // Only now are the assumed resources free, even if the pod was deleted earlier.
    const before = { ...pod.pod, spec: { ...pod.pod.spec, nodeName: node.name } };
    this.#queue.changed({ resource: 'pod', before, after: undefined });
    const current = this.#queue.get(pod.uid);
    if (current !== undefined && current.pod.metadata.deletionTimestamp === undefined) return this.#fail(current, message);
    this.#queue.delete(pod.uid);
    this.#recordFailure(pod, message);
  }

  #reject(pod: PodInfo, { diagnosis, cycle }: Extract<CycleResult, { type: 'none' }>): void {
    const result = postFilter(this.#cycle, diagnosis, cycle);
    this.#queue.rejected(pod.uid, { unschedulablePlugins: unschedulablePlugins(diagnosis), pendingPlugins: pendingPlugins(diagnosis) });
    if (result.type === 'preempt') return this.#preempt(pod, result.victims, fitMessage(diagnosis));
    const message = fitMessage(diagnosis, result.message);
    if (!result.keepsNomination) this.#nominatedPods.delete(pod.uid);
    this.#reportCondition(pod, { reason: 'Unschedulable', message, ...(result.keepsNomination ? {} : { nominatedNodeName: '' }) });
  }

  #preempt(pod: PodInfo, victims: Victims, message: string): void {
    const { client, world, recorder } = this.#options;
    const lowerNominated = [...this.#nominatedPods.on(victims.node.name)].filter(({ priority }) => priority < pod.priority);
    this.#nominatedPods.set(pod, victims.node.name);
    this.#queue.hold(pod.uid);
    this.#reportCondition(pod, { reason: 'Unschedulable', message, nominatedNodeName: victims.node.name });
    this.#runInBackground(async () => {
      const done = await executePreemption({ pod, victims, lowerNominated }, { client, world, recorder, bindingCycles: this.#bindingCycles });
      this.#queue.unhold(pod.uid, { retry: !done });
    });
  }

  #fail(pod: PodInfo, message: string): void {
    this.#log.warn('pod could not be scheduled', { pod: pod.key, message });
    this.#queue.failed(pod.uid);
    this.#nominatedPods.delete(pod.uid);
    this.#reportCondition(pod, { reason: 'SchedulerError', message, nominatedNodeName: '' });
  }

  #reportCondition(
    pod: PodInfo,
    { reason, message, ...nominated }: { readonly reason: string; readonly message: string; readonly nominatedNodeName?: string },
  ): void {
    const { client, world } = this.#options;
    // The pod may have changed since it was popped from the queue.
    const current = this.#queue.get(pod.uid) ?? pod;
    this.#recordFailure(current, message);
    this.#runInBackground(async () => {
      const result = await patchUnboundPodStatus(
        current.pod,
        { condition: { type: 'PodScheduled', status: 'False', reason, message }, ...nominated },
        { client, world },
      );
      if (result.ok || result.reason === 'notFound') return;
      this.#log.warn('pod status could not be written', { pod: pod.key, error: result.error.message });
      // In Kubernetes (v1.36.4, `handleSchedulingFailure`) the pod's status says nothing until the pod is retried for another reason, after five minutes at the latest.
      if (isTransient(result.reason)) this.#queue.unreported(pod.uid);
    });
  }

  #recordFailure({ pod }: PodInfo, message: string): void {
    this.#options.recorder.record(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message: shortened(message) });
  }

  #runInBackground(work: () => Promise<void>): void {
    const done = work()
      .catch((error: unknown) => this.#log.error('scheduling work failed', { error }))
      .finally(() => this.#background.delete(done));
    this.#background.add(done);
  }
}

/** Limits on one run of the pump before it yields to the event loop. */
const runMs = 5;
const cyclesPerRun = 16;

/** NodeName's queueing hint accepts every new node: the event that a pod in a cluster without nodes waits for. */
const anyNewNode: ReadonlySet<string> = new Set(['NodeName']);

/** The limit of an Event's note. */
const noteLimit = 1024;
const shortened = (message: string): string => (message.length <= noteLimit ? message : `${message.slice(0, noteLimit - 4)} ...`);
