import { expect, test } from 'vitest';
import type { ConfigMap, ObjectMeta, OwnerReference } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { priorityClassKind } from '../../src/api/kinds/scheduling/priority-class.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { badNetwork, perfectNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import type { Prng } from '../../src/sim/world/prng.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { startTestCluster, type TestCluster } from '../client/test-cluster.ts';
import { inClusterOf } from '../client/loops.ts';
import { crashRepeatedly, startHousekeeping } from './housekeeping.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });

const ownedBy = (owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name ?? '',
  uid: owner.metadata.uid ?? '',
  ...more,
});

async function make(cluster: TestCluster, name: string, metadata: Partial<ObjectMeta> = {}): Promise<ConfigMap> {
  const made = await cluster.client.create(configMapKind, { metadata: { ...inDefault(name), ...metadata } });
  if (!made.ok) throw made.error;
  return made.value;
}

async function remove(cluster: TestCluster, name: string, propagation?: 'Background' | 'Foreground' | 'Orphan'): Promise<void> {
  const removed = await cluster.client.delete(configMapKind, inDefault(name), propagation === undefined ? {} : { propagation });
  if (!removed.ok) throw removed.error;
}

/** 'a', 'b < a' (b is owned by a), 'c deleting': every map of the test, in order. */
async function show(cluster: TestCluster): Promise<string[]> {
  const all = await cluster.client.list(configMapKind, { namespace: 'default' });
  if (!all.ok) throw all.error;
  return all.value.items
    .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
    .map(({ metadata: m }) =>
      [m.name, ...(m.ownerReferences ?? []).map((o) => `< ${o.name}`), ...(m.deletionTimestamp === undefined ? [] : ['deleting'])].join(' '),
    )
    .sort();
}

const inCluster = inClusterOf(startTestCluster, startHousekeeping);

const settled = (world: SimulatedWorld) => world.sleep(2_000);

test(
  'dependents go with their owner, and theirs with them',
  inCluster(async (cluster, world) => {
    const owner = await make(cluster, 'owner');
    const child = await make(cluster, 'child', { ownerReferences: [ownedBy(owner)] });
    await make(cluster, 'grandchild', { ownerReferences: [ownedBy(child)] });
    await make(cluster, 'stranger');
    await remove(cluster, 'owner');
    await settled(world);
    expect(await show(cluster)).toEqual(['stranger']);
  }),
);

test(
  'it takes the last owner to go, and those that went before are struck off',
  inCluster(async (cluster, world) => {
    const [a, b] = [await make(cluster, 'a'), await make(cluster, 'b')];
    await make(cluster, 'child', { ownerReferences: [ownedBy(a), ownedBy(b)] });
    await remove(cluster, 'a');
    await settled(world);
    expect(await show(cluster)).toEqual(['b', 'child < b']);
    await remove(cluster, 'b');
    await settled(world);
    expect(await show(cluster)).toEqual([]);
  }),
);

test(
  'orphaning keeps the dependents and takes the owner from them',
  inCluster(async (cluster, world) => {
    const owner = await make(cluster, 'owner');
    for (const name of ['x', 'y']) await make(cluster, name, { ownerReferences: [ownedBy(owner)] });
    await remove(cluster, 'owner', 'Orphan');
    await settled(world);
    expect(await show(cluster)).toEqual(['x', 'y']);
  }),
);

test(
  'foreground: the owner stays until what blocks it is gone, however long that takes',
  inCluster(async (cluster, world) => {
    const owner = await make(cluster, 'owner');
    await make(cluster, 'held', { ownerReferences: [ownedBy(owner, { blockOwnerDeletion: true })], finalizers: ['example.com/hold'] });
    await make(cluster, 'free', { ownerReferences: [ownedBy(owner, { blockOwnerDeletion: true })] });
    await remove(cluster, 'owner', 'Foreground');
    await world.sleep(600_000);
    expect(await show(cluster)).toEqual(['held < owner deleting', 'owner deleting']);
    const held = await cluster.client.get(configMapKind, inDefault('held'));
    if (!held.ok) throw held.error;
    await cluster.client.update(configMapKind, { ...held.value, metadata: { ...held.value.metadata, finalizers: [] } });
    await settled(world);
    expect(await show(cluster)).toEqual([]);
  }),
);

test(
  'foreground does not wait for what does not block',
  inCluster(async (cluster, world) => {
    const owner = await make(cluster, 'owner');
    await make(cluster, 'held', { ownerReferences: [ownedBy(owner)], finalizers: ['example.com/hold'] });
    await remove(cluster, 'owner', 'Foreground');
    await settled(world);
    expect(await show(cluster)).toEqual(['held < owner deleting']);
  }),
);

test(
  'a circle of owners that wait for each other goes all the same',
  inCluster(async (cluster, world) => {
    const a = await make(cluster, 'a');
    const b = await make(cluster, 'b', { ownerReferences: [ownedBy(a, { blockOwnerDeletion: true })] });
    const c = await make(cluster, 'c', { ownerReferences: [ownedBy(b, { blockOwnerDeletion: true })] });
    const closed = await cluster.client.update(configMapKind, {
      ...a,
      metadata: { ...a.metadata, ownerReferences: [ownedBy(c, { blockOwnerDeletion: true })] },
    });
    expect(closed.ok).toBe(true);
    await remove(cluster, 'a', 'Foreground');
    await settled(world);
    expect(await show(cluster)).toEqual([]);
  }),
);

test(
  'an owner that never existed, or has another uid by now, is no owner',
  inCluster(async (cluster, world) => {
    const other = await make(cluster, 'other');
    await make(cluster, 'orphan', { ownerReferences: [ownedBy(other, { name: 'ghost', uid: '6d9fd2a5-1111-4222-8333-0123456789ab' })] });
    await make(cluster, 'mistaken', { ownerReferences: [ownedBy(other, { uid: '6d9fd2a5-1111-4222-8333-0123456789ac' })] });
    await make(cluster, 'renamed', { ownerReferences: [ownedBy(other, { name: 'another' })] });
    await make(cluster, 'climber', { ownerReferences: [ownedBy(other, { name: '../default/configmaps/other' })] });
    await settled(world);
    expect(await show(cluster)).toEqual(['other']);
  }),
);

test(
  'an owner of a kind that is not served proves nothing',
  inCluster(async (cluster, world) => {
    await make(cluster, 'kept', { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'u' }] });
    await world.sleep(600_000);
    expect(await show(cluster)).toEqual(['kept < w']);
  }),
);

test(
  'an owner in another namespace is none, and an event says so',
  inCluster(async (cluster, world) => {
    await cluster.client.create(namespaceKind, { metadata: { name: 'elsewhere' } });
    const far = await cluster.client.create(configMapKind, { metadata: { namespace: 'elsewhere', name: 'far' } });
    if (!far.ok) throw far.error;
    await make(cluster, 'child', { ownerReferences: [ownedBy(far.value)] });
    await settled(world);
    expect(await show(cluster)).toEqual([]);
    const events = await cluster.client.list(eventKind, { namespace: 'default' });
    if (!events.ok) throw events.error;
    const uid = far.value.metadata.uid ?? '';
    expect(events.value.items).toMatchObject([
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef [v1/ConfigMap, namespace: default, name: far, uid: ${uid}] does not exist in namespace "default"`,
        involvedObject: { kind: 'ConfigMap', name: 'child' },
        source: { component: 'garbage-collector-controller' },
      },
    ]);
  }),
);

test(
  'what is in no namespace can have an owner in none, and keeps one that it cannot have',
  inCluster(async (cluster, world) => {
    const space = await cluster.client.create(priorityClassKind, { metadata: { name: 'owner' }, value: 1 });
    const map = await make(cluster, 'map');
    if (!space.ok) throw space.error;
    await cluster.client.create(priorityClassKind, { metadata: { name: 'good', ownerReferences: [ownedBy(space.value)] }, value: 1 });
    await cluster.client.create(priorityClassKind, { metadata: { name: 'impossible', ownerReferences: [ownedBy(map)] }, value: 1 });
    await make(cluster, 'child', { ownerReferences: [ownedBy(space.value)] });
    await cluster.client.delete(priorityClassKind, { name: 'owner' });
    await settled(world);
    const left = await cluster.client.list(priorityClassKind);
    if (!left.ok) throw left.error;
    expect(left.value.items.map(({ metadata }) => metadata.name).filter((name) => !name?.startsWith('system-'))).toEqual(['impossible']);
    expect(await show(cluster)).toEqual(['map']);
  }),
);

test(
  'owners and dependents may be of different kinds',
  inCluster(async (cluster, world) => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const claim = await cluster.client.create(persistentVolumeClaimKind, { metadata: { ...inDefault('data'), finalizers: [] }, spec });
    if (!claim.ok) throw claim.error;
    await make(cluster, 'note', { ownerReferences: [ownedBy(claim.value)] });
    await cluster.client.update(persistentVolumeClaimKind, { ...claim.value, metadata: { ...claim.value.metadata, finalizers: [] } });
    await cluster.client.delete(persistentVolumeClaimKind, inDefault('data'));
    await settled(world);
    expect(await show(cluster)).toEqual([]);
  }),
);

test(
  'an object that is written all the time is collected all the same',
  inCluster(async (cluster, world) => {
    const owner = await make(cluster, 'owner');
    await make(cluster, 'busy', { ownerReferences: [ownedBy(owner)] });
    let stop = false;
    const write = async (): Promise<void> => {
      const found = await cluster.client.get(configMapKind, inDefault('busy'));
      if (found.ok) await cluster.client.update(configMapKind, { ...found.value, data: { at: String(world.steps) } });
      if (!stop) world.timers.soon(() => void write());
    };
    world.timers.soon(() => void write());
    await remove(cluster, 'owner');
    for (let i = 0; i < 2000 && (await show(cluster)).length > 0; i++) await new Promise<void>((resolve) => world.timers.soon(resolve));
    stop = true;
    expect(await show(cluster)).toEqual([]);
  }),
);

/** Ten maps, each owned by up to two earlier ones. */
async function makeForest(cluster: TestCluster, prng: Prng): Promise<Map<string, string[]>> {
  const owners = new Map<string, string[]>();
  const made: ConfigMap[] = [];
  for (let i = 0; i < 10; i++) {
    const chosen = made.filter(() => prng.chance(1.5 / (made.length + 1))).slice(0, 2);
    const ownerReferences = chosen.map((owner) => ownedBy(owner, prng.chance(0.5) ? { blockOwnerDeletion: true } : {}));
    made.push(await make(cluster, `m${i}`, { ownerReferences }));
    owners.set(
      `m${i}`,
      chosen.map(({ metadata }) => metadata.name ?? ''),
    );
  }
  return owners;
}

/** What deleting one of them must leave: the rule in five lines. */
function expectDeletion(owners: Map<string, string[]>, name: string, policy: 'Background' | 'Foreground' | 'Orphan'): void {
  owners.delete(name);
  for (const [dependent, of] of owners) {
    if (!of.includes(name)) continue;
    owners.set(
      dependent,
      of.filter((owner) => owner !== name),
    );
    if (of.length === 1 && policy !== 'Orphan') expectDeletion(owners, dependent, 'Background');
  }
}

test('crashes, lost answers and broken streams delay the collector, and change nothing about what is left', async () => {
  for (const seed of seeds(8)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      const prng = world.random.fork();
      const owners = await makeForest(cluster, prng);
      for (let i = 0; i < 3; i++) {
        const name = [...owners.keys()][prng.below(owners.size)];
        const policy = (['Background', 'Foreground', 'Orphan'] as const)[prng.below(3)];
        if (name === undefined || policy === undefined) continue;
        await remove(cluster, name, policy);
        expectDeletion(owners, name, policy);
        const network = new SimulatedNetwork(world, badNetwork);
        await crashRepeatedly(network.transport(cluster.transport), world, 3);
        const loops = startHousekeeping(cluster.transport, world);
        await world.sleep(60_000);
        expect(await show(cluster)).toEqual(Array.from(owners, ([each, of]) => [each, ...of.map((owner) => `< ${owner}`)].join(' ')));
        await Promise.all(loops.map((loop) => loop.stop()));
      }
    });
  }
});

/** Adds an owner to a ConfigMap, with retries on conflict. @returns whether it succeeded */
async function adopt(cluster: TestCluster, name: string, owner: ConfigMap): Promise<boolean> {
  for (;;) {
    const found = await cluster.client.get(configMapKind, inDefault(name));
    if (!found.ok) return false;
    const { metadata } = found.value;
    const ownerReferences = [...(metadata.ownerReferences ?? []), ownedBy(owner)];
    const written = await cluster.client.update(configMapKind, { ...found.value, metadata: { ...metadata, ownerReferences } });
    if (written.ok) return metadata.deletionTimestamp === undefined;
  }
}

test('an owner that adopts an object in time keeps it, however stale the cache of the garbage collector is', async () => {
  let adopted = 0;
  let late = 0;
  for (const seed of seeds(25)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      const [owner, other, adopter] = [await make(cluster, 'owner'), await make(cluster, 'other'), await make(cluster, 'adopter')];
      await make(cluster, 'alone', { ownerReferences: [ownedBy(owner)] });
      await make(cluster, 'shared', { ownerReferences: [ownedBy(owner), ownedBy(other)] });
      const network = new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 300 });
      startHousekeeping(network.transport(cluster.transport), world);
      await world.sleep(5_000);
      await remove(cluster, 'owner');
      await world.sleep(world.random.float() * 1_500);
      const saved = await adopt(cluster, 'alone', adopter);
      expect(await adopt(cluster, 'shared', adopter)).toBe(true);
      await world.sleep(60_000);
      const expected = [...(saved ? ['alone < adopter'] : []), 'shared < other < adopter'];
      expect((await show(cluster)).filter((line) => line.includes('<'))).toEqual(expected);
      if (saved) adopted++;
      else late++;
    });
  }
  // Or else the test would prove nothing.
  expect(Math.min(adopted, late)).toBeGreaterThan(0);
});
