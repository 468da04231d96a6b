import { expect, test } from 'vitest';
import { ApiUnderTest } from '../api-under-test.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import type { WatchEvent } from '../../../src/apiserver/api.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const names = ['a', 'b', 'c', 'd'];
const selectors = ['', 'labelSelector=on=yes', 'labelSelector=on', 'fieldSelector=metadata.name=b', 'labelSelector=on!=yes&fieldSelector=metadata.name!=a'];

/** A client that keeps a copy of the selected objects: from a list or a watch without a version, then from events alone. */
class Replica {
  readonly objects = new Map<string, KubeObject>();
  #newest = 0;

  apply(batch: readonly WatchEvent[]): void {
    for (const { type, stored } of batch) {
      const { object, revision } = stored;
      const name = object.metadata.name ?? '';
      if (type === 'BOOKMARK') continue;
      // Initial state comes in the order of names; all that follows, in the order of revisions.
      if (type !== 'ADDED' || this.objects.has(name)) expect(revision).toBeGreaterThanOrEqual(this.#newest);
      this.#newest = Math.max(this.#newest, revision);
      if (type === 'ADDED') expect(this.objects.has(name)).toBe(false);
      else expect(this.objects.has(name)).toBe(true);
      if (type === 'DELETED') this.objects.delete(name);
      else this.objects.set(name, object);
    }
  }
}

async function randomWrite(api: ApiUnderTest, world: SimulatedWorld): Promise<void> {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(world.random.float() * from.length)] as T;
  const name = pick(names);
  const labels = pick([{}, { on: 'yes' }, { on: 'no' }]);
  const merge = { contentType: 'application/merge-patch+json' };
  switch (pick(['create', 'create', 'patch', 'patch', 'put', 'delete', 'finalize'] as const)) {
    case 'create':
      return void (await api.create(maps, { metadata: { name, labels, finalizers: pick([[], ['example.com/x']]) } }));
    case 'patch':
      return void (await api.send('PATCH', `${maps}/${name}`, { ...merge, body: { metadata: { labels: { on: pick([null, 'yes', 'no']) } } } }));
    case 'put':
      return void (await api.send('PUT', `${maps}/${name}`, { body: { metadata: { name, labels }, data: { x: String(world.random.float()) } } }));
    case 'delete':
      return void (await api.send('DELETE', `${maps}/${name}`));
    case 'finalize':
      return void (await api.send('PATCH', `${maps}/${name}`, { ...merge, body: { metadata: { finalizers: null } } }));
  }
}

async function openReplica(api: ApiUnderTest, selector: string, listFirst: boolean): Promise<Replica> {
  const replica = new Replica();
  let query = `watch=1&${selector}`;
  if (listFirst) {
    const response = await api.handle('GET', maps, { query: selector });
    if (response.type !== 'list') throw new Error('no list');
    for (const { object } of response.items) replica.objects.set(object.metadata.name ?? '', object);
    query += `&resourceVersion=${response.metadata.resourceVersion}`;
  }
  const response = await api.handle('GET', maps, { query });
  if (response.type !== 'watch') throw new Error('no watch');
  response.start({ events: (batch) => replica.apply(batch), end: (status) => expect(status).toBeUndefined() });
  return replica;
}

test('a client that lists and watches, at any time and with any selector, ends up with the stored objects', async () => {
  for (let seed = 0; seed < 25; seed++) {
    await simulate(seed, async (world) => {
      const api = new ApiUnderTest(world);
      await api.namespace('default');
      const replicas: { readonly selector: string; readonly replica: Replica }[] = [];
      const writers = Array.from({ length: 4 }, async () => {
        for (let i = 0; i < 25; i++) {
          await world.sleep(Math.floor(world.random.float() * 3));
          await randomWrite(api, world);
        }
      });
      const watchers = selectors.flatMap((selector) =>
        [true, false].map(async (listFirst) => {
          await world.sleep(world.random.float() * 30);
          replicas.push({ selector, replica: await openReplica(api, selector, listFirst) });
        }),
      );
      await Promise.all([...writers, ...watchers]);
      await world.sleep(10);
      for (const { selector, replica } of replicas) {
        const { items } = (await api.send('GET', maps, { query: selector })).body;
        const copy = [...replica.objects.values()].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
        expect(copy, `seed ${seed}, ${selector}`).toEqual(items);
      }
      await api.api.stop();
    });
  }
});
