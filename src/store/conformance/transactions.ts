import { expect, test } from 'vitest';
import { absent, at, put, remove, type Store } from '../contract.ts';
import { bytes, everything, record, show, text, write } from './expectations.ts';

export function describeTransactions(its: () => Store): void {
  test('a new store is empty, at revision 1', async () => {
    expect(its().revision()).toBe(1);
    expect(its().compactedRevision()).toBeLessThanOrEqual(1);
    expect(show(await its().range(everything))).toBe('@1');
    expect(await its().get('/a')).toBeUndefined();
    expect(its().stats()).toMatchObject({ keys: 0, liveBytes: 0, historyBytes: 0, watchers: 0 });
  });

  test('all writes of one transaction have one revision; the entries have the revision of their creation', async () => {
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
