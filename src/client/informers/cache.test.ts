import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConfigMap } from '../../api/generated/types.ts';
import type { Stored, StoredMeta } from '../../api/stored.ts';
import { Prng } from '../../sim/world/prng.ts';
import { SimulatedWorld } from '../../sim/world/world.ts';
import { Cache, type Change, ownerUids } from './cache.ts';

const { log } = new SimulatedWorld(0);
const newCache = () => new Cache<ConfigMap>({ log });
const at = (name: string, revision: number, more: Partial<StoredMeta> = {}): Stored<ConfigMap> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name, uid: `${name}-1`, resourceVersion: String(revision), ...more },
});
const shown = (cache: Cache<ConfigMap>) => [...cache.list()].map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort();
const gone = (name: string) => ({ namespace: 'default', name, uid: `${name}-1` });

test('an object never goes back: revisions are compared as numbers, not as text', () => {
  const cache = newCache();
  cache.observe(at('a', 9));
  cache.observe(at('a', 10));
  cache.observe(at('a', 9));
  expect(shown(cache)).toEqual(['a@10']);
  cache.observe(at('a', Number.MAX_SAFE_INTEGER));
  cache.observe(at('a', 11));
  expect(shown(cache)).toEqual([`a@${Number.MAX_SAFE_INTEGER}`]);
});

test('an own write is there at once, and its echo changes nothing', () => {
  const cache = newCache();
  const changes: Change<ConfigMap>[] = [];
  cache.finishList(new Set(), '10');
  cache.subscribe((change) => changes.push(change));
  cache.written(at('a', 12));
  cache.observe(at('a', 12));
  expect(shown(cache)).toEqual(['a@12']);
  expect(changes).toHaveLength(1);
});

test('a late event does not bring back an object that an own write deleted', () => {
  const cache = newCache();
  cache.observe(at('a', 7));
  cache.removed(gone('a'));
  cache.observe(at('a', 8));
  expect(shown(cache)).toEqual([]);
  cache.observeDeleted(at('a', 9));
  // A new object of that name is another object.
  cache.observe(at('a', 10, { uid: 'a-2' }));
  expect(shown(cache)).toEqual(['a@10']);
});

test('the answer to an old write does not bring back what the informer saw deleted', () => {
  const cache = newCache();
  cache.observe(at('a', 7));
  cache.observeDeleted(at('a', 9));
  cache.advance('9');
  cache.written(at('a', 8));
  expect(shown(cache)).toEqual([]);
});

test('the second object of one transaction is not taken for old because the first came in before', () => {
  const cache = newCache();
  cache.observe(at('a', 5));
  cache.advance('5');
  cache.written(at('b', 5));
  expect(shown(cache)).toEqual(['a@5', 'b@5']);
});

test('deletion of an earlier object does not remove a later one of the same name', () => {
  const cache = newCache();
  cache.written(at('a', 12, { uid: 'a-2' }));
  cache.observeDeleted(at('a', 11));
  expect(shown(cache)).toEqual(['a@12']);
});

test('a list removes what it lacks, but not what we wrote after it was made', () => {
  const cache = newCache();
  cache.observe(at('old', 3));
  cache.written(at('new', 12));
  cache.observe(at('kept', 9));
  cache.finishList(new Set(['kept-1']), '10');
  expect(shown(cache)).toEqual(['kept@9', 'new@12']);
});

test('a list from before our deletion does not bring the object back', () => {
  const cache = newCache();
  cache.written(at('a', 12));
  cache.removed(gone('a'));
  cache.observe(at('a', 11));
  cache.finishList(new Set(['a-1']), '11');
  cache.observe(at('a', 12));
  expect(shown(cache)).toEqual([]);
  // Nor does one from before its creation.
  const other = newCache();
  other.written(at('a', 12));
  other.removed(gone('a'));
  other.finishList(new Set(), '11');
  other.observe(at('a', 12));
  expect(shown(other)).toEqual([]);
});

test('of our own writes only those are kept that the cache selects', () => {
  const cache = new Cache<ConfigMap>({ log, selects: (o) => o.metadata.labels?.['node'] === 'mine' });
  cache.written(at('a', 5, { labels: { node: 'mine' } }));
  cache.written(at('b', 6, { labels: { node: 'other' } }));
  expect(shown(cache)).toEqual(['a@5']);
  cache.written(at('a', 7, { labels: { node: 'other' } }));
  expect(shown(cache)).toEqual([]);
});

test('an index follows its objects', () => {
  const cache = newCache();
  cache.observe(at('before', 1, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p1' }] }));
  const byOwner = cache.addIndex(ownerUids);
  cache.observe(at('after', 2, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p1' }] }));
  const names = () => byOwner.get('p1').map((o) => o.metadata.name);
  expect(names()).toEqual(['before', 'after']);
  cache.observe(at('before', 3));
  expect(names()).toEqual(['after']);
  cache.observeDeleted(at('after', 4));
  expect(names()).toEqual([]);
  expect(cache.inNamespace('default').map((o) => o.metadata.name)).toEqual(['before']);
  expect(cache.hasAnyIn('other')).toBe(false);
  expect(cache.addIndex(ownerUids), 'shared by all who index by the same function').toBe(byOwner);
});

test('a subscriber is called for each object that is there already, then for each change, with the object before it', () => {
  const cache = newCache();
  cache.observe(at('a', 1));
  const changes: string[] = [];
  const cancel = cache.subscribe(({ before, after }) => changes.push(`${before?.metadata.resourceVersion ?? '-'} → ${after?.metadata.resourceVersion ?? '-'}`));
  cache.observe(at('a', 2));
  cache.observeDeleted(at('a', 3));
  cancel();
  cache.observe(at('b', 4));
  expect(changes).toEqual(['- → 1', '1 → 2', '2 → -']);
});

test('a subscriber that fails does not keep the others from being called', () => {
  const world = new SimulatedWorld(0);
  const cache = new Cache<ConfigMap>({ log: world.log });
  let calls = 0;
  cache.subscribe(() => {
    throw new Error('bug');
  });
  cache.subscribe(() => calls++);
  cache.observe(at('a', 1));
  expect(calls).toBe(1);
  expect(world.lines).toMatchObject([{ level: 'error', message: 'a cache listener failed' }]);
});

/**
 * A server's history of random writes, of which the informer sees every event in order, while the answers to our own
 * writes arrive at any time after them. At no time may the cache lag behind an answer that it was given, and in the end it
 * is what the server has.
 */
test('answers and events in any interleaving: own writes are read, and the end is the truth', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const prng = new Prng(seed);
      const history = randomHistory(prng, 40);
      const cache = newCache();
      cache.finishList(new Set(), '0');
      const answers: Entry[] = [];
      let delivered = 0;
      for (let made = 0; made < history.length || delivered < history.length || answers.length > 0; ) {
        const choice = prng.below(3);
        if (choice === 0 && made < history.length) {
          const entry = history[made++];
          if (entry !== undefined && prng.chance(0.5)) answers.push(entry);
        } else if (choice === 1 && delivered < made) {
          const entry = history[delivered++];
          if (entry?.type === 'put') cache.observe(entry.object);
          else if (entry !== undefined) cache.observeDeleted(entry.object);
          if (entry !== undefined) cache.advance(entry.object.metadata.resourceVersion);
        } else if (answers.length > 0) {
          const [answer] = answers.splice(prng.below(answers.length), 1);
          if (answer !== undefined) give(cache, answer, history.slice(0, made));
        }
      }
      expect(shown(cache)).toEqual(truth(history));
    }),
    { numRuns: 500 },
  );
});

type Entry = { readonly type: 'put' | 'delete'; readonly object: Stored<ConfigMap> };

function randomHistory(prng: Prng, length: number): Entry[] {
  const live = new Map<string, string>();
  let born = 0;
  return Array.from({ length }, (_, i): Entry => {
    const name = 'abc'.charAt(prng.below(3));
    const uid = live.get(name);
    if (uid !== undefined && prng.chance(0.4)) {
      live.delete(name);
      return { type: 'delete', object: at(name, i + 1, { uid }) };
    }
    const alive = uid ?? `${name}-${++born}`;
    live.set(name, alive);
    return { type: 'put', object: at(name, i + 1, { uid: alive }) };
  });
}

/** Hands an answer to the cache and checks that it shows: no older state of that object may be seen from now on. */
function give(cache: Cache<ConfigMap>, { type, object }: Entry, made: readonly Entry[]): void {
  const { name, uid, resourceVersion } = object.metadata;
  if (type === 'put') cache.written(object);
  else cache.removed({ namespace: 'default', name, uid });
  const found = cache.get({ namespace: 'default', name });
  const died = made.some((entry) => entry.type === 'delete' && entry.object.metadata.uid === uid);
  if (type === 'delete') expect(found?.metadata.uid).not.toBe(uid);
  else if (found?.metadata.uid === uid) expect(Number(found.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(resourceVersion));
  else expect(died).toBe(true);
}

function truth(history: readonly Entry[]): string[] {
  const live = new Map<string, string>();
  for (const { type, object } of history) {
    if (type === 'put') live.set(object.metadata.name, `${object.metadata.name}@${object.metadata.resourceVersion}`);
    else live.delete(object.metadata.name);
  }
  return [...live.values()].sort();
}
