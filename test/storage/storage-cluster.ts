/** A simulated cluster: the real registry, the storage controllers, and a backend that outlives every process. */
import { untypedKind } from '../../src/api/kind.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { storageAndCoreKinds } from '../../src/api/kinds/core-and-storage-kinds.ts';
import { volumeIntentKind } from '../../src/api/kinds/mooring/volume-intent.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { runtimeClassKind } from '../../src/api/kinds/node/runtime-class.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { provisioner } from '../../src/storage/provisioner/controller.ts';
import { reclaimer } from '../../src/storage/reclaimer/controller.ts';
import type { BindMode } from '../../src/storage/binder/actions.ts';
import { volumeBinder } from '../../src/storage/binder/controller.ts';
import { eventSources } from '../../src/cluster/controllers/event-sources.ts';
import { VolumesView } from '../../src/storage/volumes/view.ts';
import { createInProcessTransport } from '../../src/cluster/access/in-process-transport.ts';
import { type Client, createClient, type VolumeClaimBinding } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { Trigger, type ControllerLoop, type LoopOptions, runController } from '../../src/client/controller/loop.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import { RecordedEvents } from '../../src/client/events/event-dedup.ts';
import type { Transport } from '../../src/client/transport.ts';
import { allowAuthenticated } from '../../src/sim/cluster/access.ts';
import { createApi } from '../../src/apiserver/create-api.ts';
import type { Store } from '../../src/store/contract.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import type { World } from '../../src/world/world.ts';
import { FakeBackend } from './fake-backend.ts';

export interface StorageCluster {
  readonly store: Store;
  readonly transport: Transport;
  readonly client: Client;
  readonly backend: FakeBackend;
  readonly mode: BindMode;
}

export async function startStorageCluster(world: World, mode: BindMode = 'transaction'): Promise<StorageCluster> {
  const store = openMemoryStore();
  const kinds = [...storageAndCoreKinds, untypedKind(podKind), untypedKind(runtimeClassKind), untypedKind(volumeIntentKind)];
  const api = createApi({ store, world, kinds, extensions: mode === 'plain' ? undefined : { authorizer: allowAuthenticated } });
  const transport = createInProcessTransport(api, { name: 'test', groups: ['system:masters'] }, 'test');
  const client = createClient({ transport });
  const made = await client.create(namespaceKind, { metadata: { name: 'default' } });
  if (!made.ok) throw made.error;
  // Pods, scrubbers too, need one.
  const account = await client.create(serviceAccountKind, { metadata: { name: 'default', namespace: 'default' } });
  if (!account.ok) throw account.error;
  return { store, transport, client, backend: new FakeBackend(), mode };
}

/** One process with all three controllers. */
export function runStorage(
  cluster: Pick<StorageCluster, 'transport' | 'backend' | 'mode'>,
  world: World,
  more: Partial<LoopOptions> = {},
): readonly ControllerLoop[] {
  const { transport, backend, mode } = cluster;
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const view = new VolumesView();
  informers.cache(persistentVolumeKind).subscribe(({ before, after }) => void view.changeVolume(before, after));
  informers.cache(persistentVolumeClaimKind).subscribe(({ before, after }) => void view.changeClaim(before, after));
  const recordedEvents = () =>
    new RecordedEvents(new EventRecorder({ world, client, eventKind, component: eventSources['persistent-volume-binder'] }), world.clock);
  const common = {
    client,
    informers,
    view,
    world,
    clock: world.clock,
    log: world.log,
    provisionTrigger: new Trigger<string>(),
    bindTrigger: new Trigger<string>(),
  };
  const options = { world, informers, ...more };
  const making = {
    facts: (name: string) => backend.driver(name),
    onChange: () => () => undefined,
    create: async (intent: Parameters<FakeBackend['create']>[0]) => backend.create(intent),
    delete: async (_: string, { handle }: { readonly handle: string }) => backend.delete(handle),
  };
  const deleting = {
    onChange: making.onChange,
    facts: making.facts,
    delete: async (_: string, source: Parameters<FakeBackend['handleOf']>[0]) => backend.delete(backend.handleOf(source)),
  };
  const together = mode === 'plain' ? {} : { bindTogether: (binding: VolumeClaimBinding) => client.bindTogether(binding) };
  const loops = [
    runController(volumeBinder({ ...common, events: recordedEvents(), ...together }), options),
    runController(provisioner({ ...common, events: recordedEvents(), drivers: making, ...together }), options),
    runController(reclaimer({ ...common, events: recordedEvents(), drivers: deleting }), options),
  ];
  informers.start();
  return loops;
}

/** 'pv/vol Bound data', 'pvc/data Bound vol', 'pod/x Pending', 'intent/vol Delete', 'assets 1': sorted. */
export async function summarize({ client, backend }: StorageCluster): Promise<string[]> {
  const [volumes, claims, pods, intents] = await Promise.all([
    client.list(persistentVolumeKind),
    client.list(persistentVolumeClaimKind),
    client.list(podKind),
    client.list(volumeIntentKind),
  ]);
  for (const list of [volumes, claims, pods, intents]) if (!list.ok) throw list.error;
  if (!volumes.ok || !claims.ok || !pods.ok || !intents.ok) return [];
  const words = (...parts: readonly (string | undefined)[]) => parts.filter((part) => part !== undefined).join(' ');
  return [
    ...volumes.value.items.map(({ metadata, spec, status }) => words(`pv/${metadata.name ?? ''}`, status.phase, spec.claimRef?.name)),
    ...claims.value.items.map(({ metadata, spec, status }) => words(`pvc/${metadata.name ?? ''}`, status.phase, spec.volumeName)),
    ...pods.value.items.map(({ metadata, status }) => words(`pod/${metadata.name ?? ''}`, status.phase)),
    ...intents.value.items.map(({ metadata, spec, status }) => words(`intent/${metadata.name ?? ''}`, spec.operation, status.phase)),
    ...(backend.assets.size === 0 ? [] : [`assets ${backend.assets.size}`]),
  ].sort();
}
