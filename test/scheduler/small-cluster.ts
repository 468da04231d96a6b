/** A cluster in a few maps, for tests of plugins. */
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Node,
  NodeSelectorRequirement,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  VolumeAttachment,
} from '../../src/api/generated/types.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { SchedulerCache } from '../../src/scheduler/scheduler-cache.ts';
import {
  type ClusterEvent,
  type ClusterSnapshot,
  type CyclePlugin,
  isFailure,
  type Plugin,
  type ResourceName,
  type Resources,
} from '../../src/scheduler/framework.ts';
import { readPod } from '../../src/scheduler/pod-info.ts';
import { keyOf } from '../../src/client/informers/cache.ts';

const resources: Readonly<Record<string, ResourceName>> = {
  Node: 'node',
  Pod: 'pod',
  PersistentVolumeClaim: 'claim',
  PersistentVolume: 'volume',
  StorageClass: 'storageClass',
  CSINode: 'csiNode',
  CSIDriver: 'csiDriver',
  CSIStorageCapacity: 'storageCapacity',
  VolumeAttachment: 'attachment',
  Namespace: 'namespace',
  PodDisruptionBudget: 'disruptionBudget',
  Service: 'service',
  ReplicaSet: 'replicaSet',
  StatefulSet: 'statefulSet',
};

class ObjectMap<T> {
  readonly objects = new Map<string, T>();
  getKey = (key: string): T | undefined => this.objects.get(key);
  list = (): Iterable<T> => this.objects.values();
  get size(): number {
    return this.objects.size;
  }
}

export class SmallCluster {
  readonly views: ClusterSnapshot['views'] & { readonly node: ObjectMap<Node>; readonly pod: ObjectMap<Pod> };
  readonly cache: SchedulerCache;
  readonly plugins: readonly Plugin[];
  #revision = 0;

  constructor(plugins: readonly Plugin[]) {
    this.plugins = plugins;
    const map = <R extends ResourceName>() => new ObjectMap<Resources[R]>();
    this.views = {
      node: map<'node'>(),
      pod: map<'pod'>(),
      namespace: map<'namespace'>(),
      claim: map<'claim'>(),
      volume: map<'volume'>(),
      storageClass: map<'storageClass'>(),
      csiNode: map<'csiNode'>(),
      csiDriver: map<'csiDriver'>(),
      storageCapacity: map<'storageCapacity'>(),
      attachment: map<'attachment'>(),
      disruptionBudget: map<'disruptionBudget'>(),
      service: map<'service'>(),
      replicaSet: map<'replicaSet'>(),
      statefulSet: map<'statefulSet'>(),
    };
    this.cache = new SchedulerCache(this.views);
  }

  /** Creates or updates the objects; each gets a new resourceVersion. */
  set(...objects: readonly KubeObject[]): readonly ClusterEvent[] {
    return objects.map((object) => {
      const after = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } };
      return this.#change(object.kind, keyOf(object.metadata), after);
    });
  }

  has(kind: string, key: string): boolean {
    return this.#view(kind).objects.has(key);
  }

  delete(kind: string, key: string): ClusterEvent {
    return this.#change(kind, key, undefined);
  }

  #change(kind: string, key: string, after: KubeObject | undefined): ClusterEvent {
    const view = this.#view(kind);
    const before = view.objects.get(key);
    if (after === undefined) view.objects.delete(key);
    else view.objects.set(key, after);
    const change = { resource: resources[kind], before, after } as unknown as ClusterEvent;
    this.#updateCache(change);
    for (const plugin of this.plugins) plugin.observe?.(change);
    return change;
  }

  #view(kind: string): ObjectMap<KubeObject> {
    const resource = resources[kind];
    if (resource === undefined) throw new Error(`the scheduler does not watch ${kind}`);
    return this.views[resource] as unknown as ObjectMap<KubeObject>;
  }

  #updateCache(change: ClusterEvent): void {
    if (change.resource === 'node') {
      if (change.after === undefined) this.cache.removeNode(change.before.metadata.name);
      else this.cache.setNode(change.after);
    }
    if (change.resource !== 'pod') return;
    if (change.after === undefined) this.cache.removePod(change.before.metadata.uid ?? '');
    else if ((change.after.spec.nodeName ?? '') !== '') this.cache.setPod(readPod(change.after));
  }

  /** Runs PreFilter of one plugin. */
  preFilter(pod: Pod, [plugin] = this.plugins): ReturnType<Plugin['preFilter']> {
    if (plugin === undefined) throw new Error('the cluster has no plugin');
    return plugin.preFilter(readPod(pod), this.cache);
  }

  /** The same; throws if PreFilter rejects the pod. */
  cycle(pod: Pod, plugin = this.plugins[0]): CyclePlugin {
    const prepared = this.preFilter(pod, plugin === undefined ? [] : [plugin]);
    if (prepared === 'skip' || 'code' in prepared) throw new Error(`PreFilter rejected the pod: ${JSON.stringify(prepared)}`);
    return prepared;
  }

  /** 'skip', PreFilter's rejection, or the rejection of each node; '': the node is feasible. */
  verdicts(pod: Pod, plugin = this.plugins[0]): string | Record<string, string> {
    const prepared = this.preFilter(pod, plugin === undefined ? [] : [plugin]);
    if (prepared === 'skip') return 'skip';
    if ('code' in prepared) return shown(prepared);
    return Object.fromEntries(this.cache.nodes.map((node) => [node.name, shown(prepared.filter?.(node))]));
  }
}

function shown(verdict: ReturnType<NonNullable<CyclePlugin['filter']>>): string {
  if (verdict === undefined) return '';
  return isFailure(verdict) ? `error: ${verdict.message}` : `${verdict.code}: ${verdict.reasons.map(({ text }) => text).join(' + ')}`;
}

export const node = (name: string, labels: Readonly<Record<string, string>> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  spec: {},
  status: { allocatable: { cpu: '64', memory: '256Gi', pods: '250' } } as unknown as Node['status'],
});

export const zone = 'topology.kubernetes.io/zone';
export const inZone = (name: string): Readonly<Record<string, string>> => ({ [zone]: name });

/** The terms are ORed; the requirements of a term are ANDed. */
export const reachedFrom = (...terms: readonly (readonly NodeSelectorRequirement[])[]): Pick<PersistentVolume['spec'], 'nodeAffinity'> => ({
  nodeAffinity: { required: { nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions: [...matchExpressions] })) } },
});
export const within = (key: string, ...values: string[]): NodeSelectorRequirement => ({ key, operator: 'In', values });

export const csiNode = (name: string, counts: Readonly<Record<string, number>>, annotations?: Readonly<Record<string, string>>): CSINode => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: { name, ...(annotations === undefined ? {} : { annotations: { ...annotations } }) },
  spec: { drivers: Object.entries(counts).map(([driver, count]) => ({ name: driver, nodeID: name, topologyKeys: null, allocatable: { count } })) },
});

export const csiDriver = (name: string, storageCapacity: boolean): CSIDriver => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name },
  spec: { storageCapacity },
});

export const storageCapacity = (name: string, more: Partial<CSIStorageCapacity>): CSIStorageCapacity => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { name, namespace: 'default' },
  storageClassName: 'class',
  ...more,
});

export const attachment = (name: string, nodeName: string, persistentVolumeName: string): VolumeAttachment => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name },
  spec: { attacher: 'driver', nodeName, source: { persistentVolumeName } },
  status: { attached: true },
});

/** A bound claim. */
export const boundTo = (claim: PersistentVolumeClaim, volumeName: string): PersistentVolumeClaim => ({
  ...claim,
  metadata: { ...claim.metadata, annotations: { ...claim.metadata.annotations, 'pv.kubernetes.io/bind-completed': 'yes' } },
  spec: { ...claim.spec, volumeName },
  status: { phase: 'Bound' },
});
