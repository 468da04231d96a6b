/**
 * The contract between the scheduler and its plugins.
 *
 * One pod at a time is given a node. Stages and who calls what:
 *
 *     PreFilter   plugin.prepare(pod, snapshot) → what the plugin will say about this pod: its `Stages`
 *     Filter      stages.filter(node)           → a rejection, or undefined: the node will do
 *     PostFilter  preemption (its own file): which pods would have to go
 *     Score       stages.score(nodes)           → for each node that will do, 0 (worst) to 100
 *     Reserve     stages.reserve(node)          → the plugin notes in memory what the pod is about to take
 *     PreBind     stages.preBind(node, hands)   → the first stage that may wait and write
 *     Bind        pods/binding
 *
 * Up to and with Reserve everything happens in one go, without waiting: nothing changes between two calls, and the live
 * caches are the snapshot. Filters are pure and run for thousands of nodes: they should look up what was computed before
 * and create nothing. What a plugin needs again and again it derives in `observe` (once for each change) or in `prepare`
 * (once for each pod), never in `filter`.
 *
 * When a stage after `reserve` fails, or the pod goes away, `unreserve` is called for every plugin, in reverse order.
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
import type { Client } from '../client/client.ts';
import type { World } from '../world/world.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

export type { NodeInfo } from './node-info.ts';
export type { PodInfo } from './pod-info.ts';

/** What the scheduler follows. */
export interface Resources {
  readonly node: Node;
  readonly pod: Pod;
  readonly namespace: Namespace;
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly storageClass: StorageClass;
  readonly csiNode: CSINode;
  readonly csiDriver: CSIDriver;
  readonly storageCapacity: CSIStorageCapacity;
  readonly attachment: VolumeAttachment;
  readonly disruptionBudget: PodDisruptionBudget;
  readonly service: Service;
  readonly replicaSet: ReplicaSet;
  readonly statefulSet: StatefulSet;
}

export type ResourceName = keyof Resources;

/** Only `before`: it is gone. Only `after`: it is new. Both: it changed, or another object of that name took its place. */
export type ClusterEvent = { readonly [R in ResourceName]: { readonly resource: R } & ObjectChange<Resources[R]> }[ResourceName];

export interface ObjectChange<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** Objects of one kind as last seen, this process' own writes included. A machinery cache is one; so is any map with these methods. */
export interface ObjectView<T> {
  /** 'namespace/name', or 'name' of a cluster-scoped object. */
  getKey(key: string): T | undefined;
  list(): Iterable<T>;
  readonly size: number;
}

/** Everything that is known at this moment. Nodes and pods are arranged; the rest are plain views: a plugin that needs an index keeps one in `observe`. */
export interface ClusterSnapshot {
  /** Of all nodes, those of different zones taking turns. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Nodes with pods that have any affinity or anti-affinity to other pods; and with required anti-affinity. */
  readonly nodesWithAffinity: ReadonlySet<NodeInfo>;
  readonly nodesWithAntiAffinity: ReadonlySet<NodeInfo>;
  /** All that have a node, assumed ones included. */
  podsIn(namespace: string): Iterable<PodInfo>;
  readonly namespacesWithPods: Iterable<string>;
  /** How many pods that have a node (assumed ones included) use the claim 'namespace/name'. */
  claimUsers(claimKey: string): number;
  readonly views: { readonly [R in Exclude<ResourceName, 'node' | 'pod'>]: ObjectView<Resources[R]> };
}

/** A rule. One instance serves one scheduler (or one explanation) for its whole life. */
export interface Plugin {
  /** As Kubernetes calls it: 'VolumeBinding'. */
  readonly name: string;
  /** What its scores count for; 1 unless said. */
  readonly weight?: number;
  /** PreFilter. 'skip': nothing to say about this pod. */
  preFilter(pod: PodInfo, snapshot: ClusterSnapshot): 'skip' | Rejection | PluginFailure | CyclePlugin;
  /** Queueing hints: when is a pod worth another look that this plugin rejected? Absent: this plugin rejects for good. */
  readonly queueingHints?: QueueingHints;
  /** Called once for every change of any object, before any pod is woken by it, and for everything that exists at the start. */
  observe?(change: ClusterEvent): void;
}

export interface QueueingHints {
  readonly events: readonly ResourceName[];
  /**
   * Whether the change may make a pod schedulable that this plugin rejected; when in doubt, yes. Asked for each waiting pod,
   * so it has to be cheap. Changes of 'pod' are those of pods that have a node (assigned, changed, gone), and of the rejected pod itself.
   */
  hint(pod: PodInfo, change: ClusterEvent): boolean;
}

/** What a plugin does with one pod in one scheduling cycle. Each stage is optional; what earlier stages found lives in the object. */
export interface CyclePlugin {
  /** Only these nodes can pass, and the others are told as "node(s) didn't satisfy plugin(s) [name]". Only where Kubernetes does so. */
  readonly nodeNames?: ReadonlySet<string>;
  /**
   * A short cut: no node but these would pass `filter`. They are looked at first; only if none of them will do are the others asked, so
   * that each tells its own reason.
   */
  readonly likely?: ReadonlySet<string>;
  /** Filter. Undefined: the node will do. */
  filter?(node: NodeInfo): Rejection | PluginFailure | undefined;
  /** Another pod comes to a node, or leaves it, in a what-if: preemption, nominated pods. `filter` must take it into account from then on. */
  addPod?(pod: PodInfo, node: NodeInfo): void;
  removePod?(pod: PodInfo, node: NodeInfo): void;
  /** A copy that the what-if may change. Needed by those with `addPod`, and by those whose `filter` takes notes. */
  clone?(): CyclePlugin;
  /** Score, normalised: a number from 0 to 100 for each of the nodes, in their order. Undefined: all nodes are the same to it. */
  score?(nodes: readonly NodeInfo[]): ArrayLike<number> | undefined;
  /** Reserve. A rejection or failure undoes the cycle. */
  reserve?(node: NodeInfo): Rejection | PluginFailure | undefined;
  /** Undoes `reserve`. May be called more than once, and without `reserve`. */
  unreserve?(node: NodeInfo): void;
  /** Whether `preBind` has to do anything that takes a while: then the pod is nominated to the node meanwhile. */
  preBindPreFlight?(node: NodeInfo): boolean;
  /** PreBind. Resolves once the pod may be bound. It must end when `hands.signal` aborts. */
  preBind?(node: NodeInfo, hands: PreBindContext): Promise<PluginFailure | undefined>;
}

/** What a stage that acts works with. */
export interface PreBindContext {
  readonly client: Client;
  readonly world: World;
  /** Aborts when the pod is gone, is preempted while it waits, or the scheduler stops; its `reason` is an `AbortReason`. */
  readonly signal: AbortSignal;
}

export type AbortReason = 'pod gone' | 'preempted' | 'stopped';

/**
 * - `unschedulable`: not here as things are; if some pods went away, perhaps
 * - `unresolvable`:  not here, and no pod that goes away changes that
 * - `pending`:       not yet: the plugin waits for somebody else
 */
export type RejectionCode = 'unschedulable' | 'unresolvable' | 'pending';

/** The pod cannot go to the node; from `prepare`: to no node. Share constants where nothing varies. */
export interface Rejection {
  readonly code: RejectionCode;
  readonly plugin: string;
  /** At least one. */
  readonly reasons: readonly RejectionReason[];
}

/** Something went wrong that is nobody's rule: the pod is tried again, after a while, and its condition says SchedulerError. */
export interface PluginFailure {
  readonly code: 'error';
  readonly plugin: string;
  readonly message: string;
}

/** Why not, as data. Events and conditions use `text`, explanations use the rest. */
export interface RejectionReason {
  /** Kubernetes' words: 'Insufficient cpu', 'node(s) had untolerated taint(s)'. */
  readonly text: string;
  /** For programs: 'resource', 'taint', 'volumeNodeAffinity' … */
  readonly rule: string;
  /** What was found, and what would be right. Asked for only when somebody wants to know; with the node that was rejected, if it was one. */
  readonly detail?: (node?: NodeInfo) => RejectionDetail;
}

export interface RejectionDetail {
  /** The rest of a sentence that begins with the node (or, of a rejection by `prepare`, the pod): 'has 1 of 4 cpu free'. */
  readonly found: string;
  /** What would change the verdict, as the rest of a sentence that begins with 'it needs': '2 cpu'. */
  readonly wanted: string;
  /** The object that would have to change, if there is one: 'pv/disk', 'pvc/data', 'csinode/n1'. */
  readonly object?: string;
}

export const isFailure = (verdict: Rejection | PluginFailure): verdict is PluginFailure => verdict.code === 'error';

/** A rejection with one reason that never varies. */
export function rejection(code: RejectionCode, plugin: string, reason: RejectionReason): Rejection {
  return { code, plugin, reasons: [reason] };
}

export const pluginFailure = (plugin: string, message: string): PluginFailure => ({ code: 'error', plugin, message });
