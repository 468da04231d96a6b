import { expect, test } from 'vitest';
import { resourceRequestInfo } from '../../../src/api/request-info.ts';
import { ApiUnderTest, onApi } from '../api-under-test.ts';
import { allKinds } from '../../../src/api/kinds/index.ts';
import type { ConfigMap } from '../../../src/api/generated/types.ts';
import { cloneObject } from '../../../src/api/schema/index.ts';
import { Metrics } from '../../../src/apiserver/metrics/metrics.ts';
import { orderedPlugins } from '../../../src/apiserver/admission/plugin-order.ts';
import { defaultServiceNetwork } from '../../../src/apiserver/admission/plugins/service-allocation.ts';
import { type UpdateCall, writeTogether } from '../../../src/apiserver/registry/volume-bindings/write-together.ts';
import { KeyLocks } from '../../../src/apiserver/objects/locks.ts';
import { ListCache } from '../../../src/apiserver/objects/list-cache.ts';
import type { Registry } from '../../../src/apiserver/registry/registry.ts';
import { Resources } from '../../../src/apiserver/objects/resources.ts';

const maps = '/api/v1/namespaces/default/configmaps';

function registryOf({ store, world }: ApiUnderTest): Registry {
  const resources = new Resources(allKinds);
  return {
    store,
    world,
    resources,
    locks: new KeyLocks(world.timers),
    listCache: new ListCache(world),
    admission: orderedPlugins(resources, { store, world, network: defaultServiceNetwork, access: undefined, metrics: new Metrics() }),
  };
}

/** Moves one unit from a map to another. */
function transfer({ resources }: Registry, from: string, to: string): UpdateCall[] {
  const resource = resources.require('v1', 'configmaps');
  const common = { query: new URLSearchParams(), user: { name: 'x', groups: [] }, userAgent: '', body: { type: 'none' } } as const;
  return (
    [
      [from, -1],
      [to, 1],
    ] as const
  ).map(([name, difference]) => ({
    call: {
      request: { ...common, info: resourceRequestInfo('update', resource.kind, { namespace: 'default', name }) },
      route: { resource, namespace: 'default', name, subresource: '' },
      warnings: new Set(),
    },
    change: {
      part: 'object',
      options: { dryRun: false, fieldValidation: 'Strict', fieldManager: '' },
      createsAbsent: false,
      desired: (current) => {
        const map = cloneObject(current) as ConfigMap;
        map.data = { n: String(Number(map.data?.['n']) + difference) };
        return map;
      },
    },
  }));
}

test(
  'two objects change at one revision or not at all, however many do so at once',
  onApi(async (api) => {
    const registry = registryOf(api);
    for (const name of ['a', 'b', 'c']) await api.create(maps, { metadata: { name }, data: { n: '10' } });
    const watched = await api.watch(maps, `resourceVersion=${api.store.revision()}`);
    const pairs = Array.from({ length: 20 }, (_, i): [string, string] => (i % 2 === 0 ? ['a', 'b'] : ['c', 'a']));
    await Promise.all(pairs.map(([from, to]) => writeTogether(registry, { updates: transfer(registry, from, to) })));
    const { items } = (await api.send('GET', maps)).body;
    expect(items.map((item: ConfigMap) => item.data?.['n'])).toEqual(['10', '20', '0']);
    // No watcher saw one without the other.
    expect(watched.batches).toHaveLength(20);
    for (const batch of watched.batches) expect(new Set(batch.map(({ stored }) => stored.revision)).size).toBe(1);
    for (const batch of watched.batches) expect(batch).toHaveLength(2);
  }),
);

test(
  'if one update is refused, none is made',
  onApi(async (api) => {
    const registry = registryOf(api);
    await api.create(maps, { metadata: { name: 'a' }, data: { n: '10' } });
    const before = api.store.revision();
    await expect(writeTogether(registry, { updates: transfer(registry, 'a', 'gone') })).rejects.toMatchObject({ code: 404 });
    await expect(writeTogether(registry, { updates: transfer(registry, 'a', 'a') })).rejects.toMatchObject({ code: 400 });
    expect(api.store.revision()).toBe(before);
  }),
);
