import { expect, test } from 'vitest';
import type { Namespace } from '../../src/api/generated/types.ts';
import { untypedKind } from '../../src/api/kind.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { secretKind } from '../../src/api/kinds/core/secret.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { badNetwork, perfectNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { startTestCluster, type TestCluster } from '../client/test-cluster.ts';
import { inClusterOf } from '../client/loops.ts';
import { crashRepeatedly, rootCa, startHousekeeping } from './housekeeping.ts';

const inTeam = (name: string) => ({ namespace: 'team', name });

async function make(cluster: TestCluster, ...maps: readonly { name: string; finalizers?: string[] }[]): Promise<void> {
  const results = [await cluster.client.create(namespaceKind, { metadata: { name: 'team' } })];
  for (const { name, finalizers } of maps) {
    const made = await cluster.client.create(configMapKind, { metadata: { ...inTeam(name), ...(finalizers === undefined ? {} : { finalizers }) } });
    if (!made.ok) throw made.error;
  }
  for (const result of results) if (!result.ok) throw result.error;
}

async function namespace(cluster: TestCluster): Promise<Namespace | undefined> {
  const found = await cluster.client.get(namespaceKind, { name: 'team' });
  return found.ok ? found.value : undefined;
}

const conditions = (of: Namespace | undefined) =>
  (of?.status.conditions ?? []).filter(({ status }) => status === 'True').map(({ type, message }) => `${type}: ${message}`);

async function everythingIn(cluster: TestCluster): Promise<string[]> {
  const found: string[] = [];
  for (const kind of [untypedKind(configMapKind), untypedKind(secretKind), untypedKind(serviceAccountKind), untypedKind(eventKind), untypedKind(podKind)]) {
    const items = await cluster.client.list(kind, { namespace: 'team' });
    if (!items.ok) throw items.error;
    found.push(...items.value.items.map(({ metadata }) => `${kind.plural}/${metadata.name}`));
  }
  return found;
}

const inCluster = inClusterOf(startTestCluster, startHousekeeping);

test(
  'a new namespace has its account and certificate at once, and gets them again',
  inCluster(async (cluster, world) => {
    await make(cluster);
    await world.sleep(1);
    expect(await everythingIn(cluster)).toEqual(['configmaps/kube-root-ca.crt', 'serviceaccounts/default']);
    await cluster.client.delete(serviceAccountKind, inTeam('default'));
    await cluster.client.delete(configMapKind, inTeam('kube-root-ca.crt'));
    await world.sleep(1);
    expect(await everythingIn(cluster)).toEqual(['configmaps/kube-root-ca.crt', 'serviceaccounts/default']);
    const map = await cluster.client.get(configMapKind, inTeam('kube-root-ca.crt'));
    if (!map.ok) throw map.error;
    await cluster.client.update(configMapKind, { ...map.value, data: { 'ca.crt': 'forged' } });
    await world.sleep(1);
    expect(await cluster.client.get(configMapKind, inTeam('kube-root-ca.crt'))).toMatchObject({ ok: true, value: { data: { 'ca.crt': rootCa } } });
  }),
);

test(
  'what was in an earlier namespace of the same name says nothing of this one',
  inCluster(async (cluster, world) => {
    await make(cluster, { name: 'a' });
    await world.sleep(1);
    await cluster.client.delete(namespaceKind, { name: 'team' });
    await world.sleep(1);
    expect(await namespace(cluster)).toBeUndefined();
    await make(cluster, { name: 'held', finalizers: ['example.com/hold'] });
    await world.sleep(1);
    await cluster.client.delete(namespaceKind, { name: 'team' });
    await world.sleep(1);
    expect(await namespace(cluster)).toMatchObject({ status: { phase: 'Terminating' } });
    expect(await everythingIn(cluster)).toEqual(['configmaps/held']);
  }),
);

test(
  'a namespace that is deleted goes, with all that is in it, at once',
  inCluster(async (cluster, world) => {
    await make(cluster, { name: 'a' }, { name: 'b' });
    await cluster.client.create(secretKind, { metadata: inTeam('s') });
    await world.sleep(1);
    await cluster.client.delete(namespaceKind, { name: 'team' });
    await world.sleep(1);
    expect(await namespace(cluster)).toBeUndefined();
    expect(await everythingIn(cluster)).toEqual([]);
  }),
);

test(
  'it waits for finalizers, says for which, and goes as soon as they are gone',
  inCluster(async (cluster, world) => {
    await make(cluster, { name: 'held', finalizers: ['example.com/hold'] }, { name: 'free' });
    await cluster.client.delete(namespaceKind, { name: 'team' });
    await world.sleep(60_000);
    const waiting = await namespace(cluster);
    expect(waiting?.status.phase).toBe('Terminating');
    expect(conditions(waiting)).toEqual([
      'NamespaceContentRemaining: Some resources are remaining: configmaps. has 1 resource instances',
      'NamespaceFinalizersRemaining: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    ]);
    expect(await everythingIn(cluster)).toEqual(['configmaps/held']);
    const held = await cluster.client.get(configMapKind, inTeam('held'));
    if (!held.ok) throw held.error;
    await cluster.client.update(configMapKind, { ...held.value, metadata: { ...held.value.metadata, finalizers: [] } });
    await world.sleep(1);
    expect(await namespace(cluster)).toBeUndefined();
  }),
);

test(
  'what waits is quiet: the namespace is not written while nothing changes',
  inCluster(async (cluster, world) => {
    await make(cluster, { name: 'held', finalizers: ['example.com/hold'] });
    await cluster.client.delete(namespaceKind, { name: 'team' });
    await world.sleep(10_000);
    const revision = (await namespace(cluster))?.metadata.resourceVersion;
    await world.sleep(300_000);
    expect((await namespace(cluster))?.metadata.resourceVersion).toBe(revision);
  }),
);

test(
  'pods go first; while one stops, nothing else is touched',
  inCluster(async (cluster, world) => {
    await make(cluster, { name: 'config' });
    const pod = await cluster.client.create(podKind, {
      metadata: inTeam('web'),
      spec: { nodeName: 'node', containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'default' },
    });
    if (!pod.ok) throw pod.error;
    await cluster.client.delete(namespaceKind, { name: 'team' });
    await world.sleep(5_000);
    expect(await everythingIn(cluster)).toEqual(expect.arrayContaining(['configmaps/config', 'pods/web']));
    expect(conditions(await namespace(cluster))).toEqual([]);
    await world.sleep(60_000);
    expect(conditions(await namespace(cluster))).toEqual([
      'NamespaceDeletionContentFailure: Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: team for gvr: /v1, Resource=pods',
    ]);
    await cluster.client.delete(podKind, inTeam('web'), { gracePeriodSeconds: 0 });
    await world.sleep(1);
    expect(await namespace(cluster)).toBeUndefined();
  }),
);

test('crashes, lost answers and broken streams delay the end of a namespace, and nothing of it is left', async () => {
  for (const seed of seeds(8)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      await make(cluster, { name: 'a' }, { name: 'b' }, { name: 'c' });
      await cluster.client.create(secretKind, { metadata: inTeam('s') });
      await cluster.client.delete(namespaceKind, { name: 'team' });
      const network = new SimulatedNetwork(world, badNetwork);
      await crashRepeatedly(network.transport(cluster.transport), world, 4);
      startHousekeeping(cluster.transport, world);
      await world.sleep(60_000);
      expect(await namespace(cluster)).toBeUndefined();
      expect(await everythingIn(cluster)).toEqual([]);
    });
  }
});

test('nothing that is created while a namespace goes outlives it', async () => {
  for (const seed of seeds(8)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      startHousekeeping(cluster.transport, world);
      await make(cluster);
      let created = 0;
      for (let i = 0; i < 50; i++) {
        world.timers.after(world.random.float() * 10, () => {
          void cluster.client.create(configMapKind, { metadata: inTeam(`map-${i}`) }).then((result) => (created += result.ok ? 1 : 0));
        });
      }
      world.timers.after(5, () => void cluster.client.delete(namespaceKind, { name: 'team' }));
      await world.sleep(10_000);
      expect(created).toBeGreaterThan(0);
      expect(await namespace(cluster)).toBeUndefined();
      expect(await everythingIn(cluster)).toEqual([]);
    });
  }
});

test('what goes while the namespace is being emptied is noticed at once', async () => {
  for (const seed of seeds(15)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      const network = new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 50 });
      startHousekeeping(network.transport(cluster.transport), world);
      await make(cluster, { name: 'held', finalizers: ['example.com/hold'] });
      await world.sleep(5_000);
      await cluster.client.delete(namespaceKind, { name: 'team' });
      await world.sleep(world.random.float() * 3_000);
      const held = await cluster.client.get(configMapKind, inTeam('held'));
      if (!held.ok) throw held.error;
      await cluster.client.update(configMapKind, { ...held.value, metadata: { ...held.value.metadata, finalizers: [] } });
      await cluster.client.delete(configMapKind, inTeam('held'));
      await world.sleep(6_000);
      expect(await namespace(cluster)).toBeUndefined();
    });
  }
});
