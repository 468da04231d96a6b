/** Garbage collection, quotas and namespaces of CustomResourceDefinitions that come while the controllers are running. */
import { beforeAll, expect, test } from 'vitest';
import { loadCel } from '../../src/api/cel/environment.ts';
import { customKinds } from '../../src/api/apiextensions/custom-kind.ts';
import type { CustomResourceDefinition } from '../../src/api/apiextensions/definition.ts';
import type { ConfigMap, ObjectMeta, OwnerReference, ResourceQuota } from '../../src/api/generated/types.ts';
import type { Kind } from '../../src/api/kind.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { customResourceDefinitionKind } from '../../src/api/kinds/apiextensions/custom-resource-definition.ts';
import { allKinds } from '../../src/api/kinds/index.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { resourceQuotaKind } from '../../src/api/kinds/core/resource-quota.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { quotaController } from '../../src/controllers/cluster/resource-quota/controller.ts';
import type { Result } from '../../src/client/client.ts';
import { createClient } from '../../src/client/client.ts';
import { DefinedKinds } from '../../src/client/controller/defined-kinds.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { runController } from '../../src/client/controller/loop.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { startTestCluster, type TestCluster } from './test-cluster.ts';
import { startHousekeeping } from '../controllers/housekeeping.ts';

beforeAll(async () => {
  await loadCel();
});

const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } },
  ...more,
});

const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [version('v1'), version('v1beta1')],
  },
};

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

const crds = customResourceDefinitionKind;
const named = (name: string) => ({ namespace: 'default', name });

class CustomKindsTest {
  readonly #cluster: TestCluster;
  readonly world: SimulatedWorld;

  constructor(cluster: TestCluster, world: SimulatedWorld) {
    this.#cluster = cluster;
    this.world = world;
  }

  get client() {
    return this.#cluster.client;
  }

  async define(): Promise<Kind> {
    valueOf(await this.client.create(crds, widgets as unknown as CustomResourceDefinition));
    await this.world.sleep(100);
    const definition = valueOf(await this.client.get(crds, { namespace: undefined, name: 'widgets.example.com' }));
    const [kind] = customKinds(definition).served;
    if (kind === undefined) throw new Error('nothing is served');
    return kind;
  }

  async map(name: string, metadata: Partial<ObjectMeta> = {}): Promise<ConfigMap> {
    return valueOf(await this.client.create(configMapKind, { metadata: { ...named(name), ...metadata } }));
  }

  async widget(kind: Kind, name: string, metadata: Partial<ObjectMeta> = {}): Promise<KubeObject> {
    return valueOf(await this.client.create(kind, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { ...named(name), ...metadata } }));
  }

  /** Names of all maps and widgets. */
  async left(kind: Kind): Promise<string[]> {
    const maps = valueOf(await this.client.list(configMapKind, { namespace: 'default' })).items;
    const others = valueOf(await this.client.list(kind, { namespace: 'default' })).items;
    return [...maps, ...others].map(({ metadata }) => metadata.name ?? '').filter((name) => name !== 'kube-root-ca.crt');
  }
}

const ownedBy = (owner: KubeObject, more: Partial<OwnerReference> = {}): { ownerReferences: OwnerReference[] } => ({
  ownerReferences: [{ apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name ?? '', uid: owner.metadata.uid ?? '', ...more }],
});

const inCluster = (body: (fixture: CustomKindsTest) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    startHousekeeping(cluster.transport, world);
    await world.sleep(1);
    await body(new CustomKindsTest(cluster, world));
  });

test(
  'who is owned by a custom object goes with it, and custom objects go with their owners',
  inCluster(async (fixture) => {
    const kind = await fixture.define();
    const root = await fixture.map('root');
    const widget = await fixture.widget(kind, 'widget', ownedBy(root));
    await fixture.map('leaf', ownedBy(widget));
    await fixture.world.sleep(1_000);
    expect(await fixture.left(kind)).toEqual(['leaf', 'root', 'widget']);
    valueOf(await fixture.client.delete(configMapKind, named('root'), { propagation: 'Background' }));
    await fixture.world.sleep(2_000);
    expect(await fixture.left(kind)).toEqual([]);
  }),
);

test(
  'a reference may name any version that is served',
  inCluster(async (fixture) => {
    const kind = await fixture.define();
    const widget = await fixture.widget(kind, 'widget');
    await fixture.map('leaf', ownedBy(widget, { apiVersion: 'example.com/v1beta1' }));
    await fixture.world.sleep(2_000);
    expect(await fixture.left(kind)).toEqual(['leaf', 'widget']);
    valueOf(await fixture.client.delete(kind, named('widget'), { propagation: 'Background' }));
    await fixture.world.sleep(70_000);
    expect(await fixture.left(kind)).toEqual([]);
  }),
);

test(
  'in the foreground it goes after its dependents, as an orphan they stay',
  inCluster(async (fixture) => {
    const kind = await fixture.define();
    const [first, second] = [await fixture.widget(kind, 'first'), await fixture.widget(kind, 'second')];
    await fixture.map('of-first', { ...ownedBy(first, { blockOwnerDeletion: true }), finalizers: ['example.com/wait'] });
    await fixture.map('of-second', ownedBy(second));
    valueOf(await fixture.client.delete(kind, named('first'), { propagation: 'Foreground' }));
    valueOf(await fixture.client.delete(kind, named('second'), { propagation: 'Orphan' }));
    await fixture.world.sleep(2_000);
    expect(await fixture.left(kind)).toEqual(['of-first', 'of-second', 'first']);
    valueOf(await fixture.client.patch(configMapKind, named('of-first'), { type: 'merge', body: { metadata: { finalizers: null } } }));
    await fixture.world.sleep(2_000);
    expect(await fixture.left(kind)).toEqual(['of-second']);
    expect(valueOf(await fixture.client.get(configMapKind, named('of-second'))).metadata.ownerReferences).toBeUndefined();
  }),
);

test(
  'an owner of an undefined kind is not absent; once the kind is defined and the owner does not exist, it is',
  inCluster(async (fixture) => {
    await fixture.map('leaf', { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'absent', uid: 'no-such-uid' }] });
    await fixture.world.sleep(60_000);
    expect((await fixture.client.get(configMapKind, named('leaf'))).ok).toBe(true);
    const kind = await fixture.define();
    await fixture.world.sleep(2_000);
    expect(await fixture.left(kind)).toEqual([]);
  }),
);

test(
  'with a definition go its objects, and with these what they own',
  inCluster(async (fixture) => {
    const kind = await fixture.define();
    const widget = await fixture.widget(kind, 'widget');
    await fixture.map('leaf', ownedBy(widget));
    await fixture.world.sleep(1_000);
    valueOf(await fixture.client.delete(crds, { namespace: undefined, name: 'widgets.example.com' }));
    await fixture.world.sleep(2_000);
    expect((await fixture.client.get(crds, { namespace: undefined, name: 'widgets.example.com' })).ok).toBe(false);
    expect((await fixture.client.get(configMapKind, named('leaf'))).ok).toBe(false);
    // And the same again: nothing of the first is left behind.
    const again = await fixture.define();
    await fixture.widget(again, 'widget');
    await fixture.world.sleep(1_000);
    expect(await fixture.left(again)).toEqual(['widget']);
  }),
);

test(
  'a namespace goes when the last custom object in it has gone, without waiting for a next attempt',
  inCluster(async (fixture) => {
    const kind = await fixture.define();
    valueOf(await fixture.client.create(namespaceKind, { metadata: { name: 'other' } }));
    await fixture.widget(kind, 'widget', { namespace: 'other', finalizers: ['example.com/wait'] });
    const other = { namespace: undefined, name: 'other' };
    valueOf(await fixture.client.delete(namespaceKind, other));
    await fixture.world.sleep(1_000);
    const namespace = valueOf(await fixture.client.get(namespaceKind, other));
    const remaining = namespace.status.conditions?.find(({ type }) => type === 'NamespaceContentRemaining');
    expect(remaining?.message).toBe('Some resources are remaining: widgets.example.com has 1 resource instances');
    valueOf(await fixture.client.patch(kind, { namespace: 'other', name: 'widget' }, { type: 'merge', body: { metadata: { finalizers: null } } }));
    await fixture.world.sleep(200);
    expect((await fixture.client.get(namespaceKind, other)).ok).toBe(false);
  }),
);

test('a quota counts custom objects, also those that were there before', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const fixture = new CustomKindsTest(cluster, world);
    const informers: Informers = new Informers({ client: createClient({ transport: cluster.transport }), world });
    const client = createClient({ transport: cluster.transport, observer: informers.observer });
    const definedKinds = new DefinedKinds(informers);
    runController(quotaController({ client, informers, clock: world.clock, kinds: allKinds, definedKinds }), { world, informers });
    informers.start();
    await world.sleep(1);
    const kind = await fixture.define();
    await fixture.widget(kind, 'before');
    const hard = { 'count/widgets.example.com': '2' };
    const quota = { metadata: named('quota'), spec: { hard } } as Partial<ResourceQuota>;
    valueOf(await cluster.client.create(resourceQuotaKind, quota));
    const used = async () => valueOf(await cluster.client.get(resourceQuotaKind, named('quota'))).status.used;
    await world.sleep(1_000);
    expect(await used()).toEqual({ 'count/widgets.example.com': '1' });
    await fixture.widget(kind, 'second');
    await expect(fixture.widget(kind, 'third')).rejects.toThrow(
      'exceeded quota: quota, requested: count/widgets.example.com=1, used: count/widgets.example.com=2, limited: count/widgets.example.com=2',
    );
    valueOf(await cluster.client.delete(kind, named('before')));
    await world.sleep(1_000);
    expect(await used()).toEqual({ 'count/widgets.example.com': '1' });
  }));
