import type { Cancel, World } from '../world/world.ts';
import type { ClusterEvent, Plugin, PodInfo, ResourceName } from './framework.ts';
import { Heap } from './heap.ts';

/**
 * kube-scheduler's scheduling queue: the pods without a node.
 *
 * - `active`:        activeQ. Higher priority first, then the longest waiting
 * - `backoff`:       backoffQ. A queueing hint said Queue, but the last cycle was a moment ago. The pod waits for its backoff to end, or
 *                    until activeQ is empty
 * - `errorBackoff`:  podErrorBackoffQ. The last cycle failed with an error, or the pod's status does not say why it was rejected. The pod
 *                    waits for its backoff to end
 * - `unschedulable`: unschedulablePods. A plugin rejected the pod. It moves on when a queueing hint of such a plugin says Queue, and as a
 *                    safety net after five minutes
 * - `gated`:         the pod has scheduling gates
 * - `inFlight`:      in a scheduling or binding cycle
 *
 * Its length is bounded by the number of pods.
 */
export class SchedulingQueue {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #hintPlugins = new Map<ResourceName, Plugin[]>();
  readonly #entries = new Map<string, QueuedPod>();
  readonly #active = new Heap<QueuedPod>(comesFirst);
  readonly #backoff = new Heap<QueuedPod>((a, b) => (a.due === b.due ? comesFirst(a, b) : a.due < b.due));
  readonly #errorBackoff = new Heap<QueuedPod>((a, b) => a.due < b.due);
  /** In order of arrival. */
  readonly #unschedulable = new Set<QueuedPod>();
  #arrivals = 0;
  #cancelTimer: Cancel | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #stopped = false;
  /** Called when `pop` may return a pod. */
  onReady: () => void = () => undefined;

  constructor(world: Pick<World, 'clock' | 'timers'>, plugins: readonly Plugin[]) {
    this.#world = world;
    for (const plugin of plugins) {
      for (const resource of plugin.queueingHints?.events ?? []) {
        const list = this.#hintPlugins.get(resource);
        if (list === undefined) this.#hintPlugins.set(resource, [plugin]);
        else list.push(plugin);
      }
    }
  }

  get(uid: string): PodInfo | undefined {
    return this.#entries.get(uid)?.pod;
  }

  /** A created or updated pod. `change`: its own update, which may make it schedulable. */
  set(pod: PodInfo, change?: ClusterEvent): void {
    const entry = this.#entries.get(pod.uid);
    if (entry === undefined) {
      const added: QueuedPod = {
        pod,
        queue: 'gated',
        since: this.#now(),
        order: ++this.#arrivals,
        rejections: 0,
        errors: 0,
        due: 0,
        unschedulablePlugins: noPlugins,
        pendingPlugins: noPlugins,
        isHeld: false,
      };
      this.#entries.set(pod.uid, added);
      if (!isGated(pod)) this.#move(added, 'active');
      return;
    }
    entry.pod = pod;
    if (entry.queue === 'gated' && !isGated(pod)) this.#move(entry, 'active');
    else if (entry.queue === 'unschedulable' && change !== undefined) this.#wake(entry, change);
  }

  delete(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    this.#leave(entry);
    this.#entries.delete(uid);
  }

  /** The next pod. The caller returns it with `rejected` or `failed`, or deletes it. */
  pop(): PodInfo | undefined {
    this.#release();
    const entry = this.#active.first ?? this.#backoff.first;
    if (entry === undefined || this.#stopped) return undefined;
    this.#move(entry, 'inFlight');
    return entry.pod;
  }

  /** These plugins rejected the pod. An empty set: every event may help. */
  rejected(uid: string, { unschedulablePlugins, pendingPlugins = noPlugins }: Rejectors): void {
    const entry = this.#returned(uid);
    if (entry === undefined) return;
    entry.rejections++;
    entry.errors = 0;
    entry.unschedulablePlugins = unschedulablePlugins;
    entry.pendingPlugins = pendingPlugins;
    entry.due = entry.since + backoffMs(entry.rejections);
    this.#move(entry, 'unschedulable');
  }

  /** The cycle failed with an error: retried with exponential backoff. */
  failed(uid: string): void {
    const entry = this.#returned(uid);
    if (entry === undefined) return;
    entry.errors++;
    entry.unschedulablePlugins = noPlugins;
    entry.pendingPlugins = noPlugins;
    entry.due = entry.since + backoffMs(entry.errors);
    this.#move(entry, 'errorBackoff');
  }

  /** Why the pod was rejected could not be written to its status: the next cycle writes it. Nothing is to do if that has begun. */
  unreported(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry?.queue !== 'unschedulable') return;
    entry.due = this.#now() + backoffMs(entry.rejections);
    if (entry.isHeld === false) this.#move(entry, 'errorBackoff');
    else entry.isHeld = 'woken';
  }

  /** Evaluates the queueing hints for an event. `only`: restricts the pods. */
  changed(change: ClusterEvent, only: (pod: PodInfo) => boolean = () => true): void {
    if (this.#unschedulable.size === 0 || !this.#hintPlugins.has(change.resource)) return;
    for (const entry of this.#unschedulable) if (only(entry.pod)) this.#wake(entry, change);
  }

  /** While its victims are being evicted, the pod stays where it is. An event that helps it takes effect on `unhold`. */
  hold(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) entry.isHeld = true;
  }

  /** `retry`: the victims could not be evicted, so that no event may come. The pod is scheduled again after its backoff. */
  unhold(uid: string, { retry }: { readonly retry: boolean }): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    const wasWoken = entry.isHeld === 'woken';
    entry.isHeld = false;
    if (entry.queue !== 'unschedulable') return;
    if (retry) {
      // Kubernetes (v1.36.4) retries at once, paced by its client. Here a server that cannot be reached refuses at once, and the scheduler would be busy with it.
      entry.due = this.#now() + backoffMs(entry.rejections);
      this.#move(entry, 'errorBackoff');
    } else if (wasWoken) this.#move(entry, 'backoff');
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
  }

  /** Whether a pod will be popped without a further event. */
  get busy(): boolean {
    return this.#active.size + this.#backoff.size + this.#errorBackoff.size > 0;
  }

  #returned(uid: string): QueuedPod | undefined {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) entry.since = this.#now();
    return entry;
  }

  #wake(entry: QueuedPod, change: ClusterEvent): void {
    const plugin = this.#hintPlugins
      .get(change.resource)
      ?.find(({ name, queueingHints }) => entry.unschedulablePlugins.has(name) && queueingHints?.hint(entry.pod, change) === true);
    if (plugin === undefined && entry.unschedulablePlugins.size > 0) return;
    if (entry.isHeld !== false) entry.isHeld = 'woken';
    // A plugin that returned Pending skips the backoff, as in Kubernetes.
    else this.#move(entry, plugin !== undefined && entry.pendingPlugins.has(plugin.name) ? 'active' : 'backoff');
  }

  #move(entry: QueuedPod, queue: QueueName): void {
    this.#leave(entry);
    entry.queue = queue === 'backoff' && entry.due <= this.#now() ? 'active' : queue;
    switch (entry.queue) {
      case 'active':
        this.#active.add(entry);
        break;
      case 'backoff':
        this.#backoff.add(entry);
        break;
      case 'errorBackoff':
        this.#errorBackoff.add(entry);
        break;
      case 'unschedulable':
        this.#unschedulable.add(entry);
        break;
      case 'gated':
      case 'inFlight':
        return;
    }
    this.#plan();
    if (entry.queue === 'active' || entry.queue === 'backoff') this.onReady();
  }

  #leave(entry: QueuedPod): void {
    this.#active.delete(entry);
    this.#backoff.delete(entry);
    this.#errorBackoff.delete(entry);
    this.#unschedulable.delete(entry);
  }

  /** Moves the pods whose time has come to activeQ. */
  #release(): void {
    const now = this.#now();
    for (const heap of [this.#backoff, this.#errorBackoff]) {
      for (let entry = heap.first; entry !== undefined && entry.due <= now; entry = heap.first) this.#move(entry, 'active');
    }
    for (const entry of this.#unschedulable) {
      if (entry.since + maxUnschedulableMs > now) break;
      if (entry.isHeld === false) this.#move(entry, 'active');
      else entry.isHeld = 'woken';
    }
  }

  /** One timer, for the pod that is due first. */
  #plan(): void {
    if (this.#stopped) return;
    const [oldest] = this.#unschedulable;
    const at = Math.min(
      this.#errorBackoff.first?.due ?? Number.POSITIVE_INFINITY,
      oldest === undefined ? Number.POSITIVE_INFINITY : oldest.since + maxUnschedulableMs,
    );
    if (at >= this.#timerAt) return;
    this.#cancelTimer?.();
    this.#timerAt = at;
    this.#cancelTimer = this.#world.timers.after(Math.max(1, at - this.#now()), () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#release();
      this.#plan();
    });
  }

  #now(): number {
    return this.#world.clock.monotonic();
  }
}

export interface Rejectors {
  readonly unschedulablePlugins: ReadonlySet<string>;
  readonly pendingPlugins?: ReadonlySet<string>;
}

type QueueName = 'active' | 'backoff' | 'errorBackoff' | 'unschedulable' | 'gated' | 'inFlight';

interface QueuedPod {
  pod: PodInfo;
  queue: QueueName;
  /** When it was added, or its last cycle ended. */
  since: number;
  readonly order: number;
  rejections: number;
  /** Consecutive. */
  errors: number;
  /** When its backoff ends. */
  due: number;
  unschedulablePlugins: ReadonlySet<string>;
  pendingPlugins: ReadonlySet<string>;
  isHeld: boolean | 'woken';
}

const noPlugins: ReadonlySet<string> = new Set();

function comesFirst(a: QueuedPod, b: QueuedPod): boolean {
  if (a.pod.priority !== b.pod.priority) return a.pod.priority > b.pod.priority;
  return a.since === b.since ? a.order < b.order : a.since < b.since;
}

const isGated = ({ pod }: PodInfo): boolean => (pod.spec.schedulingGates ?? []).length > 0;

const initialBackoffMs = 1_000;
const maxBackoffMs = 10_000;
/** For plugins whose hints miss an event (podMaxInUnschedulablePodsDuration). */
const maxUnschedulableMs = 300_000;

const backoffMs = (count: number): number => Math.min(initialBackoffMs * 2 ** Math.min(count - 1, 30), maxBackoffMs);
