/** The ephemeral claims, running, on the real registry, in simulated time. */
import { expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../client/test-cluster.ts';
import { inClusterOf } from '../client/loops.ts';
import type { PersistentVolumeClaim } from '../../src/api/generated/types.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { resourceQuotaKind } from '../../src/api/kinds/core/resource-quota.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { createClient, type Result } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { type LoopOptions, runController } from '../../src/client/controller/loop.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import { RecordedEvents } from '../../src/client/events/event-dedup.ts';
import type { Transport } from '../../src/client/transport.ts';
import { badNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import type { World } from '../../src/world/world.ts';
import { eventSources } from '../../src/cluster/controllers/event-sources.ts';
import { ephemeralVolumeController } from '../../src/storage/ephemeral-volume/controller.ts';

function startController(transport: Transport, world: World, onAction?: NonNullable<LoopOptions['onAction']>): void {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const events = new RecordedEvents(new EventRecorder({ world, client, eventKind, component: eventSources['ephemeral-volume-controller'] }), world.clock);
  const controller = ephemeralVolumeController({ client, informers, events, clock: world.clock });
  runController(controller, { world, informers, ...(onAction === undefined ? {} : { onAction }) });
  informers.start();
}

const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};
const inDefault = (name: string) => ({ namespace: 'default', name });
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const createPod = async ({ client }: TestCluster, name: string, ...volumes: readonly string[]) =>
  ok(
    await client.create(podKind, {
      metadata: inDefault(name),
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        volumes: volumes.map((volume) => ({ name: volume, ephemeral: { volumeClaimTemplate: { metadata: { labels: { volume } }, spec } } })),
      },
    }),
  );
const createClaim = async ({ client }: TestCluster, name: string) => ok(await client.create(persistentVolumeClaimKind, { metadata: inDefault(name), spec }));

/** At once: protection is another controller's business. */
async function removeClaim({ client }: TestCluster, name: string): Promise<void> {
  const found = ok(await client.get(persistentVolumeClaimKind, inDefault(name)));
  const { finalizers: _, ...metadata } = found.metadata;
  ok(await client.update(persistentVolumeClaimKind, { ...found, metadata }));
  ok(await client.delete(persistentVolumeClaimKind, inDefault(name)));
}

/** 'web-scratch of web', sorted. */
async function claims({ client }: TestCluster): Promise<string[]> {
  const { items } = ok(await client.list(persistentVolumeClaimKind));
  return items.map((each) => `${each.metadata.name ?? ''} of ${ownerOf(each)}`).sort();
}
const ownerOf = ({ metadata }: PersistentVolumeClaim) => metadata.ownerReferences?.[0]?.name ?? 'none';

async function events({ client }: TestCluster): Promise<string[]> {
  const { items } = ok(await client.list(eventKind));
  return items.map(({ source, reason, message, count }) => `${source.component ?? ''} ${reason ?? ''}: ${message ?? ''} x${count ?? 0}`);
}

async function startWithAccount(world: SimulatedWorld): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  return cluster;
}

const inCluster = inClusterOf(startWithAccount, startController);

const soon = 50;

test(
  'a pod has its claims at once, and gets back one that was deleted',
  inCluster(async (cluster, world) => {
    await createPod(cluster, 'web', 'scratch', 'cache');
    await createPod(cluster, 'plain');
    await world.sleep(soon);
    expect(await claims(cluster)).toEqual(['web-cache of web', 'web-scratch of web']);
    await removeClaim(cluster, 'web-scratch');
    await world.sleep(soon);
    expect(await claims(cluster)).toEqual(['web-cache of web', 'web-scratch of web']);
    const made = ok(await cluster.client.get(persistentVolumeClaimKind, inDefault('web-scratch')));
    expect(made.metadata.labels).toEqual({ volume: 'scratch' });
    expect(await events(cluster)).toEqual([]);
  }),
);

test(
  'a foreign claim is left alone, the pod gets an event, and its own claim as soon as that one is gone',
  inCluster(async (cluster, world) => {
    await createClaim(cluster, 'web-scratch');
    await createPod(cluster, 'web', 'scratch');
    await world.sleep(60_000);
    expect(await claims(cluster)).toEqual(['web-scratch of none']);
    expect(await events(cluster)).toEqual([
      'ephemeral_volume FailedBinding: ephemeral volume scratch: PVC default/web-scratch was not created for pod default/web (pod is not owner) x4',
    ]);
    await removeClaim(cluster, 'web-scratch');
    await world.sleep(soon);
    expect(await claims(cluster)).toEqual(['web-scratch of web']);
  }),
);

test(
  'a claim that is refused is tried again, and the pod knows why',
  inCluster(async (cluster, world) => {
    ok(await cluster.client.create(resourceQuotaKind, { metadata: inDefault('q'), spec: { hard: { persistentvolumeclaims: '0' } } }));
    await createPod(cluster, 'web', 'scratch');
    await world.sleep(10_000);
    expect(await events(cluster)).toEqual([
      'ephemeral_volume FailedBinding: ephemeral volume scratch: create PVC web-scratch: persistentvolumeclaims "web-scratch" is forbidden: exceeded quota: q, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=0, limited: persistentvolumeclaims=0 x1',
    ]);
    await cluster.client.delete(resourceQuotaKind, inDefault('q'));
    await world.sleep(60_000);
    expect(await claims(cluster)).toEqual(['web-scratch of web']);
  }),
);

test(
  'a pod that goes gets nothing',
  inCluster(async (cluster, world) => {
    await createClaim(cluster, 'web-scratch');
    const pod = await createPod(cluster, 'web', 'scratch');
    ok(await cluster.client.update(podKind, { ...pod, metadata: { ...pod.metadata, finalizers: ['example.com/hold'] } }));
    ok(await cluster.client.delete(podKind, inDefault('web'), { gracePeriodSeconds: 0 }));
    await removeClaim(cluster, 'web-scratch');
    await world.sleep(60_000);
    expect(await claims(cluster)).toEqual([]);
  }),
);

test(
  'nor does one in a namespace that is being deleted, without an event',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    ok(await client.create(namespaceKind, { metadata: { name: 'team' } }));
    ok(await client.create(serviceAccountKind, { metadata: { namespace: 'team', name: 'default' } }));
    const volumes = [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }];
    const pod = client.create(podKind, { metadata: { namespace: 'team', name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }], volumes } });
    ok(await pod);
    ok(await client.delete(namespaceKind, { name: 'team' }));
    await world.sleep(60_000);
    expect(ok(await client.get(namespaceKind, { name: 'team' })).status.phase).toBe('Terminating');
    expect(await claims(cluster)).toEqual([]);
    expect(await events(cluster)).toEqual([]);
    expect(world.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  }),
);

test('wherever a process dies, and over whatever network, each pod has each of its claims once', async () => {
  for (const seed of seeds(12)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
      const network = new SimulatedNetwork(world, badNetwork);
      for (let i = 0; i < 4; i++) {
        await createPod(cluster, `p${i}`, 'a', 'b', 'c');
        const process = new SimulatedProcess(world, `ephemeral ${i}`);
        let left = world.random.below(4);
        startController(process.transport(network.transport(cluster.transport)), process, () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        });
        await world.sleep(world.random.float() * 500);
      }
      startController(cluster.transport, world);
      await world.sleep(10_000);
      const expected = [0, 1, 2, 3].flatMap((i) => ['a', 'b', 'c'].map((volume) => `p${i}-${volume} of p${i}`));
      expect(await claims(cluster)).toEqual(expected);
    });
  }
});
