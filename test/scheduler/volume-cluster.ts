/** A simulated cluster: the real registry, the storage controllers and the scheduler, each in its own process. */
import { allKinds } from '../../src/api/kinds/index.ts';
import { eventKind, eventsEventKind } from '../../src/api/kinds/core/event.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import type { Kind } from '../../src/api/kind.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { BindMode } from '../../src/storage/binder/actions.ts';
import { createInProcessTransport } from '../../src/cluster/access/in-process-transport.ts';
import { type Client, createClient, type Draft, type Result } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { EventSeriesRecorder } from '../../src/client/events/event-series-recorder.ts';
import type { Transport, TransportRequest } from '../../src/client/transport.ts';
import { defaultPlugins } from '../../src/scheduler/plugins/index.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { volumePlugins } from '../../src/scheduler/plugins/volume-plugins.ts';
import { allowAuthenticated } from '../../src/sim/cluster/access.ts';
import { createApi } from '../../src/apiserver/create-api.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import type { SimulatedWorld } from '../../src/sim/world/world.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { pod, pv, pvc, storageClass } from '../storage/objects.ts';
import { FakeBackend } from '../storage/fake-backend.ts';
import { runStorage, type StorageCluster } from '../storage/storage-cluster.ts';
import { node, reachedFrom, within, zone } from './small-cluster.ts';

const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};

export class VolumeCluster implements StorageCluster {
  readonly store = openMemoryStore();
  readonly backend = new FakeBackend();
  readonly mode: BindMode;
  readonly world: SimulatedWorld;
  readonly transport: Transport;
  readonly client: Client;
  readonly schedulers: Scheduler[] = [];

  constructor(world: SimulatedWorld, mode: BindMode) {
    this.world = world;
    this.mode = mode;
    const api = createApi({ store: this.store, world, kinds: allKinds, extensions: mode === 'plain' ? undefined : { authorizer: allowAuthenticated } });
    this.transport = createInProcessTransport(api, { name: 'test', groups: ['system:masters'] }, 'test');
    this.client = createClient({ transport: this.transport });
  }

  /** Starts the storage controllers, but no scheduler. */
  static async start(world: SimulatedWorld, mode: BindMode): Promise<VolumeCluster> {
    const cluster = new VolumeCluster(world, mode);
    ok(await cluster.client.create(namespaceKind, { metadata: { name: 'default' } }));
    ok(await cluster.client.create(serviceAccountKind, { metadata: { name: 'default', namespace: 'default' } }));
    runStorage(cluster, new SimulatedProcess(world, 'controllers'));
    return cluster;
  }

  /** Starts a scheduler that can be killed. `through`: wraps its transport. */
  schedule(name: string, through: (server: Transport) => Transport = (server) => server): SimulatedProcess {
    const process = new SimulatedProcess(this.world, name);
    const transport = process.transport(through(this.transport));
    const informers: Informers = new Informers({ world: process, client: createClient({ transport }) });
    const client = createClient({ transport, observer: informers.observer });
    const recorder = new EventSeriesRecorder({ world: process, client, eventKind: eventsEventKind, controller: 'default-scheduler', instance: name });
    const plugins = defaultPlugins(volumePlugins({ bindsTogether: this.mode === 'transaction' }));
    const scheduler = new Scheduler({ world: process, client, informers, recorder, plugins });
    informers.start();
    this.schedulers.push(scheduler);
    return process;
  }

  async #make<T extends KubeObject>(kind: Kind<T>, { metadata, ...rest }: T): Promise<void> {
    const { uid: _, creationTimestamp: __, resourceVersion: ___, ...kept } = metadata;
    ok(await this.client.create(kind, { ...rest, metadata: kept } as Draft<T>));
  }

  async node(name: string, inZone: string): Promise<void> {
    const made = node(name, { [zone]: inZone });
    ok(await this.client.create(nodeKind, { metadata: made.metadata }));
    const found = ok(await this.client.get(nodeKind, { name }));
    ok(await this.client.updateStatus(nodeKind, { ...found, status: { ...found.status, ...made.status } }));
  }

  class(provisioner: string): Promise<void> {
    return this.#make(storageClassKind, storageClass('class', { provisioner, volumeBindingMode: 'WaitForFirstConsumer' }));
  }

  volume(name: string, size: string, inZone: string): Promise<void> {
    return this.#make(persistentVolumeKind, pv(name, size, { spec: reachedFrom([within(zone, inZone)]) }));
  }

  claim(name: string, size = '1Gi', modes: readonly string[] = ['ReadWriteOnce']): Promise<void> {
    return this.#make(persistentVolumeClaimKind, pvc(name, size, { spec: { accessModes: [...modes] } }));
  }

  pod(name: string, ...claims: readonly string[]): Promise<void> {
    const { metadata, spec } = pod(name, claims);
    return this.#make(podKind, { ...pod(name, claims), metadata, spec: { ...spec, containers: [{ name: 'app', image: 'pause', resources: {} }] } });
  }

  /** 'pod/web n1', 'pvc/data Bound vol', 'pv/vol Bound data': sorted. */
  async summary(): Promise<readonly string[]> {
    const [volumes, claims, pods] = await Promise.all([
      this.client.list(persistentVolumeKind),
      this.client.list(persistentVolumeClaimKind),
      this.client.list(podKind),
    ]);
    const words = (...parts: readonly (string | undefined)[]) => parts.filter((part) => part !== undefined).join(' ');
    return [
      ...ok(volumes).items.map(({ metadata, spec, status }) => words(`pv/${metadata.name ?? ''}`, status.phase, spec.claimRef?.name)),
      ...ok(claims).items.map(({ metadata, spec, status }) => words(`pvc/${metadata.name ?? ''}`, status.phase, spec.volumeName)),
      ...ok(pods).items.map(({ metadata, spec }) => words(`pod/${metadata.name ?? ''}`, spec.nodeName ?? 'nowhere')),
    ].sort();
  }

  /** The distinct Events of pods. */
  async eventsOf(reason: string): Promise<readonly string[]> {
    const events = ok(await this.client.list(eventKind)).items.filter((event) => event.reason === reason);
    return [...new Set(events.map(({ involvedObject, message }) => `${involvedObject.name ?? ''}: ${message ?? ''}`))].sort();
  }

  /** The cluster has no pvc-protection controller, so finalizers are removed here. */
  async dropClaim(name: string): Promise<void> {
    const at = { namespace: 'default', name };
    ok(await this.client.patch(persistentVolumeClaimKind, at, { type: 'merge', body: { metadata: { finalizers: null } } }));
    ok(await this.client.delete(persistentVolumeClaimKind, at));
  }

  async claimNamed(name: string) {
    return ok(await this.client.get(persistentVolumeClaimKind, { namespace: 'default', name }));
  }
}

/** Requests that change something, apart from events: those do not matter. */
export const isWrite = ({ method, path }: TransportRequest): boolean => method !== 'GET' && !path.includes('/events');

/** Runs `before` once, right before the first write to a path that matches. */
export const interrupting =
  (path: RegExp, before: () => Promise<void>) =>
  (server: Transport): Transport => {
    let done = false;
    return {
      ...server,
      watch: (request, sink) => server.watch(request, sink),
      send: async (request) => {
        if (!done && isWrite(request) && path.test(request.path)) {
          done = true;
          await before();
        }
        return server.send(request);
      },
    };
  };

/** Holds watch events under a matching path back, until they are released. */
export function deafTo(path: RegExp): { readonly through: (server: Transport) => Transport; readonly letGo: () => void } {
  let held: (() => void)[] | undefined = [];
  return {
    through: (server) => ({
      send: (request) => server.send(request),
      watch: (request, sink) => {
        if (!path.test(request.path)) return server.watch(request, sink);
        const later = (news: () => void) => (held === undefined ? news() : void held.push(news));
        return server.watch(request, { events: (batch) => later(() => sink.events(batch)), end: (error) => later(() => sink.end(error)) });
      },
    }),
    letGo: () => {
      const news = held ?? [];
      held = undefined;
      for (const each of news) each();
    },
  };
}
