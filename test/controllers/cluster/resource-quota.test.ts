/** The quota controller on the real registry with its real admission, in simulated time. */
import { expect, test } from 'vitest';
import { configMap, startTestCluster, type TestCluster } from '../../client/test-cluster.ts';
import { inClusterOf } from '../../client/loops.ts';
import type { PersistentVolumeClaim, ResourceQuota } from '../../../src/api/generated/types.ts';
import { untypedKind, type Kind } from '../../../src/api/kind.ts';
import { configMapKind } from '../../../src/api/kinds/core/config-map.ts';
import { allKinds } from '../../../src/api/kinds/index.ts';
import { namespaceKind } from '../../../src/api/kinds/core/namespace.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { addQuantities, compareQuantities, formatQuantity, type Quantity } from '../../../src/api/quantity.ts';
import { zero } from '../../../src/api/quota/usage.ts';
import { isRead } from '../../../src/api/request-info.ts';
import { createClient, type Draft, type Result } from '../../../src/client/client.ts';
import { Informers } from '../../../src/client/informers/informers.ts';
import { type ControllerLoop, type LoopOptions, runController } from '../../../src/client/controller/loop.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { badNetwork, type NetworkFaults, perfectNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import type { World } from '../../../src/world/world.ts';
import { DefinedKinds } from '../../../src/client/controller/defined-kinds.ts';
import { quotaController } from '../../../src/controllers/cluster/resource-quota/controller.ts';

interface Starting {
  readonly kinds?: readonly Kind[];
  readonly onAction?: NonNullable<LoopOptions['onAction']>;
}

function startController(transport: Transport, world: World, { kinds = allKinds, ...options }: Starting = {}): ControllerLoop {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const loop = runController(quotaController({ client, informers, clock: world.clock, kinds, definedKinds: new DefinedKinds(informers) }), {
    world,
    informers,
    ...options,
  });
  informers.start();
  return loop;
}

/** Counts the list requests after the caches have synced. */
class Listening {
  lists = 0;
  readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = {
      send: (request) => {
        if (isRead(request.info) && request.query.has('limit')) this.lists++;
        return transport.send(request);
      },
      watch: (request, sink) => transport.watch(request, sink),
    };
  }
}

const inDefault = (name: string) => ({ namespace: 'default', name });
const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};
const setQuota = async ({ client }: TestCluster, hard: Record<string, string>, more: object = {}) =>
  ok(await client.create(resourceQuotaKind, { metadata: inDefault('q'), spec: { hard, ...more } }));
const quota = async ({ client }: TestCluster): Promise<ResourceQuota> => ok(await client.get(resourceQuotaKind, inDefault('q')));
const used = async (cluster: TestCluster) => (await quota(cluster)).status.used;
const claim = (name: string, storage = '1Gi'): Draft<PersistentVolumeClaim> => ({
  metadata: inDefault(name),
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});
/** Claims are deleted at once: the protection controller does not run here. */
async function deleteClaim({ client }: TestCluster, name: string): Promise<void> {
  const found = await client.get(persistentVolumeClaimKind, inDefault(name));
  if (!found.ok) return;
  const { finalizers: _, ...metadata } = found.value.metadata;
  await client.update(persistentVolumeClaimKind, { ...found.value, metadata });
  await client.delete(persistentVolumeClaimKind, inDefault(name));
}

async function startWithAccount(world: SimulatedWorld): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  return cluster;
}

const inCluster = inClusterOf(startWithAccount, startController);

const soon = 50;

test(
  'a new quota shows at once what is used, also by older objects',
  inCluster(async (cluster, world) => {
    for (const name of ['a', 'b']) ok(await cluster.client.create(persistentVolumeClaimKind, claim(name, '2Gi')));
    await setQuota(cluster, {
      persistentvolumeclaims: '1',
      'requests.storage': '10Gi',
      pods: '3',
      replicationcontrollers: '5',
      'count/gadgets.example.com': '1',
    });
    await world.sleep(soon);
    const { status } = await quota(cluster);
    expect(status.hard).toEqual({
      persistentvolumeclaims: '1',
      'requests.storage': '10Gi',
      pods: '3',
      replicationcontrollers: '5',
      'count/gadgets.example.com': '1',
    });
    expect(status.used).toEqual({ persistentvolumeclaims: '2', 'requests.storage': '4Gi', pods: '0', replicationcontrollers: '0' });
  }),
);

test(
  'deleted objects stop counting at once',
  inCluster(async (cluster, world) => {
    await setQuota(cluster, { persistentvolumeclaims: '2', 'requests.storage': '10Gi' });
    for (const name of ['a', 'b']) ok(await cluster.client.create(persistentVolumeClaimKind, claim(name, '2Gi')));
    await deleteClaim(cluster, 'a');
    await world.sleep(soon);
    expect(await used(cluster)).toEqual({ persistentvolumeclaims: '1', 'requests.storage': '2Gi' });
  }),
);

test(
  'status follows the limits: higher, lower, others, none',
  inCluster(async (cluster, world) => {
    await setQuota(cluster, { persistentvolumeclaims: '2' });
    ok(await cluster.client.create(persistentVolumeClaimKind, claim('a', '2Gi')));
    const limit = async (hard: Record<string, string>) => {
      const found = await quota(cluster);
      ok(await cluster.client.update(resourceQuotaKind, { ...found, spec: { hard } }));
      await world.sleep(soon);
      return (await quota(cluster)).status;
    };
    expect(await limit({ persistentvolumeclaims: '5' })).toEqual({ hard: { persistentvolumeclaims: '5' }, used: { persistentvolumeclaims: '1' } });
    expect(await limit({ persistentvolumeclaims: '0', 'requests.storage': '1Gi' })).toEqual({
      hard: { persistentvolumeclaims: '0', 'requests.storage': '1Gi' },
      used: { persistentvolumeclaims: '1', 'requests.storage': '2Gi' },
    });
    expect(await limit({ secrets: '3' })).toEqual({ hard: { secrets: '3' }, used: { secrets: '0' } });
    expect(await limit({})).toEqual({});
  }),
);

test(
  'a finished pod, or one that outlives its grace period, stops counting; count/pods still counts it',
  inCluster(async (cluster, world) => {
    await setQuota(cluster, { pods: '5', 'count/pods': '5', 'requests.cpu': '4' });
    for (const name of ['done', 'stuck', 'busy']) {
      const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m' } } }] };
      ok(await cluster.client.create(podKind, { metadata: inDefault(name), spec }));
    }
    await world.sleep(soon);
    expect(await used(cluster)).toEqual({ pods: '3', 'count/pods': '3', 'requests.cpu': '1500m' });
    const done = ok(await cluster.client.get(podKind, inDefault('done')));
    ok(await cluster.client.updateStatus(podKind, { ...done, status: { ...done.status, phase: 'Succeeded' } }));
    await world.sleep(soon);
    expect(await used(cluster)).toEqual({ pods: '2', 'count/pods': '3', 'requests.cpu': '1' });
    await cluster.client.delete(podKind, inDefault('stuck'), { gracePeriodSeconds: 30 });
    await world.sleep(59_000);
    expect(await used(cluster)).toEqual({ pods: '2', 'count/pods': '3', 'requests.cpu': '1' });
    await world.sleep(3_000);
    expect(await used(cluster)).toEqual({ pods: '1', 'count/pods': '3', 'requests.cpu': '500m' });
  }),
);

test(
  'a pod that gets a deadline moves from one scope to the other',
  inCluster(async (cluster, world) => {
    await setQuota(cluster, { pods: '5' }, { scopes: ['NotTerminating'] });
    ok(await cluster.client.create(resourceQuotaKind, { metadata: inDefault('short'), spec: { hard: { pods: '5' }, scopes: ['Terminating'] } }));
    const pod = ok(await cluster.client.create(podKind, { metadata: inDefault('web'), spec: { containers: [{ name: 'c', image: 'i' }] } }));
    ok(await cluster.client.update(podKind, { ...pod, spec: { ...pod.spec, activeDeadlineSeconds: 60 } }));
    await world.sleep(soon);
    expect(await used(cluster)).toEqual({ pods: '0' });
    expect(ok(await cluster.client.get(resourceQuotaKind, inDefault('short'))).status.used).toEqual({ pods: '1' });
  }),
);

test(
  'a status that was edited by hand is corrected, up and down',
  inCluster(async (cluster, world) => {
    await setQuota(cluster, { configmaps: '5', secrets: '5' });
    ok(await cluster.client.create(configMapKind, configMap('a', '')));
    await world.sleep(soon);
    const found = await quota(cluster);
    ok(await cluster.client.updateStatus(resourceQuotaKind, { ...found, status: { ...found.status, used: { configmaps: '0', secrets: '3', pods: '9' } } }));
    await world.sleep(1_000);
    expect(await used(cluster)).toEqual({ configmaps: '1', secrets: '0' });
  }),
);

test(
  'quotas count quotas, themselves included, once',
  inCluster(async (cluster, world) => {
    await setQuota(cluster, { resourcequotas: '3' });
    ok(await cluster.client.create(resourceQuotaKind, { metadata: inDefault('other'), spec: {} }));
    await world.sleep(soon);
    expect(await used(cluster)).toEqual({ resourcequotas: '2' });
    await cluster.client.delete(resourceQuotaKind, inDefault('other'));
    await world.sleep(soon);
    expect(await used(cluster)).toEqual({ resourcequotas: '1' });
  }),
);

test(
  'a recreated quota is counted anew, and other namespaces do not count',
  inCluster(async (cluster, world) => {
    await setQuota(cluster, { configmaps: '5' });
    ok(await cluster.client.create(configMapKind, configMap('a', '')));
    ok(await cluster.client.create(namespaceKind, { metadata: { name: 'team' } }));
    ok(await cluster.client.create(configMapKind, { metadata: { namespace: 'team', name: 'b' } }));
    await cluster.client.delete(resourceQuotaKind, inDefault('q'));
    await setQuota(cluster, { secrets: '5', configmaps: '9' });
    await world.sleep(soon);
    expect(await used(cluster)).toEqual({ secrets: '0', configmaps: '1' });
  }),
);

test('many deletions cost fewer writes and no list', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    // Objects are deleted during each write.
    const listening = new Listening(new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 20 }).transport(cluster.transport));
    startController(listening.transport, world);
    await world.sleep(100);
    await setQuota(cluster, { configmaps: '1000' });
    const names = Array.from({ length: 200 }, (_, i) => `m${i}`);
    await Promise.all(names.map((name) => cluster.client.create(configMapKind, configMap(name, ''))));
    await world.sleep(10_000);
    const [lists, revision] = [listening.lists, cluster.store.revision()];
    for (const name of names.slice(1)) {
      await cluster.client.delete(configMapKind, inDefault(name));
      await world.sleep(2);
    }
    await world.sleep(10_000);
    expect(await used(cluster)).toEqual({ configmaps: '1' });
    expect(listening.lists).toBe(lists);
    expect(cluster.store.revision() - revision).toBeLessThan(199 + 150);
    const quiet = cluster.store.revision();
    await world.sleep(600_000);
    expect(cluster.store.revision()).toBe(quiet);
  }));

/** At every revision: no quota shows less than is used, and no usage exceeds its limit. */
function watchOver(cluster: TestCluster): { readonly problems: string[]; readonly looks: () => number } {
  const claims = new Map<string, PersistentVolumeClaim>();
  const problems: string[] = [];
  let found: ResourceQuota | undefined;
  let looks = 0;
  cluster.store.watch(
    { prefix: '/registry/', after: 0 },
    {
      end: () => undefined,
      changes: (revision, changes) => {
        for (const { key, entry } of changes) {
          const object: unknown = entry === undefined ? undefined : JSON.parse(Buffer.from(entry.value).toString('utf8'));
          if (key.startsWith('/registry/resourcequotas/')) found = object as ResourceQuota | undefined;
          else if (!key.startsWith('/registry/persistentvolumeclaims/')) continue;
          else if (object === undefined) claims.delete(key);
          else claims.set(key, object as PersistentVolumeClaim);
        }
        const said = found?.status.used?.['requests.storage'];
        if (said === undefined) return;
        looks++;
        const real = [...claims.values()].reduce<Quantity>((sum, { spec }) => addQuantities(sum, spec.resources.requests?.['storage'] ?? '0'), zero);
        const limit = found?.spec.hard?.['requests.storage'] ?? '0';
        if (compareQuantities(said, real) < 0) problems.push(`@${revision}: the quota says ${said}, used is ${formatQuantity(real)}`);
        if (compareQuantities(real, limit) > 0) problems.push(`@${revision}: used is ${formatQuantity(real)} of ${limit}`);
      },
    },
  );
  return { problems, looks: () => looks };
}

/** Users who create and delete claims, more than the quota allows. */
async function bustle(cluster: TestCluster, world: SimulatedWorld, rounds: number): Promise<number> {
  let refused = 0;
  for (let i = 0; i < rounds; i++) {
    const name = `c${world.random.below(8)}`;
    if (world.random.chance(0.55)) {
      const made = await cluster.client.create(persistentVolumeClaimKind, claim(name, `${1 + world.random.below(3)}Gi`));
      refused += !made.ok && made.reason === 'forbidden' ? 1 : 0;
    } else {
      await deleteClaim(cluster, name);
    }
    if (world.random.chance(0.5)) await world.sleep(world.random.float() * 100);
  }
  return refused;
}

async function expectTruth(cluster: TestCluster): Promise<void> {
  const { items } = ok(await cluster.client.list(persistentVolumeClaimKind));
  const real = items.reduce<Quantity>((sum, { spec }) => addQuantities(sum, spec.resources.requests?.['storage'] ?? '0'), zero);
  expect(await used(cluster)).toEqual({ 'requests.storage': formatQuantity(real), persistentvolumeclaims: String(items.length) });
}

/** As few kinds as the test needs: each has an informer. */
const claimsAndQuotas = [untypedKind(persistentVolumeClaimKind), untypedKind(resourceQuotaKind)];

const networks: readonly [string, NetworkFaults][] = [
  ['a perfect network', perfectNetwork],
  ['a slow network', { ...perfectNetwork, delayMs: 80 }],
  ['a network that loses, cuts and stalls', badNetwork],
];

test.each(networks)('over %s the quota never shows too little, and in the end it is right', async (_, faults) => {
  let [refused, looks] = [0, 0];
  for (const seed of seeds(8)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      const watched = watchOver(cluster);
      const network = new SimulatedNetwork(world, faults);
      startController(network.transport(cluster.transport), world, { kinds: claimsAndQuotas });
      await setQuota(cluster, { 'requests.storage': '8Gi', persistentvolumeclaims: '6' });
      refused += await bustle(cluster, world, 100);
      network.heal();
      await world.sleep(120_000);
      expect(watched.problems).toEqual([]);
      looks += watched.looks();
      await expectTruth(cluster);
    });
  }
  expect(refused).toBeGreaterThan(0);
  expect(looks).toBeGreaterThan(100);
});

test('the same holds with crashes anywhere and two processes at a time', async () => {
  for (const seed of seeds(8)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      const watched = watchOver(cluster);
      await setQuota(cluster, { 'requests.storage': '8Gi', persistentvolumeclaims: '6' });
      const network = new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 30 });
      for (let i = 0; i < 5; i++) {
        const process = new SimulatedProcess(world, `quota ${i}`);
        let left = world.random.below(8);
        const onAction = () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        };
        startController(process.transport(network.transport(cluster.transport)), process, { kinds: claimsAndQuotas, onAction });
        await bustle(cluster, world, 15);
      }
      startController(cluster.transport, world, { kinds: claimsAndQuotas });
      await world.sleep(10_000);
      expect(watched.problems).toEqual([]);
      await expectTruth(cluster);
    });
  }
});
