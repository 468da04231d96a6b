import { describe, expect, test } from 'vitest';
import { onApi } from '../api-under-test.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import type { ObjectRevision } from '../../../src/apiserver/api.ts';
import { ListCache } from '../../../src/apiserver/objects/list-cache.ts';
import type { Resource } from '../../../src/apiserver/objects/resources.ts';

const resource = {} as Resource;
const items = (count: number): readonly ObjectRevision[] => Array.from({ length: count }, () => ({}) as ObjectRevision);
const shown = (prefix: string, revision = 7) => ({ prefix, resource, revision });

describe('cached lists', () => {
  test('are found at the same revision, as the same resource, and for a second', () =>
    simulate(1, async (world) => {
      const lists = new ListCache(world);
      const many = items(200);
      lists.keep(shown('/a/'), many);
      expect(lists.find(shown('/a/'))).toBe(many);
      expect(lists.find(shown('/a/', 8))).toBeUndefined();
      expect(lists.find(shown('/b/'))).toBeUndefined();
      expect(lists.find({ ...shown('/a/'), resource: {} as Resource })).toBeUndefined();
      await world.sleep(1_001);
      expect(lists.find(shown('/a/'))).toBeUndefined();
    }));

  test('a newer list replaces an older one, and does not expire with it', () =>
    simulate(1, async (world) => {
      const lists = new ListCache(world);
      lists.keep(shown('/a/'), items(200));
      await world.sleep(800);
      const newer = items(201);
      lists.keep(shown('/a/', 8), newer);
      await world.sleep(800);
      expect(lists.find(shown('/a/', 8))).toBe(newer);
    }));

  test('at most four are kept, and no small ones', () =>
    simulate(1, async (world) => {
      const lists = new ListCache(world);
      lists.keep(shown('/small/'), items(199));
      for (const prefix of ['/a/', '/b/', '/c/', '/d/', '/e/']) lists.keep(shown(prefix), items(200));
      const kept = ['/small/', '/a/', '/b/', '/c/', '/d/', '/e/'].filter((prefix) => lists.find(shown(prefix)) !== undefined);
      expect(kept).toEqual(['/b/', '/c/', '/d/', '/e/']);
      await world.sleep(2_000);
    }));
});

test(
  'a list read again shows every write in between, and each namespace its own objects',
  onApi(async (api) => {
    const maps = '/api/v1/namespaces/default/configmaps';
    for (let i = 0; i < 250; i++) await api.create(maps, { metadata: { name: `m${i}` } });
    const list = async (path: string, query = '') =>
      (await api.send('GET', path, { query })).body as { items: unknown[]; metadata: { resourceVersion: string } };
    const first = await list(maps);
    expect(await list(maps)).toEqual(first);
    expect(await list(maps, `resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`)).toEqual(first);
    await api.create(maps, { metadata: { name: 'late' } });
    const second = await list(maps);
    expect(second.items).toHaveLength(251);
    expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
    expect(await list(maps, `resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`)).toEqual(first);
    expect((await list('/api/v1/namespaces/kube-system/configmaps')).items).toHaveLength(0);
    expect((await list(maps, 'labelSelector=a%3Db')).items).toHaveLength(0);
  }),
);
