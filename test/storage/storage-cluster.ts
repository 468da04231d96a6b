/** A simulated cluster: the real registry, the storage controllers, and a backend that outlives every process. */
import { erased } from '../../src/api/kind.ts';
import { eventKind } from '../../src/api/kinds/event.ts';
import { storageAndCoreKinds } from '../../src/api/kinds/core-and-storage.ts';
import { volumeIntentKind } from '../../src/api/kinds/mooring/volume-intent.ts';
import { namespaceKind } from '../../src/api/kinds/namespace.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/persistent-volume.ts';
import { serviceAccountKind } from '../../src/api/kinds/service-account.ts';
import { podKind } from '../../src/api/kinds/workloads/pod.ts';
import { provisioner } from '../../src/controllers/provisioner/controller.ts';
import { reclaimer } from '../../src/controllers/reclaimer/controller.ts';
import type { BindMode } from '../../src/controllers/volume-binder/actions.ts';
import { volumeBinder } from '../../src/controllers/volume-binder/controller.ts';
import { eventSource } from '../../src/domain/volumes/decision.ts';
import { VolumesView } from '../../src/domain/volumes/view.ts';
import { createInProcessTransport } from '../../src/main/in-process-transport.ts';
import { type Client, createClient, type Pair } from '../../src/machinery/client.ts';
import { Informers } from '../../src/machinery/informers.ts';
import { Bell, type Loop, type LoopOptions, runController } from '../../src/machinery/loop.ts';
import { Recorder } from '../../src/machinery/recorder.ts';
import { Tellings } from '../../src/machinery/tellings.ts';
import type { Transport } from '../../src/machinery/transport.ts';
import { authenticatedMayAll } from '../../src/sim/cluster/access.ts';
import { createApi } from '../../src/server/create-api.ts';
import type { Store } from '../../src/store/contract.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import type { World } from '../../src/world/world.ts';
import { SmallBackend } from './small-backend.ts';

export interface StorageCluster {
  readonly store: Store;
  readonly transport: Transport;
  readonly client: Client;
  readonly backend: SmallBackend;
  readonly mode: BindMode;
}

export async function startStorageCluster(world: World, mode: BindMode = 'transaction'): Promise<StorageCluster> {
  const store = openMemoryStore();
  const kinds = [...storageAndCoreKinds, erased(podKind), erased(volumeIntentKind)];
  const api = createApi({ store, world, kinds, extensions: mode === 'plain' ? undefined : { authorizer: authenticatedMayAll } });
  const transport = createInProcessTransport(api, { name: 'test', groups: ['system:masters'] }, 'test');
  const client = createClient({ transport });
  const made = await client.create(namespaceKind, { metadata: { name: 'default' } });
  if (!made.ok) throw made.error;
  // Pods, scrubbers too, need one.
  const account = await client.create(serviceAccountKind, { metadata: { name: 'default', namespace: 'default' } });
  if (!account.ok) throw account.error;
  return { store, transport, client, backend: new SmallBackend(), mode };
}

/** One process with all three controllers. */
export function runStorage(cluster: Pick<StorageCluster, 'transport' | 'backend' | 'mode'>, world: World, more: Partial<LoopOptions> = {}): readonly Loop[] {
  const { transport, backend, mode } = cluster;
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const view = new VolumesView();
  informers.cache(persistentVolumeKind).subscribe(({ before, after }) => void view.changeVolume(before, after));
  informers.cache(persistentVolumeClaimKind).subscribe(({ before, after }) => void view.changeClaim(before, after));
  const tellings = () => new Tellings(new Recorder({ world, client, eventKind, component: eventSource }), world.clock);
  const common = { client, informers, view, world, clock: world.clock, log: world.log, toMake: new Bell<string>(), toBind: new Bell<string>() };
  const options = { world, informers, ...more };
  const making = {
    facts: (name: string) => backend.driver(name),
    create: async (intent: Parameters<SmallBackend['create']>[0]) => backend.create(intent),
    delete: async (_: string, { handle }: { readonly handle: string }) => backend.delete(handle),
    onAppear: () => () => undefined,
  };
  const deleting = {
    facts: making.facts,
    delete: async (_: string, source: Parameters<SmallBackend['handleOf']>[0]) => backend.delete(backend.handleOf(source)),
  };
  const together = mode === 'plain' ? {} : { bindTogether: (pair: Pair) => client.bindTogether(pair) };
  const loops = [
    runController(volumeBinder({ ...common, tellings: tellings(), ...together }), options),
    runController(provisioner({ ...common, tellings: tellings(), drivers: making }), options),
    runController(reclaimer({ ...common, tellings: tellings(), drivers: deleting }), options),
  ];
  informers.start();
  return loops;
}

/** 'pv/vol Bound data', 'pvc/data Bound vol', 'pod/x Pending', 'intent/vol Delete', 'assets 1': sorted. */
export async function look({ client, backend }: StorageCluster): Promise<string[]> {
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
