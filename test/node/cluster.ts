/** A simulated cluster with hollow nodes, in which tests play the binder, the scheduler and the users. */
import { createHash } from 'node:crypto';
import type { Event, PersistentVolume, Pod } from '../../src/api/generated/types.ts';
import type { Kind } from '../../src/api/kind.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { Client, Draft, Ref, Result } from '../../src/client/client.ts';
import type { LoopOptions } from '../../src/client/controller/loop.ts';
import type { Transport } from '../../src/client/transport.ts';
import { hollowHosts, type HollowSettings } from '../../src/node/runtimes/hollow/hosts.ts';
import { type HollowNodes, runHollowNodes } from '../../src/node/hollow-nodes.ts';
import type { Host } from '../../src/node/host.ts';
import type { SimulatedWorld } from '../../src/sim/world/world.ts';
import type { World } from '../../src/world/world.ts';
import { startTestCluster } from '../client/test-cluster.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const machine = { kernelVersion: '6.1', osImage: 'test', containerRuntimeVersion: 'hollow://test', kubeletVersion: 'v1.36.4', architecture: 'amd64' };

export const settings: HollowSettings = {
  count: 2,
  zones: ['zone-a', 'zone-b'],
  region: 'local',
  capacity: { cpu: '4', memory: '8Gi', pods: '10', 'ephemeral-storage': '100Gi' },
  volumeLimit: 3,
  drivers: ['driver'],
};

export const hostsOf = (changes: Partial<HollowSettings> = {}): ReadonlyMap<string, Host> => hollowHosts({ ...settings, ...changes }, machine, sha256);

const inDefault = (name: string) => ({ namespace: 'default', name });

export interface NodesOptions {
  readonly world: World;
  readonly settings?: Partial<HollowSettings>;
  readonly through?: (server: Transport) => Transport;
  readonly onAction?: LoopOptions['onAction'];
}

/** What users and other controllers do. A refused request fails the test. */
export class NodeCluster {
  readonly client: Client;
  readonly transport: Transport;
  readonly world: SimulatedWorld;

  static async start(world: SimulatedWorld): Promise<NodeCluster> {
    const { transport, client } = await startTestCluster(world);
    const cluster = new NodeCluster(world, transport, client);
    await cluster.create(namespaceKind, { metadata: { name: 'kube-node-lease' } });
    await cluster.create(serviceAccountKind, { metadata: inDefault('default') });
    await cluster.create(configMapKind, { metadata: inDefault('kube-root-ca.crt'), data: { 'ca.crt': 'PEM' } });
    return cluster;
  }

  private constructor(world: SimulatedWorld, transport: Transport, client: Client) {
    this.world = world;
    this.transport = transport;
    this.client = client;
  }

  /** An agent of all nodes. */
  run({ world, settings: changes, through = (server) => server, onAction }: NodesOptions): HollowNodes {
    const transport = through(this.transport);
    return runHollowNodes({
      world,
      hosts: hostsOf(changes),
      readTransport: transport,
      eventTransport: transport,
      transportOf: () => transport,
      sha256,
      ...(onAction === undefined ? {} : { onAction }),
    });
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: Draft<T>): Promise<T> {
    return ok(await this.client.create(kind, object));
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<T> {
    return ok(await this.client.get(kind, ref));
  }

  async find<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<T | undefined> {
    const found = await this.client.get(kind, ref);
    return found.ok ? found.value : undefined;
  }

  async change<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T): Promise<void> {
    await this.#rewrite(kind, ref, change, (object) => this.client.update(kind, object));
  }

  async changeStatus<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T): Promise<void> {
    await this.#rewrite(kind, ref, change, (object) => this.client.updateStatus(kind, object));
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, gracePeriodSeconds?: number): Promise<void> {
    ok(await this.client.delete(kind, ref, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }));
  }

  /** On node-1, with one container `app`, unless given. */
  async pod(name: string, spec: Draft<Pod['spec']> = {}, annotations: Record<string, string> = {}): Promise<Pod> {
    return this.create(podKind, {
      metadata: { ...inDefault(name), annotations },
      spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'nginx' }], ...spec },
    });
  }

  /** The same with claims, each mounted by the container. */
  async podWith(name: string, claims: readonly string[], spec: Draft<Pod['spec']> = {}, annotations: Record<string, string> = {}): Promise<Pod> {
    const mounting: Draft<Pod['spec']> = {
      containers: [{ name: 'app', image: 'nginx', volumeMounts: claims.map((claim) => ({ name: claim, mountPath: `/${claim}` })) }],
      volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    };
    return this.pod(name, { ...mounting, ...spec }, annotations);
  }

  getPod(name: string): Promise<Pod> {
    return this.get(podKind, inDefault(name));
  }

  findPod(name: string): Promise<Pod | undefined> {
    return this.find(podKind, inDefault(name));
  }

  deletePod(name: string, gracePeriodSeconds?: number): Promise<void> {
    return this.delete(podKind, inDefault(name), gracePeriodSeconds);
  }

  /** An unbound claim. */
  async claim(name: string, accessMode = 'ReadWriteOnce'): Promise<void> {
    await this.create(persistentVolumeClaimKind, {
      metadata: inDefault(name),
      spec: { accessModes: [accessMode], resources: { requests: { storage: '1Gi' } }, storageClassName: '' },
    });
  }

  /** A claim and a volume of the same name, bound to each other. */
  async volume(name: string, spec: Draft<PersistentVolume['spec']> = {}): Promise<void> {
    const accessMode = spec.accessModes?.[0] ?? 'ReadWriteOnce';
    await this.claim(name, accessMode);
    await this.create(persistentVolumeKind, draftVolume(name, spec));
    await this.bind(name);
  }

  async bind(name: string): Promise<void> {
    const { metadata } = await this.get(persistentVolumeClaimKind, inDefault(name));
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'default', name, uid: metadata.uid ?? '' };
    await this.change(persistentVolumeKind, { name }, (pv) => ({ ...pv, spec: { ...pv.spec, claimRef } }));
    await this.change(persistentVolumeClaimKind, inDefault(name), (pvc) => ({ ...pvc, spec: { ...pvc.spec, volumeName: name } }));
    await this.changeStatus(persistentVolumeClaimKind, inDefault(name), (pvc) => ({ ...pvc, status: { ...pvc.status, phase: 'Bound' } }));
  }

  async inUse(node = 'node-1'): Promise<readonly string[]> {
    return ((await this.get(nodeKind, { name: node })).status.volumesInUse ?? []).map((name) => name.replace(/.*\^/, ''));
  }

  /** 'web Started: Container started', in the order in which they were written. */
  async events(about?: string): Promise<string[]> {
    const events = [...ok(await this.client.list(eventKind)).items].sort((a, b) => order(a) - order(b));
    return events
      .filter(({ involvedObject }) => about === undefined || involvedObject.name === about)
      .map(
        ({ involvedObject, reason, message, count }) =>
          `${about === undefined ? `${involvedObject.name} ` : ''}${reason}: ${message}${count === 1 ? '' : ` ×${count}`}`,
      );
  }

  /** Retries after a conflict. */
  async #rewrite<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T, write: (object: T) => Promise<Result<T>>): Promise<void> {
    for (;;) {
      const written = await write(change(await this.get(kind, ref)));
      if (written.ok) return;
      if (written.reason !== 'conflict') throw written.error;
    }
  }
}

const order = ({ metadata }: Event): number => Number(metadata.resourceVersion);

function draftVolume(name: string, spec: Draft<PersistentVolume['spec']>): Draft<PersistentVolume> {
  const source = 'csi' in spec || 'hostPath' in spec ? {} : { csi: { driver: 'driver', volumeHandle: `handle-${name}` } };
  return { metadata: { name }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source, ...spec } };
}

export function ok<T>(result: Result<T>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

/** 'Ready=True', 'Ready=False ContainersNotReady' … */
export const conditions = ({ status }: Pod): string[] =>
  (status.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is}${reason === undefined ? '' : ` ${reason}`}`);
