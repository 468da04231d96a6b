import type { Deployment, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet, Taint, TypedObjectReference } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { deploymentKind } from '../../api/kinds/apps/deployment.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { statefulSetKind } from '../../api/kinds/apps/stateful-set.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Client, DeleteOptions, Draft, Ref, Result } from '../../client/client.ts';
import type { Violation } from '../invariants/observer.ts';
import type { SimulatedDiskDriver } from '../drivers/simulated-disk-driver.ts';
import type { SimulatedWorld } from '../world/world.ts';
import { forge } from './forge.ts';
import { performCsiAction } from './perform-csi-action.ts';
import { performNamespaceAction, type UserRequests } from './perform-namespace-action.ts';
import { performWorkloadAction } from './perform-workload-action.ts';
import type { AccessMode, DataSourceChoice, UserAction, VolumeChoice } from './plan/user-actions.ts';

export interface PerformerContext {
  readonly world: SimulatedWorld;
  /** The connection of the acting user. */
  readonly client: Client;
  readonly disks: SimulatedDiskDriver;
  readonly onViolation: (violation: Violation) => void;
  /** Switches machines on and off. */
  readonly machines: { off(node: string): void; on(node: string): void };
  /** Every pod that runs writes to its CSI volumes. */
  readonly write: () => void;
}

/** Performs an action as kubectl would, and retries while the server is unreachable. Resolves with 'done' or the reason why not. */
export class UserActionPerformer {
  readonly #context: PerformerContext;

  constructor(context: PerformerContext) {
    this.#context = context;
  }

  perform(action: UserAction): Promise<string> {
    switch (action.do) {
      case 'create-class':
        return this.#create(storageClassKind, {
          metadata: { name: action.name },
          provisioner: this.#context.disks.capabilities.name,
          reclaimPolicy: action.reclaim,
          volumeBindingMode: action.waits ? 'WaitForFirstConsumer' : 'Immediate',
          allowVolumeExpansion: true,
        });
      case 'delete-class':
        return this.#delete(storageClassKind, { name: action.name });
      case 'create-volume':
        return this.#createVolume(action);
      case 'delete-volume':
        return this.#withVolume(action.of, (name) => this.#delete(persistentVolumeKind, { name }));
      case 'clear-claim-ref':
        return this.#withVolume(action.of, (name) =>
          this.#change(persistentVolumeKind, { name }, (volume) => ({ ...volume, spec: without(volume.spec, 'claimRef') })),
        );
      case 'set-policy':
        return this.#withVolume(action.of, (name) =>
          this.#change(persistentVolumeKind, { name }, (volume) => ({ ...volume, spec: { ...volume.spec, persistentVolumeReclaimPolicy: action.reclaim } })),
        );
      case 'create-claim':
        return this.#create(persistentVolumeClaimKind, { metadata: inDefault(action.name), spec: claimSpec(action) });
      case 'resize-claim':
        return this.#change(persistentVolumeClaimKind, inDefault(action.name), (claim) => resized(claim, action.sizeGi));
      case 'label-claim':
        return this.#change(persistentVolumeClaimKind, inDefault(action.name), (claim) => ({
          ...claim,
          metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, touched: action.value } },
        }));
      case 'delete-claim':
        return this.#delete(persistentVolumeClaimKind, inDefault(action.name));
      case 'create-pod':
        return this.#create(podKind, {
          metadata: inDefault(action.name),
          spec: { ...podSpec(action.claims, action.cpu), ...(action.critical ? { priorityClassName: 'system-cluster-critical' } : {}) },
        });
      case 'delete-pod':
        return this.#delete(podKind, inDefault(action.name), action.atOnce ? { gracePeriodSeconds: 0 } : {});
      case 'cordon':
      case 'uncordon':
        return this.#cordon(action.node, action.do === 'cordon');
      case 'drain':
        return this.#drain(action.node);
      case 'remove-node':
        return this.#removeNode(action.node, action.backMs);
      case 'switch-off':
        return this.#switchOff(action.node, action.backMs);
      case 'out-of-service':
        return this.#outOfService(action);
      case 'forge-recycler-pod':
      case 'forge-success':
        return forge(this.#context.client, action);
      case 'create-stateful-set':
      case 'scale-stateful-set':
      case 'delete-stateful-set':
      case 'create-deployment':
      case 'scale-deployment':
      case 'delete-deployment':
        return this.#performOnSets(action);
      case 'create-csi-driver':
      case 'create-csi-class':
      case 'create-snapshot-class':
      case 'create-csi-claim':
      case 'create-snapshot':
      case 'create-group-snapshot':
      case 'delete-snapshot':
      case 'delete-group-snapshot':
      case 'write':
        return performCsiAction(action, this.#requests, this.#context.write);
      case 'create-namespace':
      case 'delete-namespace':
      case 'create-quota':
      case 'create-limit-range':
      case 'create-claims':
      case 'create-pods':
      case 'delete-claims':
      case 'delete-service-account':
      case 'set-default-class':
        return performNamespaceAction(action, this.#requests);
      default:
        return performWorkloadAction(action, this.#requests);
    }
  }

  #performOnSets(action: Extract<UserAction, { do: `${string}-stateful-set` | `${string}-deployment` }>): Promise<string> {
    switch (action.do) {
      case 'create-stateful-set':
        return this.#create(statefulSetKind, statefulSet(action));
      case 'scale-stateful-set':
        return this.#change(statefulSetKind, inDefault(action.name), (set) => ({ ...set, spec: { ...set.spec, replicas: action.replicas } }));
      case 'delete-stateful-set':
        return this.#delete(statefulSetKind, inDefault(action.name));
      case 'create-deployment':
        return this.#create(deploymentKind, deployment(action));
      case 'scale-deployment':
        return this.#change(deploymentKind, inDefault(action.name), (made) => ({ ...made, spec: { ...made.spec, replicas: action.replicas } }));
      case 'delete-deployment':
        return this.#delete(deploymentKind, inDefault(action.name));
    }
  }

  readonly #requests: UserRequests = {
    create: (kind, object) => this.#create(kind, object),
    delete: (kind, ref, propagation) => this.#delete(kind, ref, propagation === undefined ? {} : { propagation }),
    change: (kind, ref, change) => this.#change(kind, ref, change),
  };

  #createVolume({ name, sizeGi, reclaim, claim, storageClass }: Extract<UserAction, { do: 'create-volume' }>): Promise<string> {
    const { disks } = this.#context;
    const source: Draft<PersistentVolume['spec']> =
      reclaim === 'Recycle' ? { hostPath: { path: `/tmp/${name}` } } : { csi: { driver: disks.capabilities.name, volumeHandle: `disk-${name}` } };
    if (source.csi !== undefined) disks.provide(`disk-${name}`, `${sizeGi}Gi`);
    return this.#create(persistentVolumeKind, {
      metadata: { name },
      spec: {
        capacity: { storage: `${sizeGi}Gi` },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: reclaim,
        ...source,
        ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
        ...(claim === undefined ? {} : { claimRef: { namespace: 'default', name: claim } }),
      },
    });
  }

  /** kubectl drain. */
  async #drain(node: string): Promise<string> {
    const cordoned = await this.#cordon(node, true);
    const pods = await this.#reach(() => this.#context.client.list(podKind, { fieldSelector: `spec.nodeName=${node}` }));
    if (!pods.ok) return pods.reason;
    for (const { metadata } of pods.value.items)
      await this.#reach(() =>
        this.#context.client.postSubresource(
          podKind,
          { namespace: metadata.namespace, name: metadata.name, subresource: 'eviction' },
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace: metadata.namespace, name: metadata.name } },
        ),
      );
    return cordoned;
  }

  async #removeNode(node: string, backMs: number): Promise<string> {
    const { machines, world } = this.#context;
    await this.#drain(node);
    await world.sleep(5_000);
    machines.off(node);
    const removed = await this.#delete(nodeKind, { name: node });
    await world.sleep(backMs);
    machines.on(node);
    return removed;
  }

  async #switchOff(node: string, backMs: number): Promise<string> {
    const { machines, world } = this.#context;
    machines.off(node);
    await world.sleep(backMs);
    machines.on(node);
    return 'done';
  }

  async #outOfService({ node, saidMs, backMs }: Extract<UserAction, { do: 'out-of-service' }>): Promise<string> {
    const { machines, world } = this.#context;
    const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
    machines.off(node);
    await world.sleep(saidMs);
    const said = await this.#taint(node, (taints) => [...taints, taint]);
    await world.sleep(backMs);
    machines.on(node);
    await this.#taint(node, (taints) => taints.filter(({ key }) => key !== taint.key));
    return said;
  }

  #taint(name: string, change: (taints: readonly Taint[]) => readonly Taint[]): Promise<string> {
    return this.#change(nodeKind, { name }, (node) => ({ ...node, spec: { ...node.spec, taints: [...change(node.spec.taints ?? [])] } }));
  }

  #cordon(name: string, unschedulable: boolean): Promise<string> {
    return this.#change(nodeKind, { name }, (node) => ({
      ...node,
      spec: unschedulable ? { ...node.spec, unschedulable } : without(node.spec, 'unschedulable'),
    }));
  }

  async #withVolume(choice: VolumeChoice, act: (name: string) => Promise<string>): Promise<string> {
    if ('volume' in choice) return act(choice.volume);
    const all = await this.#reach(() => this.#context.client.list(persistentVolumeKind));
    if (!all.ok) return all.reason;
    const of = ({ spec }: PersistentVolume) => `${spec.claimRef?.name} ${spec.claimRef?.uid}`;
    const candidates = all.value.items.filter((volume) =>
      'claim' in choice
        ? volume.spec.claimRef?.name === choice.claim
        : volume.status.phase === 'Released' && volume.spec.persistentVolumeReclaimPolicy === 'Retain',
    );
    candidates.sort((a, b) => (of(a) < of(b) ? -1 : 1));
    const chosen = candidates['anyReleased' in choice ? choice.anyReleased % candidates.length : 0];
    return chosen === undefined ? 'there is none' : act(chosen.metadata.name);
  }

  async #create<T extends KubeObject>(kind: Kind<T>, object: Draft<T>): Promise<string> {
    return ending(await this.#reach(() => this.#context.client.create(kind, object)));
  }

  async #delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: DeleteOptions = {}): Promise<string> {
    return ending(await this.#reach(() => this.#context.client.delete(kind, ref, options)));
  }

  async #change<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T): Promise<string> {
    for (let left = 20; left > 0; left--) {
      const found = await this.#reach(() => this.#context.client.get(kind, ref));
      if (!found.ok) return found.reason;
      const next = change(found.value);
      const written = await this.#reach(() => this.#context.client.update(kind, next));
      if (written.ok && next === found.value && written.value.metadata.resourceVersion !== next.metadata.resourceVersion)
        this.#context.onViolation({ invariant: 'a write that changes nothing is not stored', what: `${kind.plural} ${ref.name} was written as it was` });
      if (written.ok || written.reason !== 'conflict') return ending(written);
    }
    return 'gave up';
  }

  /** Retries until the server answers. */
  async #reach<T>(ask: () => Promise<Result<T>>): Promise<Result<T>> {
    for (;;) {
      const result = await ask();
      if (result.ok || (result.reason !== 'unreachable' && result.error.code < 500)) return result;
      await this.#context.world.sleep(1_000);
    }
  }
}

function without<T extends object, K extends keyof T>(object: T, field: K): Omit<T, K> {
  const copy: Partial<T> = { ...object };
  delete copy[field];
  return copy as Omit<T, K>;
}

const ending = (result: Result<unknown>): string => (result.ok ? 'done' : result.reason);

const inDefault = (name: string) => ({ namespace: 'default', name });

const gi = (size: number) => ({ requests: { storage: `${size}Gi` } });

interface ClaimWish {
  readonly sizeGi: number;
  readonly storageClass: string;
  readonly mode: AccessMode;
  readonly volume?: string;
  readonly from?: DataSourceChoice;
}

const claimSpec = ({ sizeGi, storageClass, mode, volume, from }: ClaimWish): Draft<PersistentVolumeClaim['spec']> => ({
  accessModes: [mode],
  resources: gi(sizeGi),
  storageClassName: storageClass,
  ...(volume === undefined ? {} : { volumeName: volume }),
  ...(from === undefined ? {} : { dataSourceRef: dataSources[from] }),
});

const dataSources = {
  claim: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'claim-1' },
  snapshot: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'before' },
  backup: { apiGroup: 'example.com', kind: 'Backup', name: 'monday' },
} satisfies Record<DataSourceChoice, TypedObjectReference>;

const resized = (claim: PersistentVolumeClaim, sizeGi: number): PersistentVolumeClaim => ({
  ...claim,
  spec: { ...claim.spec, resources: { ...claim.spec.resources, ...gi(sizeGi) } },
});

const podSpec = (claims: readonly string[], cpu?: number): Draft<Pod['spec']> => ({
  terminationGracePeriodSeconds: 1,
  containers: [
    {
      name: 'app',
      image: 'app',
      volumeMounts: claims.map((claim) => ({ name: claim, mountPath: `/${claim}` })),
      ...(cpu === undefined ? {} : { resources: { requests: { cpu: String(cpu) } } }),
    },
  ],
  volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
});

const statefulSet = ({ name, replicas, storageClass, deletesClaims }: Extract<UserAction, { do: 'create-stateful-set' }>): Draft<StatefulSet> => ({
  metadata: inDefault(name),
  spec: {
    serviceName: name,
    replicas,
    selector: { matchLabels: { app: name } },
    persistentVolumeClaimRetentionPolicy: deletesClaims ? { whenDeleted: 'Delete', whenScaled: 'Delete' } : { whenDeleted: 'Retain', whenScaled: 'Retain' },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'app', image: 'app', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
    },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec({ sizeGi: 1, storageClass, mode: 'ReadWriteOnce' }) }],
  },
});

const deployment = ({ name, replicas, claim }: Extract<UserAction, { do: 'create-deployment' }>): Draft<Deployment> => ({
  metadata: inDefault(name),
  spec: { replicas, selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: podSpec([claim]) } },
});
