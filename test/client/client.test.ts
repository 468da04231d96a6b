import { expect, test } from 'vitest';
import { simulate } from '../../src/sim/world/world.ts';
import { configMapKind as configMaps } from '../../src/api/kinds/core/config-map.ts';
import { configMap, startTestCluster } from './test-cluster.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });

test('objects come by reference, frozen, and the same for every client', () =>
  simulate(1, async (world) => {
    const { client } = await startTestCluster(world);
    await client.create(configMaps, configMap('a', '1'));
    const [one, two] = [await client.get(configMaps, inDefault('a')), await client.list(configMaps)];
    if (!one.ok || !two.ok) throw new Error('not found');
    expect(one.value).toBe(two.value.items[0]);
    expect(Object.isFrozen(one.value.data)).toBe(true);
  }));

test('expected failures are values with a reason', () =>
  simulate(1, async (world) => {
    const { client } = await startTestCluster(world);
    const made = await client.create(configMaps, configMap('a', '1'));
    if (!made.ok) throw made.error;
    await client.update(configMaps, { ...made.value, data: { value: '2' } });
    const results = {
      notFound: await client.get(configMaps, inDefault('b')),
      alreadyExists: await client.create(configMaps, configMap('a', '1')),
      conflict: await client.update(configMaps, { ...made.value, data: { value: '3' } }),
      wrongUid: await client.delete(configMaps, inDefault('a'), { preconditions: { uid: 'other' } }),
      noNamespace: await client.create(configMaps, { metadata: { namespace: 'nowhere', name: 'a' } }),
    };
    expect(Object.fromEntries(Object.entries(results).map(([name, r]) => [name, r.ok ? 'ok' : r.reason]))).toEqual({
      notFound: 'notFound',
      alreadyExists: 'alreadyExists',
      conflict: 'conflict',
      wrongUid: 'conflict',
      noNamespace: 'notFound',
    });
  }));

test('a name that is no path segment is not found, and reaches no other path', () =>
  simulate(1, async (world) => {
    const { client } = await startTestCluster(world);
    await client.create(configMaps, configMap('a', '1'));
    for (const name of ['../configmaps/a', 'x/../a', '', '.', '..', '%61']) {
      expect(await client.get(configMaps, inDefault(name))).toMatchObject({ ok: false, reason: 'notFound' });
      expect(await client.delete(configMaps, inDefault(name))).toMatchObject({ ok: false, reason: 'notFound' });
    }
    expect(await client.get(configMaps, inDefault('a'))).toMatchObject({ ok: true });
  }));

test('the observer sees each successful write, and a removal as such', () =>
  simulate(1, async (world) => {
    const { transport } = await startTestCluster(world);
    const observed: string[] = [];
    const { createClient } = await import('../../src/client/client.ts');
    const client = createClient({
      transport,
      observer: {
        written: (_, o) =>
          observed.push(
            `written ${o.metadata.name} ${o.metadata.finalizers?.join() ?? ''} ${o.metadata.deletionTimestamp === undefined ? '' : 'deleting'}`.trim(),
          ),
        removed: (_, gone) => observed.push(`removed ${gone.namespace}/${gone.name} ${gone.uid.length}`),
      },
    });
    await client.create(configMaps, configMap('a', '1'), { dryRun: true });
    const held = await client.create(configMaps, { ...configMap('a', '1'), metadata: { ...configMap('a', '1').metadata, finalizers: ['example.com/hold'] } });
    if (!held.ok) throw held.error;
    await client.create(configMaps, configMap('a', '1'));
    expect(await client.delete(configMaps, inDefault('a'))).toMatchObject({ ok: true, value: { type: 'pending' } });
    const pending = await client.get(configMaps, inDefault('a'));
    if (!pending.ok) throw pending.error;
    const { finalizers: _, ...metadata } = pending.value.metadata;
    await client.update(configMaps, { ...pending.value, metadata });
    await client.create(configMaps, configMap('b', '1'));
    expect(await client.delete(configMaps, inDefault('b'))).toMatchObject({ ok: true, value: { type: 'gone' } });
    expect(observed).toEqual([
      'written a example.com/hold',
      'written a example.com/hold deleting',
      'removed default/a 36',
      'written b',
      'removed default/b 36',
    ]);
  }));
