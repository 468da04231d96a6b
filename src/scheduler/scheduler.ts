import type { Client } from '../client/client.ts';
import type { Informers } from '../client/informers/informers.ts';
import type { EventSeriesRecorder } from '../client/events/event-series-recorder.ts';
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
  readonly #followed: SchedulerInformers;
  readonly #cluster: SchedulerCache;
  readonly #nominations = new NominatedPods();
  readonly #queue: SchedulingQueue;
  readonly #cycle: CycleContext;
  readonly #search: SchedulingCycle;
  readonly #binder: BindingCycles;
  readonly #unsubscribe: Cancel;
  /** Binding cycles, evictions and status writes. They do not block the next scheduling cycle. */
  readonly #underWay = new Set<Promise<void>>();
  #state: 'waiting' | 'running' | 'stopped' = 'waiting';
  #pumpPlanned = false;

  constructor(options: SchedulerOptions) {
    const { world, client, plugins, informers } = options;
    this.#options = options;
    this.#log = world.log.with({ component: 'scheduler' });
    this.#followed = schedulerInformers(informers);
    this.#cluster = new SchedulerCache(this.#followed.views);
    this.#queue = new SchedulingQueue(world, plugins);
    this.#queue.onReady = () => this.#planPump();
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
    void informers.synced().then(() => this.#begin());
  }

  /** No work is in flight, and none starts until an object changes or a timer fires. */
  get idle(): boolean {
    return this.#state !== 'waiting' && this.#underWay.size === 0 && !this.#queue.busy;
  }

  /** Starts no more scheduling cycles. Resolves when the work in flight has ended. */
  async stop(): Promise<void> {
    this.#halt();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #halt(): void {
    this.#state = 'stopped';
    this.#queue.stop();
    this.#unsubscribe();
    this.#binder.stop();
  }

  #begin(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'running';
    this.#planPump();
  }

  #followNode({ before, after }: Extract<ClusterEvent, { resource: 'node' }>): void {
    if (after === undefined) this.#cluster.removeNode(before?.metadata.name ?? '');
    else this.#cluster.setNode(after);
  }

  #planPump(): void {
    if (this.#pumpPlanned || this.#state !== 'running') return;
    this.#pumpPlanned = true;
    this.#options.world.timers.soon(() => {
      this.#pumpPlanned = false;
      this.#pump();
    });
  }

  /** A few scheduling cycles, then the event loop runs the rest of the process. */
  #pump(): void {
    const { clock } = this.#options.world;
    const until = clock.monotonic() + turnMs;
    for (let decisions = 0; decisions < turnDecisions && clock.monotonic() <= until && this.#state === 'running'; decisions++) {
      const pod = this.#queue.pop();
      if (pod === undefined) return;
      try {
        this.#schedule(pod);
      } catch (error) {
        // A plugin broke its contract. Only this pod is affected.
        this.#log.error('scheduling cycle failed', { pod: pod.key, error });
        this.#queue.failed(pod.uid);
      }
    }
    this.#planPump();
  }

  #schedule(pod: PodInfo): void {
    if (pod.pod.metadata.deletionTimestamp !== undefined) {
      this.#queue.delete(pod.uid);
      return this.#tell(pod, `skip schedule deleting pod: ${pod.key}`);
    }
    const result = this.#search.schedulePod(pod);
    if (this.#log.debugs) this.#log.debug('scheduling cycle ended', { pod: pod.key, result: result.type, node: result.type === 'found' ? result.node.name : undefined });
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
    if (this.#state === 'stopped') return;
    // Only now are the assumed resources free, even if the pod was deleted earlier.
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
    this.#log.warn('pod could not be scheduled', { pod: pod.key, message });
    this.#queue.failed(pod.uid);
    this.#nominations.delete(pod.uid);
    this.#report(pod, { reason: 'SchedulerError', message, nominatedNodeName: '' });
  }

  #report(pod: PodInfo, { reason, message, ...nominated }: { readonly reason: string; readonly message: string; readonly nominatedNodeName?: string }): void {
    const { client, world } = this.#options;
    // The pod may have changed since it was popped from the queue.
    const current = this.#queue.get(pod.uid) ?? pod;
    this.#tell(current, message);
    this.#doBeside(async () => {
      const result = await patchPodStatus(
        current.pod,
        { condition: { type: 'PodScheduled', status: 'False', reason, message }, ...nominated },
        { client, world },
      );
      if (!result.ok && result.reason !== 'notFound') this.#log.warn('pod status could not be written', { pod: pod.key, error: result.error.message });
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

/** Limits on one run of the pump before it yields to the event loop. */
const turnMs = 5;
const turnDecisions = 16;

/** NodeName's queueing hint accepts every new node: the event that a pod in a cluster without nodes waits for. */
const anyNewNode: ReadonlySet<string> = new Set(['NodeName']);

/** The limit of an Event's note. */
const noteLimit = 1024;
const shortened = (message: string): string => (message.length <= noteLimit ? message : `${message.slice(0, noteLimit - 4)} ...`);
