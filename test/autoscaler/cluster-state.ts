/** The autoscaler's view of a cluster, from objects alone: no API server, no cloud, no time. */
import type { Pod, Taint } from '../../src/api/generated/types.ts';
import { type Kind, qualifiedResource } from '../../src/api/kind.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { type NodeClaim, nodeClaimKind } from '../../src/api/kinds/karpenter/node-claim.ts';
import { type NodePool, nodePoolKind } from '../../src/api/kinds/karpenter/node-pool.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { Stored } from '../../src/api/stored.ts';
import type { CloudProvider, InstanceType, Offering } from '../../src/autoscaler/cloud-provider.ts';
import { ClusterState } from '../../src/autoscaler/cluster-state.ts';
import { labels } from '../../src/autoscaler/labels.ts';
import { exactly } from '../../src/autoscaler/requirements/value-set.ts';
import type { Draft } from '../../src/client/client.ts';
import { Cache } from '../../src/client/informers/cache.ts';
import type { Informers } from '../../src/client/informers/informers.ts';
import type { Log } from '../../src/world/world.ts';

export const disks = 'disks.example.com';
export const zones = ['a', 'b', 'c'] as const;

interface TypeOptions {
  readonly cpu: number;
  /** On demand; spot is a third of it. */
  readonly price: number;
  readonly volumes?: number;
  readonly offerings?: readonly Offering[];
}

export function instanceType(name: string, { cpu, price, volumes, offerings }: TypeOptions): InstanceType {
  const amounts = { cpu: String(cpu), memory: `${cpu * 4}Gi`, pods: '50' };
  const everywhere = zones.flatMap((zone): readonly Offering[] => [
    { zone, capacityType: 'on-demand', price, isAvailable: true },
    { zone, capacityType: 'spot', price: price / 3, isAvailable: true },
  ]);
  return {
    name,
    requirements: new Map([[labels.instanceType, exactly(name)]]),
    offerings: offerings ?? everywhere,
    capacity: amounts,
    allocatable: amounts,
    volumeLimits: volumes === undefined ? {} : { [disks]: volumes },
  };
}

export const usualTypes: readonly InstanceType[] = [
  instanceType('small', { cpu: 2, price: 1, volumes: 2 }),
  instanceType('medium', { cpu: 4, price: 2, volumes: 4 }),
  instanceType('large', { cpu: 8, price: 4, volumes: 8 }),
];

const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };

interface NodeOptions {
  readonly type?: string;
  readonly zone?: string;
  readonly pool?: string;
  readonly capacityType?: string;
  readonly conditions?: Readonly<Record<string, string>>;
  readonly isReady?: boolean;
  readonly taints?: readonly Taint[];
  readonly annotations?: Readonly<Record<string, string>>;
}

interface PodOptions {
  readonly cpu?: string;
  /** Absent: the scheduler found none. */
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly claims?: readonly string[];
  readonly spec?: Draft<Pod['spec']>;
}

export class TestState {
  readonly state: ClusterState;
  readonly informers: Informers;
  readonly #caches = new Map<string, Cache<KubeObject>>();
  #revision = 0;

  constructor(types: readonly InstanceType[] = usualTypes) {
    this.informers = { cache: (kind: Kind) => this.#cache(kind) } as unknown as Informers;
    const provider = { instanceTypes: () => types, isDrifted: () => undefined } as unknown as CloudProvider;
    this.state = new ClusterState({ informers: this.informers, provider });
  }

  #cache(kind: Kind): Cache<KubeObject> {
    const name = qualifiedResource(kind);
    const known = this.#caches.get(name) ?? new Cache<KubeObject>({ log: failingLog });
    this.#caches.set(name, known);
    return known;
  }

  /** As the informer delivers it. */
  set<T extends KubeObject>(kind: Kind<T>, object: Draft<T>): Stored<T> {
    const { metadata } = object as { metadata: { namespace?: string; name: string } };
    const stored = {
      apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
      kind: kind.kind,
      ...object,
      metadata: { uid: `${kind.kind}/${metadata.name}`, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata, resourceVersion: String(++this.#revision) },
    } as unknown as Stored<T>;
    this.#cache(kind as unknown as Kind).observe(stored);
    return stored;
  }

  pool(name: string, spec: Draft<NodePool['spec']> = {}, template: Draft<NodePool['spec']['template']['spec']> = {}): Stored<NodePool> {
    const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
    return this.set(nodePoolKind, { metadata: { name }, spec: { disruption, ...spec, template: { spec: { requirements: [], nodeClassRef, ...template } } } });
  }

  /** A NodeClaim whose Node is initialized. */
  node(name: string, options: NodeOptions = {}): Stored<NodeClaim> {
    const { type = 'medium', zone = 'a', pool = 'default', capacityType = 'on-demand', isReady = true, taints = [], annotations = {} } = options;
    const known = { [labels.nodePool]: pool, [labels.instanceType]: type, [labels.zone]: zone, [labels.capacityType]: capacityType };
    const capacity = usualTypes.find((each) => each.name === type)?.capacity ?? {};
    const providerID = `cloud:///${name}`;
    const conditions = { Launched: 'True', Registered: 'True', Initialized: 'True', Consolidatable: 'True', ...options.conditions };
    const claim = this.set(nodeClaimKind, {
      metadata: { name, labels: known },
      spec: { nodeClassRef, requirements: [] },
      status: {
        providerID,
        nodeName: name,
        capacity,
        allocatable: capacity,
        conditions: Object.entries(conditions).map(([each, status]) => ({ type: each, status, reason: each, message: '', lastTransitionTime: aTime })),
      },
    });
    this.set(nodeKind, {
      metadata: { name, annotations, labels: { ...known, [labels.initialized]: 'true', [labels.hostname]: name } },
      spec: { providerID, taints: [...taints] },
      status: { capacity, allocatable: capacity, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
    });
    return claim;
  }

  pod(name: string, { cpu = '1', node, labels: known = {}, annotations = {}, claims = [], spec = {} }: PodOptions = {}): Stored<Pod> {
    const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
    return this.set(podKind, {
      metadata: { namespace: 'default', name, labels: known, annotations },
      spec: {
        ...(node === undefined ? {} : { nodeName: node }),
        containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }],
        volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
        ...spec,
      },
      status: { phase: node === undefined ? 'Pending' : 'Running', conditions: node === undefined ? [unschedulable] : [] },
    });
  }

  /** Zones as a class allows them, one term each. */
  storageClass(name: string, allowed: readonly (readonly string[])[] = []): void {
    this.set(storageClassKind, {
      metadata: { name },
      provisioner: disks,
      volumeBindingMode: 'WaitForFirstConsumer',
      allowedTopologies: allowed.map((values) => ({ matchLabelExpressions: [{ key: labels.zone, values }] })),
    });
  }

  unboundClaim(name: string, storageClassName: string): void {
    const spec = { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    this.set(persistentVolumeClaimKind, { metadata: { namespace: 'default', name }, spec, status: { phase: 'Pending' } });
  }

  /** A claim with its volume; each term of the volume allows these zones. */
  boundClaim(name: string, terms: readonly (readonly string[])[]): void {
    const nodeSelectorTerms = terms.map((values) => ({ matchExpressions: [{ key: labels.zone, operator: 'In', values }] }));
    const shared = { accessModes: ['ReadWriteOnce'], storageClassName: 'disks' };
    this.set(persistentVolumeKind, {
      metadata: { name: `pv-${name}` },
      spec: {
        ...shared,
        capacity: { storage: '1Gi' },
        csi: { driver: disks, volumeHandle: name },
        claimRef: { namespace: 'default', name, uid: `PersistentVolumeClaim/${name}` },
        ...(terms.length === 0 ? {} : { nodeAffinity: { required: { nodeSelectorTerms } } }),
      },
      status: { phase: 'Bound' },
    });
    this.set(persistentVolumeClaimKind, {
      metadata: { namespace: 'default', name, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { ...shared, volumeName: `pv-${name}`, resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Bound' },
    });
  }
}

const aTime = '2026-01-01T00:00:00Z';

const fail = (message: string, fields?: unknown): never => {
  throw new Error(`${message}: ${JSON.stringify(fields)}`);
};
const failingLog: Log = { debug: () => undefined, info: () => undefined, warn: fail, error: fail, with: () => failingLog } as unknown as Log;

/** Deterministic, and different for different texts; long enough for names of NodeClaims. */
export function hashed(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const character of text) hash = BigInt.asUintN(64, (hash ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0').repeat(4);
}
