import { expect, test } from 'vitest';
import { configMap, startTestCluster } from './test-cluster.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { confirmCurrent, confirmGone } from '../../src/client/controller/confirm.ts';

test('what exists is not gone; another of the same name, or none, is', () =>
  simulate(1, async (world) => {
    const { client } = await startTestCluster(world);
    const made = await client.create(configMapKind, configMap('a', '1'));
    if (!made.ok) throw made.error;
    const { uid } = made.value.metadata;
    const ref = { namespace: 'default', name: 'a' };
    expect(await confirmGone(client, configMapKind, { ...ref, uid })).toBe('conflict');
    expect(await confirmGone(client, configMapKind, { ...ref, uid: 'another' })).toBe('done');
    expect(await confirmGone(client, configMapKind, { ...ref, name: 'b', uid })).toBe('done');
  }));

test('what changed, or went, is no longer current', () =>
  simulate(1, async (world) => {
    const { client } = await startTestCluster(world);
    const made = await client.create(configMapKind, configMap('a', '1'));
    if (!made.ok) throw made.error;
    expect(await confirmCurrent(client, configMapKind, made.value)).toBe('done');
    await client.update(configMapKind, { ...made.value, data: { value: '2' } });
    expect(await confirmCurrent(client, configMapKind, made.value)).toBe('conflict');
    await client.delete(configMapKind, { namespace: 'default', name: 'a' });
    expect(await confirmCurrent(client, configMapKind, made.value)).toBe('conflict');
  }));
