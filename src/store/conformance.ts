import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { absent, at, type Change, type Entry, prefixEnd, put, remove, type Store, StoreError, type StoreErrorCode, type Watch } from './contract.ts';

/** Every clause of the contract, for every backend. `open` gives a new, empty store. */
export function describeStore(name: string, open: () => Promise<Store>): void {
  describe(`${name} keeps the store contract`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    describe('transactions', () => describeTransactions(() => store));
    describe('ranges', () => describeRanges(() => store));
    describe('watches', () => describeWatches(() => store));
    describe('compaction', () => describeCompaction(() => store));
    describe('closing', () => describeClosing(() => store));
    test('the worked example of the contract', () => workedExample(store));
  });
}

async function workedExample(store: Store): Promise<void> {
  const [x, y, z] = [bytes('x'), bytes('y'), bytes('z')];
  const all = { from: '/', to: '0' };
  expect(store.revision()).toBe(1);
  expect(await store.transact({ compares: [absent('/a')], writes: [put('/a', x)] })).toMatchObject({ ok: true, revision: 2 });
  const second = await store.transact({ compares: [absent('/a')], writes: [put('/a', y)] });
  expect(second).toMatchObject({ ok: false, revision: 2, conflicts: [{ key: '/a', found: { modRevision: 2 } }] });
  expect(await store.transact({ compares: [at('/a', 2)], writes: [put('/a', y), put('/b', z)] })).toMatchObject({ ok: true, revision: 3 });
  expect(show(await store.range(all))).toBe('@3 /a=y /b=z');
  expect(show(await store.range({ ...all, revision: 2 }))).toBe('@2 /a=x');
  const seen = record(store, '/', 2);
  expect(await seen.until(3)).toEqual(['3: put /a=y was x, put /b=z']);
  seen.stop();
  await store.compact(3);
  await expectCode(store.range({ ...all, revision: 2 }), 'compacted');
}

function describeTransactions(its: () => Store): void {
  test('a new store is empty, at revision 1', async () => {
    expect(its().revision()).toBe(1);
    expect(its().compactedRevision()).toBeLessThanOrEqual(1);
    expect(show(await its().range(everything))).toBe('@1');
    expect(await its().get('/a')).toBeUndefined();
    expect(its().stats()).toMatchObject({ keys: 0, liveBytes: 0, historyBytes: 0, watchers: 0 });
  });

  test('all writes of one transaction carry one revision; the entries tell where each key was created', async () => {
    await write(its(), { '/a': '1', '/b': '1' });
    const result = await write(its(), { '/a': '2', '/c': '1' });
    expect(result).toMatchObject({
      revision: 3,
      entries: [
        { key: '/a', createRevision: 2, modRevision: 3 },
        { key: '/c', createRevision: 3, modRevision: 3 },
      ],
    });
    expect(await its().get('/a')).toMatchObject({ key: '/a', createRevision: 2, modRevision: 3 });
    expect(await its().get('/b')).toMatchObject({ key: '/b', createRevision: 2, modRevision: 2 });
  });

  test('a transaction whose compares do not all hold writes nothing and names each that failed', async () => {
    await write(its(), { '/a': '1', '/b': '1' });
    const result = await its().transact({
      compares: [at('/a', 2), absent('/b'), at('/c', 2), absent('/d'), at('/a', 3)],
      writes: [put('/a', bytes('2')), put('/d', bytes('2'))],
    });
    expect(result).toMatchObject({ ok: false, revision: 2 });
    if (result.ok) throw new Error('unreachable');
    expect(result.conflicts.map(({ key, found }) => `${key}:${found?.modRevision ?? 'none'}`)).toEqual(['/b:2', '/c:none', '/a:2']);
    expect(show(await its().range(everything))).toBe('@2 /a=1 /b=1');
  });

  test('deleting an absent key writes nothing and uses no revision', async () => {
    expect(await its().transact({ compares: [], writes: [remove('/a')] })).toEqual({ ok: true, revision: 1, entries: [undefined] });
    await write(its(), { '/b': '1' });
    const mixed = await its().transact({ compares: [], writes: [remove('/a'), put('/b', bytes('2'))] });
    expect(mixed).toMatchObject({ ok: true, revision: 3, entries: [undefined, { key: '/b' }] });
    const seen = record(its(), '/', 2);
    expect(await seen.until(3)).toEqual(['3: put /b=2 was 1']);
  });

  test('a transaction without writes reports whether its compares hold', async () => {
    await write(its(), { '/a': '1' });
    expect(await its().transact({ compares: [at('/a', 2)], writes: [] })).toEqual({ ok: true, revision: 2, entries: [] });
    expect(await its().transact({ compares: [at('/a', 1)], writes: [] })).toMatchObject({ ok: false, revision: 2 });
    expect(its().revision()).toBe(2);
  });

  test('a key that was deleted does not exist, and is created anew', async () => {
    await write(its(), { '/a': '1' });
    expect(await its().transact({ compares: [at('/a', 2)], writes: [remove('/a')] })).toEqual({ ok: true, revision: 3, entries: [undefined] });
    expect(await its().get('/a')).toBeUndefined();
    expect(await its().transact({ compares: [at('/a', 3)], writes: [put('/a', bytes('2'))] })).toMatchObject({
      ok: false,
      conflicts: [{ key: '/a', found: undefined }],
    });
    expect(await its().transact({ compares: [absent('/a')], writes: [put('/a', bytes('2'))] })).toMatchObject({
      ok: true,
      entries: [{ createRevision: 4, modRevision: 4 }],
    });
  });

  test('a transaction that writes a key twice is refused whole', async () => {
    await expect(its().transact({ compares: [], writes: [put('/b', bytes('1')), put('/a', bytes('1')), remove('/a')] })).rejects.toThrow('/a twice');
    expect(show(await its().range(everything))).toBe('@1');
  });

  test('transactions submitted together take effect in that order, and each is checked against those before it', async () => {
    const results = await Promise.all([
      its().transact({ compares: [absent('/a')], writes: [put('/a', bytes('1'))] }),
      its().transact({ compares: [absent('/a')], writes: [put('/a', bytes('2'))] }),
      its().transact({ compares: [at('/a', 2)], writes: [put('/a', bytes('3'))] }),
      its().transact({ compares: [at('/a', 3)], writes: [remove('/a')] }),
      its().transact({ compares: [absent('/a')], writes: [] }),
    ]);
    expect(results.map((result) => result.ok)).toEqual([true, false, true, true, true]);
    expect(its().revision()).toBe(4);
    const conflict = results[1];
    if (conflict === undefined || conflict.ok) throw new Error('the second must fail');
    expect(text(conflict.conflicts[0]?.found)).toBe('1');
  });

  test('of many that compare the same revision, one wins', async () => {
    await write(its(), { '/a': '0' });
    const results = await Promise.all(Array.from({ length: 50 }, (_, i) => its().transact({ compares: [at('/a', 2)], writes: [put('/a', bytes(`${i}`))] })));
    expect(results.filter((result) => result.ok)).toHaveLength(1);
    expect(its().revision()).toBe(3);
  });

  test('a write is visible, to readers and watchers alike, when transact resolves, and not before it returns', async () => {
    const seen = record(its(), '/', 1);
    const writing = write(its(), { '/a': '1' });
    expect(its().revision()).toBe(1);
    expect(seen.lines).toEqual([]);
    await writing;
    expect(its().revision()).toBe(2);
    expect(text(await its().get('/a'))).toBe('1');
    expect(await seen.until(2)).toEqual(['2: put /a=1']);
  });

  test('values are kept byte for byte, from nothing to a megabyte', async () => {
    const values = [0, 1, 255, 4096, 1 << 20].map((size) => Uint8Array.from({ length: size }, (_, i) => (i * 31 + size) & 255));
    await its().transact({ compares: [], writes: values.map((value, i) => put(`/v/${i}`, value)) });
    const { entries } = await its().range({ from: '/v/', to: '/v0' });
    for (const [i, entry] of entries.entries()) expect(Buffer.compare(entry.value, values[i] ?? bytes('missing'))).toBe(0);
    expect(entries).toHaveLength(values.length);
  });

  test('a value given as a view of a larger buffer is kept as that view alone', async () => {
    await its().transact({ compares: [], writes: [put('/a', bytes('before-value-after').subarray(7, 12))] });
    expect(text(await its().get('/a'))).toBe('value');
  });

  test('what the writer derived from a value travels with its entry', async () => {
    const memo = { decoded: true };
    const result = await its().transact({ compares: [], writes: [put('/a', bytes('1'), memo)] });
    const entry = await its().get('/a');
    expect(entry?.memo).toBe(memo);
    expect(result.ok && result.entries[0]).toBe(entry);
  });

  test('stats count keys, live bytes and the bytes only the past holds', async () => {
    await write(its(), { '/a': '12345', '/b': '123' });
    await write(its(), { '/a': '1' });
    await its().transact({ compares: [], writes: [remove('/b')] });
    expect(its().stats()).toMatchObject({ keys: 1, liveBytes: 1, historyBytes: 8 });
    await its().compact(its().revision());
    expect(its().stats()).toMatchObject({ keys: 1, liveBytes: 1, historyBytes: 0, historyRevisions: 0 });
  });
}

function describeRanges(its: () => Store): void {
  const letters = { from: '/l/', to: prefixEnd('/l/') };

  test('a range holds the keys from its start to before its end, in order', async () => {
    await write(its(), { '/l/b': '1', '/l/c': '1', '/l': '1', '/l/a': '1', '/l0': '1', '/l/': '1', '/l/b/x': '1' });
    expect(show(await its().range(letters))).toBe('@2 /l/=1 /l/a=1 /l/b=1 /l/b/x=1 /l/c=1');
    expect(show(await its().range({ from: '/l/b', to: '/l/c' }))).toBe('@2 /l/b=1 /l/b/x=1');
    expect(show(await its().range({ from: '/l/c', to: '/l/b' }))).toBe('@2');
    expect(show(await its().range({ from: '/l/c', to: '/l/c' }))).toBe('@2');
  });

  test('a limit cuts the range and tells how many remain', async () => {
    await write(its(), { '/l/a': '1', '/l/b': '1', '/l/c': '1', '/m': '1' });
    expect(await its().range({ ...letters, limit: 2 })).toMatchObject({ entries: [{ key: '/l/a' }, { key: '/l/b' }], remaining: 1 });
    expect(await its().range({ ...letters, limit: 3 })).toMatchObject({ remaining: 0 });
    expect(await its().range({ ...letters, limit: 4 })).toMatchObject({ remaining: 0 });
  });

  test('pages at one revision add up to the whole, whatever happens meanwhile', async () => {
    await write(its(), Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`/l/${String(i).padStart(2, '0')}`, 'old'])));
    const before = show(await its().range(letters));
    const pages: string[] = [];
    for (let from = letters.from, remaining = 1; remaining > 0; ) {
      const page = await its().range({ ...letters, from, limit: 6, revision: 2 });
      pages.push(...page.entries.map((entry) => `${entry.key}=${text(entry)}`));
      expect(page.remaining).toBe(20 - pages.length);
      remaining = page.remaining;
      from = `${page.entries.at(-1)?.key}\0`;
      await its().transact({ compares: [], writes: [put(`/l/${pages.length}x`, bytes('new')), remove('/l/15'), put('/l/19', bytes('new'))] });
    }
    expect(`@2 ${pages.join(' ')}`).toBe(before);
  });

  test('the past shows deleted keys, old values and nothing that came later', async () => {
    await write(its(), { '/l/a': '1', '/l/b': '1' });
    await its().transact({ compares: [], writes: [remove('/l/a'), put('/l/c', bytes('1'))] });
    await write(its(), { '/l/a': '2', '/l/b': '2' });
    await its().transact({ compares: [], writes: [remove('/l/b')] });
    expect(show(await its().range({ ...letters, revision: 1 }))).toBe('@1');
    expect(show(await its().range({ ...letters, revision: 2 }))).toBe('@2 /l/a=1 /l/b=1');
    expect(show(await its().range({ ...letters, revision: 3 }))).toBe('@3 /l/b=1 /l/c=1');
    expect(show(await its().range({ ...letters, revision: 4 }))).toBe('@4 /l/a=2 /l/b=2 /l/c=1');
    expect(show(await its().range({ ...letters, revision: 5 }))).toBe('@5 /l/a=2 /l/c=1');
    expect(await its().range({ ...letters, revision: 4, limit: 1 })).toMatchObject({ remaining: 2 });
  });

  test('a revision that does not exist yet cannot be read', async () => {
    await expectCode(its().range({ ...letters, revision: 2 }), 'future');
  });

  test('readers of one revision get the same entry', async () => {
    await write(its(), { '/l/a': '1' });
    const [first] = (await its().range(letters)).entries;
    await write(its(), { '/l/b': '1' });
    expect((await its().range({ ...letters, revision: 2 })).entries[0]).toBe(first);
    expect(await its().get('/l/a')).toBe(first);
  });
}

function describeWatches(its: () => Store): void {
  test('a watcher gets every revision after its start, the past first, each once', async () => {
    await write(its(), { '/a': '1' });
    await write(its(), { '/a': '2' });
    const seen = record(its(), '/', 2);
    await write(its(), { '/a': '3' });
    await its().transact({ compares: [], writes: [remove('/a')] });
    await write(its(), { '/a': '4' });
    expect(await seen.until(6)).toEqual(['3: put /a=2 was 1', '4: put /a=3 was 2', '5: delete /a was 3', '6: put /a=4']);
  });

  test('changes of one revision come together, in the order of the writes', async () => {
    const seen = record(its(), '/', 1);
    await write(its(), { '/b': '1', '/a': '1', '/c': '1' });
    await its().transact({ compares: [], writes: [put('/c', bytes('2')), remove('/a')] });
    expect(await seen.until(3)).toEqual(['2: put /b=1, put /a=1, put /c=1', '3: put /c=2 was 1, delete /a was 1']);
  });

  test('a watcher gets what is under its prefix, and nothing else', async () => {
    const watchers = ['/', '/r/', '/r/pods/', '/r/pods/ns/', '/r/pods/ns/a'].map((prefix) => record(its(), prefix, 1));
    await write(its(), { '/r/pods/ns/a': '1', '/r/pods/ns/ab': '1', '/r/pods/nsx/a': '1', '/r/podsx/ns/a': '1', '/r/pods': '1', '/x': '1' });
    await write(its(), { '/r/pods/ns/a/b': '1' });
    await write(its(), { '/end': '1', '/r/end': '1', '/r/pods/end': '1', '/r/pods/ns/end': '1' });
    const counts = [];
    for (const [i, watcher] of watchers.entries()) counts.push((await watcher.until(i < 4 ? 4 : 2)).map((line) => line.split(',').length));
    expect(counts).toEqual([[6, 1, 4], [5, 1, 3], [3, 1, 2], [2, 1, 1], [1]]);
  });

  test('all watchers share one change, and the entry in it is the one that readers get', async () => {
    const changes: Change[] = [];
    const watches = ['/', '/', '/a'].map((prefix) =>
      its().watch({ prefix, after: 1 }, { changes: (_, [change]) => change && changes.push(change), end: () => {} }),
    );
    const seen = record(its(), '/a', 1);
    await write(its(), { '/a': '1' });
    await seen.until(2);
    expect(new Set(changes).size).toBe(1);
    expect(changes[0]?.entry).toBe(await its().get('/a'));
    for (const watch of watches) watch.stop();
  });

  test('a watch that was stopped gets nothing more; stopping twice is nothing', async () => {
    const stopped = record(its(), '/', 1);
    const other = record(its(), '/', 1);
    await write(its(), { '/a': '1' });
    await Promise.all([stopped.until(2), other.until(2)]);
    stopped.stop();
    stopped.stop();
    expect(its().stats().watchers).toBe(1);
    await write(its(), { '/a': '2' });
    await other.until(3);
    expect(stopped.lines).toHaveLength(1);
    other.stop();
    expect(its().stats().watchers).toBe(0);
  });

  test('a watcher may stop itself, and start others, while it is told', async () => {
    const later: ReturnType<typeof record>[] = [];
    let told = 0;
    const watch: Watch = its().watch(
      { prefix: '/', after: 1 },
      {
        changes: () => {
          told++;
          watch.stop();
          later.push(record(its(), '/', 1));
        },
        end: () => {},
      },
    );
    await write(its(), { '/a': '1' });
    await write(its(), { '/a': '2' });
    expect(await later[0]?.until(3)).toEqual(['2: put /a=1', '3: put /a=2 was 1']);
    expect(told).toBe(1);
  });

  test('progress tells how far a watcher is, also where nothing concerned it', async () => {
    const seen = record(its(), '/quiet/', 1);
    const busy = record(its(), '/busy/', 1);
    expect(seen.watch.progress()).toBe(1);
    await write(its(), { '/busy/a': '1' });
    await busy.until(2);
    await expect.poll(() => seen.watch.progress()).toBe(2);
    expect(seen.lines).toEqual([]);
    expect(busy.watch.progress()).toBe(2);
  });

  test('a watch from a revision still to come starts there', async () => {
    const seen = record(its(), '/', 3);
    for (const value of ['1', '2', '3']) await write(its(), { '/a': value });
    expect(await seen.until(4)).toEqual(['4: put /a=3 was 2']);
  });
}

function describeCompaction(its: () => Store): void {
  test('the past before the compacted revision is gone, the compacted revision itself is not', async () => {
    for (const value of ['1', '2', '3']) await write(its(), { '/a': value });
    await its().compact(3);
    expect(its().compactedRevision()).toBe(3);
    await expectCode(its().range({ ...everything, revision: 2 }), 'compacted');
    expect(show(await its().range({ ...everything, revision: 3 }))).toBe('@3 /a=2');
    expect(show(await its().range(everything))).toBe('@4 /a=3');
  });

  test('a watch from before it is told so, one from it goes on', async () => {
    for (const value of ['1', '2', '3']) await write(its(), { '/a': value });
    const running = record(its(), '/', 1);
    await its().compact(3);
    expect(await record(its(), '/', 2).ended).toMatchObject({ code: 'compacted' });
    const seen = record(its(), '/', 3);
    await write(its(), { '/b': '1' });
    expect(await seen.until(5)).toEqual(['4: put /a=3 was 2', '5: put /b=1']);
    expect(await running.until(5)).toHaveLength(4);
  });

  test('compacting again, or further back, does nothing; ahead of the newest revision it fails', async () => {
    for (const value of ['1', '2', '3']) await write(its(), { '/a': value });
    await its().compact(3);
    await its().compact(3);
    await its().compact(2);
    expect(its().compactedRevision()).toBe(3);
    await expectCode(its().compact(5), 'future');
    expect(its().compactedRevision()).toBe(3);
  });

  test('deleted keys, old values and recreated keys survive it only where they can be read', async () => {
    await write(its(), { '/gone': '1', '/again': '1', '/kept': '1' });
    await its().transact({ compares: [], writes: [remove('/gone'), remove('/again')] });
    await write(its(), { '/again': '2' });
    await its().transact({ compares: [], writes: [remove('/kept')] });
    await its().compact(3);
    expect(show(await its().range({ ...everything, revision: 3 }))).toBe('@3 /kept=1');
    expect(show(await its().range({ ...everything, revision: 4 }))).toBe('@4 /again=2 /kept=1');
    await its().compact(5);
    expect(show(await its().range(everything))).toBe('@5 /again=2');
    expect(await its().get('/again')).toMatchObject({ createRevision: 4 });
    expect(its().stats()).toMatchObject({ keys: 1, historyBytes: 0 });
  });
}

function describeClosing(its: () => Store): void {
  test('closing waits for the writes under way, then every call fails and every watch ends', async () => {
    const seen = record(its(), '/', 1);
    const writing = write(its(), { '/a': '1' });
    const closing = its().close();
    await expectCode(write(its(), { '/a': '2' }), 'closed');
    await closing;
    expect(await writing).toMatchObject({ revision: 2 });
    expect(await seen.ended).toMatchObject({ code: 'closed' });
    expect(seen.lines).toEqual(['2: put /a=1']);
    await expectCode(its().get('/a'), 'closed');
    await expectCode(its().range(everything), 'closed');
    await expectCode(its().compact(2), 'closed');
    expect(await record(its(), '/', 1).ended).toMatchObject({ code: 'closed' });
    await its().close();
  });
}

const everything = { from: '/', to: prefixEnd('/') };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const text = (entry: Entry | undefined): string | undefined => (entry === undefined ? undefined : new TextDecoder().decode(entry.value));

const show = ({ entries, revision }: { entries: readonly Entry[]; revision: number }): string =>
  [`@${revision}`, ...entries.map((entry) => `${entry.key}=${text(entry)}`)].join(' ');

async function write(store: Store, values: Readonly<Record<string, string>>) {
  const result = await store.transact({ compares: [], writes: Object.entries(values).map(([key, value]) => put(key, bytes(value))) });
  if (!result.ok) throw new Error('a transaction without compares cannot conflict');
  return result;
}

async function expectCode(promise: Promise<unknown>, code: StoreErrorCode): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code });
}

/** Watches and notes one line per revision, as in `3: put /a=y was x, delete /b was z`. */
function record(store: Store, prefix: string, after: number) {
  const lines: string[] = [];
  let newest = after;
  const waiting = new Set<() => void>();
  let end: (cause: StoreError) => void = () => {};
  const ended = new Promise<StoreError>((resolve) => {
    end = resolve;
  });
  const watch = store.watch(
    { prefix, after },
    {
      changes(revision, changes) {
        expect(revision).toBeGreaterThan(newest);
        newest = revision;
        lines.push(`${revision}: ${changes.map(line).join(', ')}`);
        for (const check of waiting) check();
      },
      end,
    },
  );
  const until = (revision: number): Promise<readonly string[]> =>
    new Promise((done) => {
      const check = (): void => {
        if (newest < revision) return;
        waiting.delete(check);
        done(lines);
      };
      waiting.add(check);
      check();
    });
  return { lines, watch, ended, until, stop: () => watch.stop() };
}

function line(change: Change): string {
  const now = change.type === 'put' ? `=${text(change.entry)}` : '';
  const before = change.previous === undefined ? '' : ` was ${text(change.previous)}`;
  return `${change.type} ${change.key}${now}${before}`;
}
