import { describe, expect, test } from 'vitest';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const put = (api: ApiUnderTest, name: string, object: object = {}) => api.send('PUT', `${maps}/${name}`, { body: { metadata: { name }, ...object } });

describe('watching', () => {
  test(
    'a watch from any revision shows exactly what came after it',
    onApi(async (api) => {
      const start = api.store.revision();
      await api.create(maps, { metadata: { name: 'a' } });
      await put(api, 'a', { data: { x: '1' } });
      await api.create(maps, { metadata: { name: 'b' } });
      await api.send('DELETE', `${maps}/a`);
      await api.create('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
      await put(api, 'b', { data: { x: '2' } });
      const all = [`ADDED a@${start + 1}`, `MODIFIED a@${start + 2}`, `ADDED b@${start + 3}`, `DELETED a@${start + 4}`, `MODIFIED b@${start + 6}`];
      for (let after = start; after <= start + 6; after++) {
        const watched = await api.watch(maps, `resourceVersion=${after}`);
        expect(watched.lines).toEqual(all.filter((line) => Number(line.split('@')[1]) > after));
        await put(api, 'b', { data: { x: `live ${after}` } });
        expect(watched.lines.at(-1)).toBe(`MODIFIED b@${api.store.revision()}`);
        watched.open?.stop();
        await put(api, 'b', { data: { x: '2' } });
        expect(watched.lines.at(-1)).toBe(`MODIFIED b@${api.store.revision() - 1}`);
        all.push(`MODIFIED b@${api.store.revision() - 1}`, `MODIFIED b@${api.store.revision()}`);
      }
    }),
  );

  test(
    'a deletion carries the last state, with the version of the deletion',
    onApi(async (api) => {
      await api.create(maps, { metadata: { name: 'a' }, data: { last: 'words' } });
      const watched = await api.watch(maps, `resourceVersion=${api.store.revision()}`);
      await api.send('DELETE', `${maps}/a`);
      const [event] = watched.seen;
      expect(event?.stored.object).toMatchObject({ data: { last: 'words' }, metadata: { resourceVersion: String(api.store.revision()) } });
      expect(JSON.parse(Buffer.from(event?.stored.json() ?? []).toString())).toEqual(event?.stored.object);
      expect(Object.isFrozen(event?.stored.object.metadata)).toBe(true);
    }),
  );

  test(
    'without a version a watch begins with the state of things; with one in the future it waits for it',
    onApi(async (api) => {
      for (let i = 0; i < 3; i++) await api.create(maps, { metadata: { name: `m${i}` } });
      for (const query of ['', 'resourceVersion=0']) {
        const watched = await api.watch(maps, query);
        await api.world.sleep(1);
        expect(watched.lines.map((line) => line.split('@')[0])).toEqual(['ADDED m0', 'ADDED m1', 'ADDED m2']);
        watched.open?.stop();
      }
      const early = await api.watch(maps, `resourceVersion=${api.store.revision() + 1}`);
      await api.create(maps, { metadata: { name: 'skipped' } });
      await api.create(maps, { metadata: { name: 'seen' } });
      expect(early.lines.map((line) => line.split('@')[0])).toEqual(['ADDED seen']);
    }),
  );

  test(
    'a streamed list: the state, a bookmark that says it is complete, then changes',
    onApi(async (api) => {
      await api.create(maps, { metadata: { name: 'a' } });
      const revision = api.store.revision();
      const watched = await api.watch(maps, 'sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan');
      await api.world.sleep(1);
      expect(watched.lines).toEqual([`ADDED a@${revision}`, `BOOKMARK @${revision}`]);
      expect(watched.seen.at(-1)?.stored.object).toEqual({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { resourceVersion: String(revision), annotations: { 'k8s.io/initial-events-end': 'true' } },
      });
      await put(api, 'a', { data: { x: 'y' } });
      expect(watched.lines.at(-1)).toBe(`MODIFIED a@${revision + 1}`);
      const future = await api.watch(maps, `sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=${revision + 100}`);
      await api.world.sleep(5_000);
      expect(future.ended?.status).toMatchObject({ code: 504, reason: 'Timeout' });
    }),
  );

  test(
    'a large collection arrives whole although it is sent in pages while others write',
    onApi(async (api) => {
      for (let i = 0; i < 1_203; i++) await api.create(maps, { metadata: { name: `m${String(i).padStart(5, '0')}` } });
      const response = await api.handle('GET', maps, { query: 'watch=1&allowWatchBookmarks=1' });
      if (response.type !== 'watch') throw new Error('no watch');
      const seen = new Map<string, string>();
      let waited = 0;
      response.start({
        events: (batch) => {
          for (const { type, stored } of batch) if (type !== 'BOOKMARK') seen.set(stored.object.metadata.name ?? '', `${type} ${stored.revision}`);
        },
        end: () => undefined,
        drained: async () => {
          waited++;
          await put(api, 'm00000', { data: { waited: String(waited) } });
          await api.send('DELETE', `${maps}/m0120${waited}`);
        },
      });
      await api.world.sleep(10);
      expect(waited).toBe(2);
      expect(seen.size).toBe(1_203);
      expect(seen.get('m00000')).toMatch(/^MODIFIED/);
      expect(seen.get('m01201')).toMatch(/^DELETED/);
    }),
  );

  test(
    'a selector sees objects come and go as they begin and cease to match',
    onApi(async (api) => {
      const watched = await api.watch(maps, `resourceVersion=${api.store.revision()}&labelSelector=on=yes`);
      const with_ = (on: string, x: string) => ({ metadata: { name: 'a', labels: { on } }, data: { x } });
      await api.create(maps, with_('no', '0'));
      await put(api, 'a', with_('yes', '1'));
      await put(api, 'a', with_('yes', '2'));
      await put(api, 'a', with_('no', '3'));
      await put(api, 'a', with_('no', '4'));
      await put(api, 'a', with_('yes', '5'));
      await api.send('DELETE', `${maps}/a`);
      const revision = api.store.revision();
      expect(watched.lines).toEqual([
        `ADDED a@${revision - 5}`,
        `MODIFIED a@${revision - 4}`,
        `DELETED a@${revision - 3}`,
        `ADDED a@${revision - 1}`,
        `DELETED a@${revision}`,
      ]);
      // What it loses is what it saw last, not what the object has become.
      expect(watched.seen[2]?.stored.object).toMatchObject({ data: { x: '2' } });
    }),
  );

  test(
    'a watch of one name, in all its forms, hears of no other',
    onApi(async (api) => {
      const revision = api.store.revision();
      const watches = await Promise.all([
        api.watch(maps, `resourceVersion=${revision}&fieldSelector=metadata.name=a`),
        api.watch('/api/v1/configmaps', `resourceVersion=${revision}&fieldSelector=metadata.name=a,metadata.namespace=default`),
        api.watch('/api/v1/watch/namespaces/default/configmaps/a', `resourceVersion=${revision}`),
      ]);
      await api.create(maps, { metadata: { name: 'ab' } });
      await api.create(maps, { metadata: { name: 'a' } });
      for (const watched of watches) expect(watched.lines).toEqual([`ADDED a@${api.store.revision()}`]);
      const everywhere = await api.watch('/api/v1/watch/configmaps', `resourceVersion=${revision}`);
      expect(everywhere.lines).toHaveLength(2);
    }),
  );

  test(
    'what is forgotten cannot be watched: the client has to list again',
    onApi(async (api) => {
      for (let i = 0; i < 5; i++) await api.create(maps, { metadata: { name: `m${i}` } });
      const compacted = api.store.revision() - 1;
      await api.store.compact(compacted);
      const old = await api.watch(maps, 'resourceVersion=2');
      expect(old.ended?.status).toMatchObject({ code: 410, reason: 'Expired', message: `too old resource version: 2 (${compacted})` });
      expect(old.seen).toEqual([]);
      const fresh = await api.watch(maps, `resourceVersion=${compacted}`);
      expect(fresh.lines).toHaveLength(1);
    }),
  );

  test(
    'bookmarks come every minute and just before the end, which comes in time',
    onApi(async (api) => {
      await api.create(maps, { metadata: { name: 'a' } });
      const watched = await api.watch(maps, `resourceVersion=${api.store.revision()}&allowWatchBookmarks=true&timeoutSeconds=150`);
      const plain = await api.watch(maps, `resourceVersion=${api.store.revision()}&timeoutSeconds=150`);
      await api.world.sleep(61_000);
      expect(watched.lines).toEqual([`BOOKMARK @${api.store.revision()}`]);
      await api.create('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
      await api.world.sleep(60_000);
      expect(watched.lines).toHaveLength(2);
      await api.world.sleep(28_000);
      expect(watched.lines.at(-1)).toBe(`BOOKMARK @${api.store.revision()}`);
      expect(watched.lines).toHaveLength(3);
      expect(watched.ended).toBeUndefined();
      await api.world.sleep(2_000);
      expect(watched.ended).toEqual({ status: undefined });
      expect(plain.ended).toEqual({ status: undefined });
      expect(plain.seen).toEqual([]);
    }),
  );

  test(
    'a watch without a time of its own ends between half an hour and an hour',
    onApi(async (api) => {
      const watched = await api.watch(maps, 'resourceVersion=1');
      await api.world.sleep(1_799_000);
      expect(watched.ended).toBeUndefined();
      await api.world.sleep(1_802_000);
      expect(watched.ended).toBeDefined();
    }),
  );

  test(
    'a thousand watchers share one event, and whatever is encoded from it',
    onApi(async (api) => {
      const watches = await Promise.all(Array.from({ length: 1_000 }, () => api.watch(maps, `resourceVersion=${api.store.revision()}`)));
      await api.create(maps, { metadata: { name: 'a' } });
      expect(new Set(watches.map((watched) => watched.seen[0])).size).toBe(1);
      await api.send('DELETE', `${maps}/a`);
      expect(new Set(watches.map((watched) => watched.seen[1])).size).toBe(1);
      // Also for one who comes later and replays.
      const late = await api.watch(maps, `resourceVersion=${api.store.revision() - 1}`);
      expect(late.seen[0]).toBe(watches[0]?.seen[1]);
    }),
  );
});
