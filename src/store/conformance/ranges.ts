import { expect, test } from 'vitest';
import { prefixEnd, put, remove, type Store } from '../contract.ts';
import { bytes, expectCode, show, text, write } from './expectations.ts';

export function describeRanges(its: () => Store): void {
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
