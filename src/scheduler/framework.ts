/**
 * The scheduling framework: the contract between the scheduler and its plugins, with kube-scheduler's extension points.
 *
 *     PreFilter   plugin.preFilter(pod, snapshot) → the plugin's `CyclePlugin` for this pod, a rejection, or 'skip'
 *     Filter      cycle.filter(node)              → a rejection, or undefined: the node is feasible
 *     PostFilter  preemption.ts: which victims would make room
 *     Score       cycle.score(nodes)              → for each feasible node, 0 (worst) to 100
 *     Reserve     cycle.reserve(node)             → the plugin assumes in memory what the pod is about to take
 *     PreBind     cycle.preBind(node, context)    → the first extension point that may wait and write
 *     Bind        POST pods/binding (binding-cycle.ts)
 *
 * The scheduling cycle, up to and including Reserve, is synchronous: no object changes between two calls, so the live caches
 * are the snapshot. Filters are pure and run for thousands of nodes: they look up what was computed before and allocate
 * nothing. A plugin derives what it needs often in `observe` (once for each event) or in `preFilter` (once for each pod),
 * never in `filter`.
 *
 * When an extension point after `reserve` fails, or the pod is deleted, `unreserve` is called for every plugin, in reverse order.
 */
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Service,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from '../api/generated/types.ts';
import type { LabelSelector } from '../api/selectors/label-selector.ts';
import type { Stored } from '../api/stored.ts';
import type { Client } from '../client/client.ts';
import type { World } from '../world/world.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';
import type { SelectedPods } from './selected-pods.ts';

export type { NodeInfo } from './node-info.ts';
export type { PodInfo } from './pod-info.ts';

/** The kinds that the scheduler watches. */
export interface Resources {
  readonly node: Stored<Node>;
  /** `PodInfo` has its required fields. */
  readonly pod: Pod;
  readonly namespace: Stored<Namespace>;
  readonly claim: Stored<PersistentVolumeClaim>;
  readonly volume: Stored<PersistentVolume>;
  readonly storageClass: Stored<StorageClass>;
  readonly csiNode: Stored<CSINode>;
  readonly csiDriver: Stored<CSIDriver>;
  readonly storageCapacity: Stored<CSIStorageCapacity>;
  readonly attachment: Stored<VolumeAttachment>;
  readonly disruptionBudget: Stored<PodDisruptionBudget>;
  readonly service: Stored<Service>;
  readonly replicaSet: Stored<ReplicaSet>;
  readonly statefulSet: Stored<StatefulSet>;
}

export type ResourceName = keyof Resources;

/** Only `before`: deleted. Only `after`: created. Both: updated, or replaced by another object of the same name. */
export type ClusterEvent = { readonly [R in ResourceName]: { readonly resource: R } & ObjectChange<Resources[R]> }[ResourceName];

export type ObjectChange<T> =
  | { readonly before: undefined; readonly after: T }
  | { readonly before: T; readonly after: undefined }
  | { readonly before: T; readonly after: T };

/** The objects of one kind, including this process's own writes. An informer's cache is one. */
export interface ObjectView<T> {
  /** 'namespace/name', or 'name' of a cluster-scoped object. */
  getKey(key: string): T | undefined;
  list(): Iterable<T>;
  readonly size: number;
}

/** The cluster at this moment. Nodes and pods are indexed; the other kinds are plain views. A plugin that needs another index maintains it in `observe`. */
export interface ClusterSnapshot {
  /** Of all nodes, those of different zones taking turns. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Nodes with pods that have any affinity or anti-affinity to other pods; with required anti-affinity. */
  readonly nodesWithAffinity: ReadonlySet<NodeInfo>;
  readonly nodesWithAntiAffinity: ReadonlySet<NodeInfo>;
  /** The pods with a node, assumed pods included. */
  podsIn(namespace: string): Iterable<PodInfo>;
  /** How many of them a selector selects. Pods that are being deleted, and pods on nodes that do not exist, do not count. */
  selectedPods(namespace: string, selector: LabelSelector): SelectedPods;
  readonly namespacesWithPods: Iterable<string>;
  /** How many pods with a node (assumed pods included) use the claim 'namespace/name'. */
  claimUsers(claimKey: string): number;
  readonly views: { readonly [R in Exclude<ResourceName, 'node' | 'pod'>]: ObjectView<Resources[R]> };
}

/** One instance serves one scheduler (or one explanation) for its whole life. */
export interface Plugin {
  /** Kubernetes' name: 'VolumeBinding'. */
  readonly name: string;
  /** The weight of its scores; 1 by default. */
  readonly weight?: number;
  /** PreFilter. 'skip': the plugin does not concern this pod. */
  preFilter(pod: PodInfo, snapshot: ClusterSnapshot): 'skip' | Rejection | PluginFailure | CyclePlugin;
  /** The events that may make a pod schedulable that this plugin rejected. Absent: no event does. */
  readonly queueingHints?: QueueingHints;
  /** Called once for every event, before the queue evaluates it, and for every object that exists at the start. */
  observe?(change: ClusterEvent): void;
}

export interface QueueingHints {
  readonly events: readonly ResourceName[];
  /**
   * Queue (true) or QueueSkip (false): whether the event may make a pod schedulable that this plugin rejected. When in doubt, true. Called
   * for each unschedulable pod, so it has to be cheap. 'pod' events are those of pods with a node and of the rejected pod itself.
   */
  hint(pod: PodInfo, change: ClusterEvent): boolean;
}

/** A plugin in one pod's scheduling cycle. Each extension point is optional. The object is the plugin's cycle state. */
export interface CyclePlugin {
  /** PreFilterResult.NodeNames: only these nodes can pass. The message for the others is "node(s) didn't satisfy plugin(s) [name]". */
  readonly nodeNames?: ReadonlySet<string>;
  /**
   * A short cut: no other node would pass `filter`. These nodes are filtered first. The others are filtered only if none of these is
   * feasible, so that the diagnosis has each node's own reason.
   */
  readonly likely?: ReadonlySet<string>;
  /** Filter. Undefined: the node is feasible. */
  filter?(node: NodeInfo): Rejection | PluginFailure | undefined;
  /** PreFilterExtensions: a dry run (preemption, nominated pods) adds another pod to a node or removes it. `filter` must take it into account from then on. */
  addPod?(pod: PodInfo, node: NodeInfo): void;
  removePod?(pod: PodInfo, node: NodeInfo): void;
  /** A copy that a dry run may change. Required with `addPod`, and if `filter` changes state. */
  clone?(): CyclePlugin;
  /** Score and NormalizeScore: a number from 0 to 100 for each node, in their order. Undefined: all nodes are equal. */
  score?(nodes: readonly NodeInfo[]): ArrayLike<number> | undefined;
  /** Reserve. A rejection or failure ends the cycle. */
  reserve?(node: NodeInfo): Rejection | PluginFailure | undefined;
  /** Unreserve. May be called more than once, and without `reserve`. */
  unreserve?(node: NodeInfo): void;
  /** Whether `preBind` has work to do that may take long: then the pod is nominated to the node meanwhile. */
  preBindPreFlight?(node: NodeInfo): boolean;
  /** PreBind. Resolves once the pod may be bound. It must end when `context.signal` aborts. */
  preBind?(node: NodeInfo, context: PreBindContext): Promise<PluginFailure | undefined>;
}

export interface PreBindContext {
  readonly client: Client;
  readonly world: World;
  /** Aborts when the pod is deleted or preempted while it waits, or when the scheduler stops. Its `reason` is an `AbortReason`. */
  readonly signal: AbortSignal;
}

export type AbortReason = 'pod gone' | 'preempted' | 'stopped';

/**
 * The framework's status codes.
 * - `unschedulable`: Unschedulable. Preemption on the node may help
 * - `unresolvable`:  UnschedulableAndUnresolvable. Preemption does not help
 * - `pending`:       Pending. The plugin waits for an external component
 */
export type RejectionCode = 'unschedulable' | 'unresolvable' | 'pending';

/** The pod does not fit on the node; from `preFilter`: on no node. Share constants where nothing varies. */
export interface Rejection {
  readonly code: RejectionCode;
  readonly plugin: string;
  /** At least one. */
  readonly reasons: readonly RejectionReason[];
}

/** Status code Error: no rule rejected the pod. It is retried after a backoff, and its condition says SchedulerError. */
export interface PluginFailure {
  readonly code: 'error';
  readonly plugin: string;
  readonly message: string;
}

/** Events and conditions use `text`, `moor why` uses the rest. */
export interface RejectionReason {
  /** Kubernetes' message: 'Insufficient cpu', 'node(s) had untolerated taint(s)'. */
  readonly text: string;
  /** For programs: 'resource', 'taint', 'volumeNodeAffinity' … */
  readonly rule: string;
  /** Computed only for explanations. `node`: the rejected node, if Filter rejected it. */
  readonly detail?: (node?: NodeInfo) => RejectionDetail;
}

export interface RejectionDetail {
  /** The rest of a sentence that begins with the node (or, of a rejection by `preFilter`, the pod): 'has 1 of 4 cpu free'. */
  readonly found: string;
  /** What would change the verdict, as the rest of a sentence that begins with 'it needs': '2 cpu'. */
  readonly wanted: string;
  /** The object that would have to change, if there is one: 'pv/disk', 'pvc/data', 'csinode/n1'. */
  readonly object?: string;
}

export const isFailure = (verdict: Rejection | PluginFailure): verdict is PluginFailure => verdict.code === 'error';

export function rejection(code: RejectionCode, plugin: string, reason: RejectionReason): Rejection {
  return { code, plugin, reasons: [reason] };
}

export const pluginFailure = (plugin: string, message: string): PluginFailure => ({ code: 'error', plugin, message });
