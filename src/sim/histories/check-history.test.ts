/** The checker itself, on histories with planted faults. */
import { describe, expect, test } from 'vitest';
import { checkHistory } from './check-history.ts';
import type { History, Operation, Watched } from './history.ts';

const write = (call: number, end: number, what: { value: string; base: number; outcome: number | 'refused' | 'unknown'; epoch?: number }): Operation => ({
  key: 'a',
  call,
  end,
  what: { type: 'write', ...what },
});
const read = (call: number, end: number, found?: { revision: number; value: string }): Operation => ({ key: 'a', call, end, what: { type: 'read', found } });
const watcher = (name: string, ...events: Watched['events']): Watched => ({ name, after: 1, events });
const put = (revision: number, value: string) => ({ key: 'a', revision, value });
const gone = (revision: number) => ({ key: 'a', revision, value: undefined });

const sound: History = {
  operations: [
    write(1, 2, { value: 'x', base: 0, outcome: 5 }),
    read(3, 4, { revision: 5, value: 'x' }),
    write(5, 8, { value: 'y', base: 5, outcome: 7 }),
    write(6, 7, { value: 'z', base: 5, outcome: 'refused' }),
    write(9, 10, { value: 'w', base: 7, outcome: 'unknown' }),
    read(11, 12, { revision: 9, value: 'w' }),
    { key: 'a', call: 13, end: 14, what: { type: 'delete', base: 9, outcome: 'done' } },
    read(15, 16),
    write(17, 18, { value: 'again', base: 0, outcome: 12 }),
  ],
  watchers: [
    watcher('one', put(5, 'x'), put(7, 'y'), put(9, 'w'), gone(11), put(12, 'again')),
    watcher('other', put(5, 'x'), { listedAgain: 10 }, gone(11), put(12, 'again')),
  ],
  epochs: [],
};

const namesIn = (history: History): readonly string[] => [...new Set(checkHistory(history).map(({ invariant }) => invariant))];
const without = (i: number): readonly Watched['events'][number][] => (sound.watchers[0]?.events ?? []).filter((_, j) => j !== i);

test('a sound history is sound, whatever was not answered', () => {
  expect(checkHistory(sound)).toEqual([]);
});

describe('a key that was there, and is absent or created again', () => {
  const first = write(1, 2, { value: 'x', base: 0, outcome: 5 });
  const again = write(7, 8, { value: 'y', base: 0, outcome: 9 });
  // The watch lists again, so that no event tells of the deletion.
  const watchers = [watcher('one', put(5, 'x'), { listedAgain: 8 }, put(9, 'y'))];
  const deletion = (call: number, base: number, outcome: 'done' | 'refused' | 'unknown'): Operation => ({
    key: 'a',
    call,
    end: call + 1,
    what: { type: 'delete', base, outcome },
  });
  test.each<[string, Operation, readonly string[]]>([
    ['may have been deleted', deletion(3, 5, 'done'), []],
    ['may have been deleted without an answer', deletion(3, 5, 'unknown'), []],
    ['was not deleted: the deletion was refused', deletion(3, 5, 'refused'), ['no write overtakes another']],
    ['was not deleted: the deletion was of an older version', deletion(3, 4, 'unknown'), ['no write overtakes another']],
    ['was not deleted: the deletion was asked for later', deletion(9, 5, 'unknown'), ['no write overtakes another']],
  ])('%s', (_, deleted, violated) => {
    expect(namesIn({ operations: [first, deleted, again], watchers, epochs: [] })).toEqual(violated);
    const absent = namesIn({ operations: [first, deleted, read(7, 8)], watchers: [], epochs: [] });
    expect(absent).toEqual(violated.length === 0 ? [] : ['a read is fresh']);
  });
});

test('old reads, where they are allowed', () => {
  const old = { ...sound, operations: [...sound.operations, read(19, 20, { revision: 9, value: 'w' })] };
  expect(namesIn({ ...old, losesEvents: true })).toEqual(['a read is fresh']);
  expect(namesIn({ ...old, readsMayBeOld: true })).toEqual([]);
});

describe('planted faults', () => {
  const withOperations = (...more: Operation[]): History => ({ ...sound, operations: [...sound.operations, ...more] });
  const withEvents = (...events: Watched['events']): History => ({ ...sound, watchers: [watcher('one', ...events), ...sound.watchers.slice(1)] });
  test.each<[string, History, string]>([
    ['a read that is not fresh', withOperations(read(19, 20, { revision: 9, value: 'w' })), 'a read is fresh'],
    ['a key that exists, read as absent', withOperations(read(19, 20)), 'a read is fresh'],
    ['a write at a revision that was known', withOperations(write(19, 20, { value: 'old', base: 0, outcome: 12 })), 'a write comes after what was known'],
    ['two values at one revision', withOperations(read(19, 20, { revision: 12, value: 'other' })), 'a revision has one value'],
    ['a write that happens twice', withEvents(...without(-1), put(13, 'again')), 'no write happens twice'],
    ['a refusal that was none', withOperations(write(19, 20, { value: 'y', base: 3, outcome: 'refused' })), 'no refusal is false'],
    ['a write over another one', withOperations(write(19, 20, { value: 'v', base: 5, outcome: 13 })), 'no write overtakes another'],
    ['an acknowledged write that is lost', withOperations(write(1, 2, { value: 'lost', base: 7, outcome: 8 })), 'a watch is complete'],
    ['a change that a watch leaves out', withEvents(...without(1)), 'a watch is complete'],
    ['a change that a watch tells twice', withEvents(...without(-1), put(12, 'again')), 'a watch tells each change once'],
    ['changes in the wrong order', withEvents(put(7, 'y'), put(5, 'x'), put(9, 'w'), gone(11), put(12, 'again')), 'a watch is in order'],
    [
      'a leader that was deposed',
      { ...withOperations(write(19, 20, { value: 'late', base: 12, outcome: 15, epoch: 3 })), epochs: [3, 14] },
      'a deposed leader does not write',
    ],
  ])('%s', (_, history, invariant) => {
    expect(namesIn(history)).toContain(invariant);
  });
});
