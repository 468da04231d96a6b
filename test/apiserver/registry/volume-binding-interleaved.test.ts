import { expect, test } from 'vitest';
import { ApiUnderTest, type Sent, type Watched } from '../api-under-test.ts';
import { bound, claim, claims, volume, volumes } from '../bound-pair.ts';
import { volumeBindingsPath as bindings } from '../../../src/api/kinds/mooring/volume-binding.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import type { Store } from '../../../src/store/contract.ts';
import { openMemoryStore } from '../../../src/store/memory/memory-store.ts';

type Parsed = Sent['body'];

/** A store with random delays, so that requests overlap in every way. */
function slow(store: Store, world: SimulatedWorld): Store {
  const delayed = new Set<string | symbol>(['get', 'transact', 'range']);
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const method = (...args: unknown[]): unknown => Reflect.apply(member, target, args);
      if (!delayed.has(name)) return method;
      return async (...args: unknown[]) => {
        await world.sleep(0);
        const result: unknown = await method(...args);
        await world.sleep(0);
        return result;
      };
    },
  });
}

/** The state at each revision, as clients get it from watches. */
function* states(watches: readonly Watched[]): Generator<ReadonlyMap<string, Parsed>> {
  const state = new Map<string, Parsed>();
  const events = watches.flatMap(({ seen }) => seen).sort((a, b) => a.stored.revision - b.stored.revision);
  for (const [i, { type, stored }] of events.entries()) {
    const key = `${stored.object.kind}/${stored.object.metadata.name}`;
    if (type === 'DELETED') state.delete(key);
    else state.set(key, stored.object);
    if (events[i + 1]?.stored.revision !== stored.revision) yield state;
  }
}

/** A PV and a PVC that exist refer to each other, or neither does. */
function expectNoHalf(state: ReadonlyMap<string, Parsed>, message: string): void {
  for (const object of state.values()) {
    const isVolume = object.kind === 'PersistentVolume';
    const ref = isVolume ? object.spec.claimRef?.name : object.spec.volumeName;
    expect(object.status.phase === 'Bound', message).toBe(ref !== undefined);
    const other = ref === undefined ? undefined : state.get(`${isVolume ? 'PersistentVolumeClaim' : 'PersistentVolume'}/${ref}`);
    // A claim of that name may have come back as another one.
    if (other === undefined || (isVolume && other.metadata.uid !== object.spec.claimRef.uid)) continue;
    expect(isVolume ? other.spec.volumeName : other.spec.claimRef?.name, message).toBe(object.metadata.name);
  }
}

test('no client ever sees a one-sided reference between a PV and a PVC, under concurrent writes', async () => {
  let done = 0;
  for (const seed of seeds(15)) {
    await simulate(seed, async (world) => {
      const api = new ApiUnderTest(world, slow(openMemoryStore(), world));
      await api.namespace('default');
      const names = ['a', 'b', 'c', 'd'];
      for (const name of names) await Promise.all([api.create(volumes, volume(name)), api.create(claims, claim(name))]);
      const watches = [await api.watch(volumes, 'resourceVersion=0'), await api.watch(claims, 'resourceVersion=0')];
      const any = () => names[world.random.below(names.length)] ?? 'a';
      const binder = async () => {
        const [v, c] = await Promise.all([api.send('GET', `${volumes}/${any()}`), api.send('GET', `${claims}/${any()}`)]);
        if (c.code !== 200 || v.body.spec.claimRef !== undefined || c.body.spec.volumeName !== undefined) return;
        const { code } = await api.create(bindings, bound(v.body, c.body));
        if (code === 201) done++;
        else expect([404, 409]).toContain(code);
      };
      const meddler = async () => {
        const path = `${world.random.float() < 0.5 ? volumes : claims}/${any()}`;
        const body = { metadata: { labels: { n: String(world.random.below(100)) } } };
        await api.send('PATCH', path, { body, contentType: 'application/merge-patch+json' });
      };
      const remover = async () => {
        const path = `${claims}/${any()}`;
        await api.send('DELETE', path);
        await api.send('PATCH', path, { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' });
        await api.create(claims, claim(path.slice(-1)));
      };
      const times = (count: number, act: () => Promise<void>) => Array.from({ length: count }, () => world.sleep(world.random.below(30)).then(act));
      await Promise.all([...times(30, binder), ...times(30, meddler), ...times(3, remover)]);
      await world.sleep(10);
      for (const state of states(watches)) expectNoHalf(state, `seed ${seed}`);
      await api.api.stop();
    });
  }
  expect(done).toBeGreaterThan(20);
});
