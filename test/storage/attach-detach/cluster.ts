/** A simulated cluster with the attach/detach controllers, in which tests play the binder, the kubelets and the users. */
import { createHash } from 'node:crypto';
import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../../../src/api/generated/types.ts';
import type { Kind } from '../../../src/api/kind.ts';
import { csiDriverKind } from '../../../src/api/kinds/storage/csi-driver.ts';
import { eventKind } from '../../../src/api/kinds/core/event.ts';
import { leaseKind } from '../../../src/api/kinds/coordination/lease.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../../src/api/kinds/core/persistent-volume.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { volumeAttachmentKind } from '../../../src/api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { attachDetach } from '../../../src/storage/attach-detach/controller.ts';
import { type Client, createClient, type Draft, type Fence, type Ref, type Result } from '../../../src/client/client.ts';
import { type RunningControllers, runLeaderElectedControllers, type Stoppable } from '../../../src/client/controller/leader-elected-controllers.ts';
import { Informers } from '../../../src/client/informers/informers.ts';
import { type LoopOptions, runController } from '../../../src/client/controller/loop.ts';
import { RecordedEvents } from '../../../src/client/events/event-dedup.ts';
import { EventRecorder } from '../../../src/client/events/event-recorder.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { World } from '../../../src/world/world.ts';
import { startTestCluster } from '../../client/test-cluster.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export function runAttachDetach(transport: Transport, world: World, more: Partial<LoopOptions> & { readonly fence?: () => Fence } = {}): readonly Stoppable[] {
  const { fence, ...options } = more;
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer, ...(fence === undefined ? {} : { fence }) });
  const recorder = new EventRecorder({ world, client, eventKind, component: 'attachdetach-controller' });
  const { attacher, detacher } = attachDetach({ client, informers, events: new RecordedEvents(recorder, world.clock), clock: world.clock, sha256 });
  const loops = [runController(attacher, { world, informers, ...options }), runController(detacher, { world, informers, ...options })];
  informers.start();
  return [...loops, recorder, informers];
}

/** Takes the lease from the leader before it, and does not know that another will take it too. */
export function runLedAttachDetach(transport: Transport, world: World, identity: string): RunningControllers {
  return runLeaderElectedControllers({
    election: { world, client: createClient({ transport }), leaseKind, lease: { namespace: 'default', name: 'leader' }, identity, takeOver: true },
    start: ({ fence, deposed }) => runAttachDetach(transport, world, { fence: () => fence, onDeposed: deposed }),
  });
}

export const managed = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
export const uniqueName = (volume: string): string => `kubernetes.io/csi/driver^handle-${volume}`;
export const attachmentName = (volume: string, node: string): string => `csi-${sha256(`handle-${volume}driver${node}`)}`;

const inDefault = (name: string) => ({ namespace: 'default', name });

/** What people, kubelets and the binder do. Everything fails the test if the server refuses it. */
export class Cluster {
  readonly transport: Transport;
  readonly client: Client;
  readonly revision: () => number;

  static async start(world: World): Promise<Cluster> {
    const { transport, client, store } = await startTestCluster(world);
    const cluster = new Cluster(transport, client, () => store.revision());
    await cluster.#done(client.create(serviceAccountKind, { metadata: inDefault('default') }));
    return cluster;
  }

  private constructor(transport: Transport, client: Client, revision: () => number) {
    this.transport = transport;
    this.client = client;
    this.revision = revision;
  }

  async node(name: string, annotations: Record<string, string> = managed): Promise<void> {
    await this.#done(this.client.create(nodeKind, { metadata: { name, annotations }, status: { conditions: [{ type: 'Ready', status: 'True' }] } }));
  }

  async driver(attachRequired: boolean): Promise<void> {
    await this.#done(this.client.create(csiDriverKind, { metadata: { name: 'driver' }, spec: { attachRequired, podInfoOnMount: false } }));
  }

  /** A volume and a claim of the same name, bound to each other. */
  async volume(name: string, accessMode = 'ReadWriteOnce', source: Draft<PersistentVolume['spec']> = {}): Promise<void> {
    await this.claim(name, accessMode);
    await this.#done(
      this.client.create(persistentVolumeKind, {
        metadata: { name },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: [accessMode],
          ...(Object.keys(source).length > 0 ? source : { csi: { driver: 'driver', volumeHandle: `handle-${name}` } }),
        },
      }),
    );
    await this.bind(name, name);
  }

  async claim(name: string, accessMode = 'ReadWriteOnce'): Promise<void> {
    await this.#done(
      this.client.create(persistentVolumeClaimKind, {
        metadata: inDefault(name),
        spec: { accessModes: [accessMode], resources: { requests: { storage: '1Gi' } }, storageClassName: '' },
      }),
    );
  }

  async bind(claim: string, volume: string): Promise<void> {
    const { metadata } = await this.#done(this.client.get(persistentVolumeClaimKind, inDefault(claim)));
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'default', name: claim, uid: metadata.uid ?? '' };
    await this.change(persistentVolumeKind, { name: volume }, (pv) => ({ ...pv, spec: { ...pv.spec, claimRef } }));
    await this.change(persistentVolumeClaimKind, inDefault(claim), (pvc) => ({ ...pvc, spec: { ...pvc.spec, volumeName: volume } }));
    await this.changeStatus(persistentVolumeClaimKind, inDefault(claim), (pvc) => ({ ...pvc, status: { ...pvc.status, phase: 'Bound' } }));
  }

  async pod(name: string, node: string, ...claims: readonly string[]): Promise<void> {
    await this.#done(
      this.client.create(podKind, {
        metadata: inDefault(name),
        spec: {
          nodeName: node,
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'app', image: 'image' }],
          volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
        },
      }),
    );
  }

  async podStatus(name: string, status: Partial<Pod['status']>): Promise<void> {
    await this.changeStatus(podKind, inDefault(name), (pod) => ({ ...pod, status: { ...pod.status, ...status } }));
  }

  async deletePod(name: string, gracePeriodSeconds = 0): Promise<void> {
    await this.#done(this.client.delete(podKind, inDefault(name), { gracePeriodSeconds }));
  }

  /** As a kubelet reports. */
  async report(node: string, change: Partial<Node['status']>): Promise<void> {
    await this.changeStatus(nodeKind, { name: node }, (before) => ({ ...before, status: { ...before.status, ...change } }));
  }

  inUse(node: string, ...volumes: readonly string[]): Promise<void> {
    return this.report(node, { volumesInUse: volumes.map(uniqueName) });
  }

  /** As an external attacher answers: with its finalizer first. */
  async attached(volume: string, node: string): Promise<void> {
    const name = attachmentName(volume, node);
    await this.change(volumeAttachmentKind, { name }, (va) => ({ ...va, metadata: { ...va.metadata, finalizers: ['external-attacher/driver'] } }));
    await this.answer(volume, node, { attached: true });
  }

  async answer(volume: string, node: string, status: VolumeAttachment['status']): Promise<void> {
    await this.changeStatus(volumeAttachmentKind, { name: attachmentName(volume, node) }, (va) => ({ ...va, status }));
  }

  async detached(volume: string, node: string): Promise<void> {
    const name = attachmentName(volume, node);
    await this.change(volumeAttachmentKind, { name }, (va) => ({ ...va, metadata: { ...va.metadata, finalizers: [] } }));
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<void> {
    await this.#done(this.client.delete(kind, ref));
  }

  async change<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T): Promise<void> {
    await this.#rewrite(kind, ref, change, (object) => this.client.update(kind, object));
  }

  async changeStatus<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T): Promise<void> {
    await this.#rewrite(kind, ref, change, (object) => this.client.updateStatus(kind, object));
  }

  /** 'va/vol@n1 attached deleting', 'node/n1 vol in use: vol': sorted. */
  async look(): Promise<string[]> {
    const attachments = await this.#done(this.client.list(volumeAttachmentKind));
    const nodes = await this.#done(this.client.list(nodeKind));
    const short = (name: string) => name.replace(/^kubernetes\.io\/csi\/driver\^handle-/, '');
    return [
      ...attachments.items.map(({ metadata, spec, status }) =>
        words(`va/${spec.source.persistentVolumeName}@${spec.nodeName}`, status.attached && 'attached', metadata.deletionTimestamp !== undefined && 'deleting'),
      ),
      ...nodes.items.map(({ metadata, status: { volumesAttached = [], volumesInUse = [] } }) =>
        words(
          `node/${metadata.name}`,
          ...volumesAttached.map(({ name }) => short(name)).sort(),
          volumesInUse.length > 0 && `in use: ${volumesInUse.map(short).join(' ')}`,
        ),
      ),
    ].sort();
  }

  /** 'web SuccessfulAttachVolume: …', sorted. */
  async events(): Promise<string[]> {
    const events = await this.#done(this.client.list(eventKind));
    return events.items.map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason}: ${message}`).sort();
  }

  async attachments(): Promise<readonly VolumeAttachment[]> {
    return (await this.#done(this.client.list(volumeAttachmentKind))).items;
  }

  /** Others write too: once more, if need be. */
  async #rewrite<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T, write: (object: T) => Promise<Result<T>>): Promise<void> {
    for (;;) {
      const written = await write(change(await this.#done(this.client.get(kind, ref))));
      if (written.ok) return;
      if (written.reason !== 'conflict') throw written.error;
    }
  }

  async #done<T>(result: Promise<Result<T>>): Promise<T> {
    const { ok, ...rest } = await result;
    if (ok && 'value' in rest) return rest.value;
    throw 'error' in rest ? rest.error : new Error('no answer');
  }
}

const words = (...parts: readonly (string | false)[]): string => parts.filter((part) => part !== false && part !== '').join(' ');
