/** StatefulSets on the real registry, in simulated time; the test acts as kubelet. */
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../src/api/generated/types.ts';
import { eventKind } from '../../../src/api/kinds/core/event.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { controllerRevisionKind } from '../../../src/api/kinds/apps/controller-revision.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { statefulSetKind } from '../../../src/api/kinds/apps/stateful-set.ts';
import { timestamp } from '../../../src/api/kinds/timestamps.ts';
import type { Kind } from '../../../src/api/kind.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { createClient, type Draft, type Result } from '../../../src/client/client.ts';
import { Informers } from '../../../src/client/informers/informers.ts';
import { type LoopOptions, runController } from '../../../src/client/controller/loop.ts';
import { EventRecorder } from '../../../src/client/events/event-recorder.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { SimulatedWorld } from '../../../src/sim/world/world.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { eventSources } from '../../../src/cluster/controllers/event-sources.ts';
import { statefulSetController } from '../../../src/controllers/workloads/stateful-set/controller.ts';
import type { World } from '../../../src/world/world.ts';
import { startTestCluster, type TestCluster } from '../../client/test-cluster.ts';

export const inDefault = (name: string) => ({ namespace: 'default', name });

export const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};

export const claimTemplate = (name: string, storage = '1Gi'): Draft<PersistentVolumeClaim> => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});

export function setDraft(replicas: number, spec: Draft<StatefulSet['spec']> = {}, annotations: Record<string, string> = {}): Draft<StatefulSet> {
  return {
    metadata: { ...inDefault('web'), annotations },
    spec: {
      replicas,
      serviceName: 'front',
      selector: { matchLabels: { app: 'web' } },
      template: templateOf('v1'),
      volumeClaimTemplates: [claimTemplate('data')],
      ...spec,
    },
  };
}

const templateOf = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', image }] },
});

/** A spec with another image. */
export const withImage = (image: string): Draft<StatefulSet['spec']> => ({ template: templateOf(image) });

export function startController(transport: Transport, world: World, onAction?: NonNullable<LoopOptions['onAction']>): void {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const recorder = new EventRecorder({ world, client, eventKind, component: eventSources['statefulset-controller'] });
  runController(statefulSetController({ client, informers, recorder }), { world, informers, ...(onAction === undefined ? {} : { onAction }) });
  informers.start();
}

export class SetCluster {
  readonly cluster: TestCluster;
  readonly world: SimulatedWorld;

  constructor(cluster: TestCluster, world: SimulatedWorld) {
    this.cluster = cluster;
    this.world = world;
  }

  /** Waits until the controllers have settled. */
  settle(ms = 200): Promise<void> {
    return this.world.sleep(ms);
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: Draft<T>): Promise<T> {
    const made = ok(await this.cluster.client.create(kind, object));
    await this.settle();
    return made;
  }

  async list<T extends KubeObject>(kind: Kind<T>): Promise<readonly T[]> {
    return ok(await this.cluster.client.list(kind, { namespace: 'default' })).items;
  }

  async get<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T> {
    return ok(await this.cluster.client.get(kind, inDefault(name)));
  }

  set(): Promise<StatefulSet> {
    return this.get(statefulSetKind, 'web');
  }

  async change<T extends KubeObject>(kind: Kind<T>, name: string, change: (object: T) => T): Promise<void> {
    ok(await this.cluster.client.update(kind, change(await this.get(kind, name))));
    await this.settle();
  }

  async changeSet(spec: Draft<StatefulSet['spec']>): Promise<void> {
    ok(await this.cluster.client.patch(statefulSetKind, inDefault('web'), { type: 'merge', body: { spec } }));
    await this.settle();
  }

  async delete<T extends KubeObject>(kind: Kind<T>, name: string): Promise<void> {
    ok(await this.cluster.client.delete(kind, inDefault(name)));
    await this.settle();
  }

  /** At once: the protection controller does not run here. */
  async removeClaim(name: string): Promise<void> {
    await this.change(persistentVolumeClaimKind, name, (claim) => {
      const { finalizers: _, ...metadata } = claim.metadata;
      return { ...claim, metadata };
    });
    // Pods that were deleted before are gone by now.
    await this.cluster.client.delete(persistentVolumeClaimKind, inDefault(name));
    await this.settle();
  }

  /** As the binder would, with a volume of the requested size. */
  async bind(name: string): Promise<void> {
    const claim = await this.get(persistentVolumeClaimKind, name);
    const { storage = '' } = claim.spec.resources.requests ?? {};
    const volumeName = claim.spec.volumeName ?? `volume-of-${name}`;
    if (claim.spec.volumeName === undefined) ok(await this.cluster.client.update(persistentVolumeClaimKind, { ...claim, spec: { ...claim.spec, volumeName } }));
    const status = { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage } };
    ok(await this.cluster.client.patch(persistentVolumeClaimKind, inDefault(name), { type: 'merge', body: { status } }, { subresource: 'status' }));
    await this.settle();
  }

  /** As the kubelet would after starting it. */
  async phase(name: string, phase = 'Running'): Promise<void> {
    const pod = await this.get(podKind, name);
    const ready = { type: 'Ready', status: phase === 'Running' ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: timestamp(this.world.clock.now()) };
    ok(await this.cluster.client.updateStatus(podKind, { ...pod, status: { ...pod.status, phase, conditions: [ready] } }));
    await this.settle();
  }

  /** Starts pending pods until there are none. */
  async runAll(): Promise<void> {
    for (let rounds = 0; rounds < 100; rounds++) {
      const pending = (await this.list(podKind)).filter(({ status }) => status.phase === 'Pending');
      if (pending.length === 0) return;
      for (const { metadata } of pending) await this.phase(metadata.name ?? '');
    }
    throw new Error('there is always another pod that is pending');
  }

  /** 'web-0 Running' */
  async pods(): Promise<readonly string[]> {
    return (await this.list(podKind)).map(({ metadata, status }) => `${metadata.name ?? ''} ${status.phase ?? ''}`);
  }

  /** 'web-0 v1' */
  async images(): Promise<readonly string[]> {
    return (await this.list(podKind)).map(({ metadata, spec }) => `${metadata.name ?? ''} ${spec.containers?.[0]?.image ?? ''}`);
  }

  /** 'data-web-0', or 'data-web-0 of StatefulSet web' */
  async claims(): Promise<readonly string[]> {
    return (await this.list(persistentVolumeClaimKind)).map(({ metadata }) =>
      [metadata.name, ...(metadata.ownerReferences ?? []).map(({ kind, name }) => `of ${kind} ${name}`)].join(' '),
    );
  }

  /** 'Normal SuccessfulCreate: …', in order of their time and name. */
  async events(): Promise<readonly string[]> {
    return (await this.list(eventKind)).map(({ type, reason, message }) => `${type ?? ''} ${reason ?? ''}: ${message ?? ''}`);
  }

  /** '1 v1', by revision. */
  async revisions(): Promise<readonly string[]> {
    const image = (data: unknown) => (data as { spec: { template: Pod } }).spec.template.spec.containers?.[0]?.image ?? '';
    return (await this.list(controllerRevisionKind)).toSorted((a, b) => a.revision - b.revision).map(({ revision, data }) => `${revision} ${image(data)}`);
  }
}

/** Runs a test with the controller. */
export const inSetCluster = (story: (cluster: SetCluster) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
    startController(cluster.transport, world);
    await world.sleep(1);
    await story(new SetCluster(cluster, world));
  });
