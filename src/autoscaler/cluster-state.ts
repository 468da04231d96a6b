import type { CSINode, Node, Pod } from '../api/generated/types.ts';
import { daemonSetKind } from '../api/kinds/apps/daemon-set.ts';
import { nodeKind } from '../api/kinds/core/node.ts';
import { type NodeClaim, nodeClaimKind } from '../api/kinds/karpenter/node-claim.ts';
import { type NodePool, nodePoolKind } from '../api/kinds/karpenter/node-pool.ts';
import { podKind } from '../api/kinds/pod/pod.ts';
import type { Stored } from '../api/stored.ts';
import { isSameTaint } from '../api/taints.ts';
import type { Cache, Index } from '../client/informers/cache.ts';
import type { Informers } from '../client/informers/informers.ts';
import type { ClusterEvent, ObjectChange, Plugin, PodInfo } from '../scheduler/framework.ts';
import { defaultPlugins } from '../scheduler/plugins/index.ts';
import { volumePlugins } from '../scheduler/plugins/volume-plugins.ts';
import { readPod } from '../scheduler/pod-info.ts';
import { SchedulerCache } from '../scheduler/scheduler-cache.ts';
import { type SchedulerInformers, schedulerInformers } from '../scheduler/scheduler-informers.ts';
import { hasEnded } from '../storage/volumes/pods.ts';
import type { CloudProvider, InstanceType } from './cloud-provider.ts';
import { ephemeralTaints, labels } from './labels.ts';
import { isProvisionable, isReschedulable } from './pods.ts';
import { type InstancePool, instancePoolOf } from './provisioning/instance-pool.ts';
import { PlannedNode } from './provisioning/planned-node.ts';
import type { PlannerInput, SchedulerState } from './provisioning/planner.ts';
import { allows, combined, requirementsOf, requirementsOfLabels } from './requirements/requirements.ts';

export interface ClusterStateOptions {
  readonly informers: Informers;
  readonly provider: CloudProvider;
}

/**
 * What the autoscaler knows of the cluster: the informers' caches, and a scheduler's cache with its plugins for simulations. That one is filled when the
 * first NodePool needs it.
 */
export class ClusterState {
  readonly pools: Cache<NodePool>;
  readonly claims: Cache<NodeClaim>;
  readonly nodes: Cache<Node>;
  readonly pods: Cache<Pod>;
  readonly podsOnNode: Index<Pod>;
  readonly provider: CloudProvider;
  /** Nodes and NodeClaims that a decision counts on: they are not disrupted before this time. */
  readonly #nominated = new Map<string, number>();
  /** Nodes that a disruption is about to remove. */
  readonly marked = new Set<string>();
  readonly #informers: SchedulerInformers;
  readonly #pending: Index<Pod>;
  readonly #nodesByProviderID: Index<Node>;
  readonly #claimsByProviderID: Index<NodeClaim>;
  readonly #daemonSets;
  #scheduler: SchedulerState | undefined;

  constructor({ informers, provider }: ClusterStateOptions) {
    this.provider = provider;
    this.#informers = schedulerInformers(informers);
    this.pools = informers.cache(nodePoolKind);
    this.claims = informers.cache(nodeClaimKind);
    this.nodes = informers.cache(nodeKind);
    this.pods = informers.cache(podKind);
    this.#daemonSets = informers.cache(daemonSetKind);
    this.podsOnNode = this.pods.addIndex(nodeOfPod);
    this.#pending = this.pods.addIndex(pendingOf);
    this.#nodesByProviderID = this.nodes.addIndex(providerOfNode);
    this.#claimsByProviderID = this.claims.addIndex(providerOfClaim);
  }

  get isActive(): boolean {
    return this.pools.size > 0;
  }

  nodeOf({ status }: NodeClaim): Stored<Node> | undefined {
    return status?.providerID === undefined ? undefined : this.#nodesByProviderID.get(status.providerID)[0];
  }

  claimOf({ spec }: Node): Stored<NodeClaim> | undefined {
    return spec.providerID === undefined ? undefined : this.#claimsByProviderID.get(spec.providerID)[0];
  }

  /** Pods that the scheduler found no node for. */
  pendingPods(): readonly Stored<Pod>[] {
    return this.#pending.get('pending');
  }

  nominate(name: string, until: number): void {
    this.#nominated.set(name, until);
  }

  isNominated(name: string, now: number): boolean {
    const until = this.#nominated.get(name);
    if (until !== undefined && until <= now) this.#nominated.delete(name);
    return until !== undefined && until > now;
  }

  /** The scheduler's cache and plugins, for simulations. */
  get scheduler(): SchedulerState {
    return (this.#scheduler ??= this.#follow());
  }

  /** By weight, then by name. */
  instancePools(): readonly InstancePool[] {
    const byWeight = (a: NodePool, b: NodePool) => (b.spec.weight ?? 0) - (a.spec.weight ?? 0) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
    return [...this.pools.list()]
      .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.replicas === undefined)
      .sort(byWeight)
      .map((pool) => this.#instancePool(pool));
  }

  #instancePool(pool: Stored<NodePool>): InstancePool {
    const instanceTypes = this.provider.instanceTypes(pool.spec.template.spec.nodeClassRef) ?? [];
    const used = this.claimsOf(pool.metadata.name).flatMap((claim) => claim.status?.capacity ?? largestCapacity(claim, instanceTypes));
    return instancePoolOf(pool, { instanceTypes, daemonSets: this.#daemonSets.list(), used });
  }

  claimsOf(pool: string): readonly Stored<NodeClaim>[] {
    return [...this.claims.list()].filter(({ metadata }) => metadata.labels?.[labels.nodePool] === pool);
  }

  /** Whether `plannerInput` has pods; without the rest of it, which is large. */
  hasPodsToPlan(): boolean {
    return this.pendingPods().length > 0 || !this.#podsOfLeavingNodes().next().done;
  }

  *#podsOfLeavingNodes(): Generator<Stored<Pod>> {
    for (const node of this.nodes.list()) if (this.isLeaving(node)) yield* this.podsOnNode.get(node.metadata.name).filter(isReschedulable);
  }

  /** The pending pods, and those of nodes that are being removed; with the nodes that can take them. */
  plannerInput(): PlannerInput {
    const pools = this.instancePools();
    const pods = [...this.pendingPods(), ...this.#podsOfLeavingNodes()];
    return {
      pods: pods.map(asUnscheduled),
      pools,
      inFlight: this.inFlight(pools),
      existing: this.takingNodes(),
    };
  }

  isLeaving(node: Stored<Node>): boolean {
    return node.metadata.deletionTimestamp !== undefined || this.marked.has(node.metadata.name) || this.claimOf(node)?.metadata.deletionTimestamp !== undefined;
  }

  /** Initialized nodes first. */
  takingNodes(without: ReadonlySet<string> = none): readonly string[] {
    const rank = ({ metadata }: Node) => (metadata.labels?.[labels.nodePool] === undefined || metadata.labels[labels.initialized] === 'true' ? 0 : 1);
    return [...this.nodes.list()]
      .filter((node) => !without.has(node.metadata.name) && !this.isLeaving(node))
      .sort((a, b) => rank(a) - rank(b) || (a.metadata.name < b.metadata.name ? -1 : 1))
      .map(({ metadata }) => metadata.name);
  }

  /** The nodes of NodeClaims that have none yet. */
  inFlight(pools: readonly InstancePool[]): readonly PlannedNode[] {
    return [...this.claims.list()].flatMap((claim) => {
      const pool = pools.find(({ name }) => name === claim.metadata.labels?.[labels.nodePool]);
      if (pool === undefined || claim.metadata.deletionTimestamp !== undefined || this.nodeOf(claim) !== undefined) return [];
      const requirements = combined(requirementsOf(claim.spec.requirements), requirementsOfLabels(claim.metadata.labels));
      const types = pool.types.filter(({ type }) => allows(requirements, labels.instanceType, type.name));
      return types.length === 0 ? [] : [new PlannedNode(`nodeclaim/${claim.metadata.name}`, { pool, claim, requirements, types })];
    });
  }

  #follow(): SchedulerState {
    const cache = new SchedulerCache(this.#informers.views);
    const plugins = defaultPlugins(volumePlugins({ bindsTogether: true }));
    this.#informers.subscribe((change) => this.#observe(change, { cache, plugins }));
    return { cache, plugins };
  }

  #observe(change: ClusterEvent, { cache, plugins }: SchedulerState): void {
    const observed = change.resource === 'csiNode' ? this.#withLimits(change) : change;
    if (observed.resource === 'node') {
      if (observed.after === undefined) cache.removeNode(observed.before.metadata.name);
      else cache.setNode(this.#asInitialized(observed.after));
    }
    for (const plugin of plugins) plugin.observe?.(observed);
    // Also of an update: the status of its NodeClaim, by which the type is known, may be written after the Node.
    if (observed.resource === 'node' && observed.after !== undefined) this.#limitBeforeCsiNode(observed.after, plugins);
    if (observed.resource === 'pod') followPod(cache, observed);
  }

  /** A node that is not initialized yet, as it will be: pods are planned on it. */
  #asInitialized(node: Stored<Node>): Node {
    if (node.metadata.labels?.[labels.nodePool] === undefined || node.metadata.labels[labels.initialized] === 'true') return node;
    const claim = this.claimOf(node);
    const passing = [...ephemeralTaints, ...(claim?.spec.startupTaints ?? [])];
    const taints = (node.spec.taints ?? []).filter((taint) => !passing.some((each) => isSameTaint(each, taint)));
    return { ...node, spec: { ...node.spec, taints }, status: { ...node.status, allocatable: { ...claim?.status?.allocatable, ...node.status.allocatable } } };
  }

  /** Drivers that have not registered at the node yet have the limits of its instance type: the CSINode is written later than the Node (kubernetes#95911). */
  #withLimits(change: Extract<ClusterEvent, { resource: 'csiNode' }>): ClusterEvent {
    if (change.after === undefined) return change;
    const node = this.nodes.getKey(change.after.metadata.name);
    const after = node === undefined ? change.after : withLimits(change.after, this.#typeOf(node));
    return { resource: 'csiNode', before: change.before, after };
  }

  #limitBeforeCsiNode(node: Stored<Node>, plugins: readonly Plugin[]): void {
    const { name } = node.metadata;
    const type = this.#typeOf(node);
    if (type === undefined || this.#informers.views.csiNode.getKey(name) !== undefined) return;
    const empty = { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name }, spec: { drivers: [] } } as unknown as Stored<CSINode>;
    for (const plugin of plugins) plugin.observe?.({ resource: 'csiNode', before: undefined, after: withLimits(empty, type) });
  }

  #typeOf(node: Node): InstanceType | undefined {
    const claim = this.claimOf(node);
    const name = node.metadata.labels?.[labels.instanceType];
    return claim === undefined ? undefined : this.provider.instanceTypes(claim.spec.nodeClassRef)?.find((type) => type.name === name);
  }
}

/** A pod of a node that goes, as the one that takes its place: NodeName would keep it where it is. */
export const asUnscheduled = (pod: Pod): PodInfo => readPod({ ...pod, spec: { ...pod.spec, nodeName: '' } }, '');

const none: ReadonlySet<string> = new Set();

const nodeOfPod = ({ spec }: Pod): readonly string[] => (spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName]);
const pendingOf = (pod: Pod): readonly string[] => (isProvisionable(pod) ? ['pending'] : []);
const providerOfNode = ({ spec }: Node): readonly string[] => (spec.providerID === undefined ? [] : [spec.providerID]);
const providerOfClaim = ({ status }: NodeClaim): readonly string[] => (status?.providerID === undefined ? [] : [status.providerID]);

function followPod(cache: SchedulerCache, { before, after }: ObjectChange<Pod>): void {
  if (before !== undefined && before.metadata.uid !== after?.metadata.uid) cache.removePod(before.metadata.uid ?? '');
  if (after === undefined) return;
  if ((after.spec.nodeName ?? '') === '' || hasEnded(after)) cache.removePod(after.metadata.uid ?? '');
  else cache.setPod(readPod(after));
}

function withLimits(csiNode: Stored<CSINode>, type: InstanceType | undefined): Stored<CSINode> {
  const known = csiNode.spec.drivers ?? [];
  const missing = Object.entries(type?.volumeLimits ?? {}).filter(([driver]) => !known.some(({ name }) => name === driver));
  if (missing.length === 0) return csiNode;
  const added = missing.map(([name, count]) => ({ name, nodeID: csiNode.metadata.name, topologyKeys: null, allocatable: { count } }));
  return { ...csiNode, spec: { ...csiNode.spec, drivers: [...known, ...added] } };
}

/** A claim without an instance may become the largest of its types. */
function largestCapacity(claim: NodeClaim, types: readonly InstanceType[]): readonly Readonly<Record<string, string>>[] {
  const requirements = requirementsOf(claim.spec.requirements);
  const [largest] = types
    .filter(({ name }) => allows(requirements, labels.instanceType, name))
    .toSorted((a, b) => Number(b.capacity.cpu ?? 0) - Number(a.capacity.cpu ?? 0));
  return largest === undefined ? [] : [largest.capacity];
}
