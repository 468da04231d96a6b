import { expect, test } from 'vitest';
import { remove, type Store } from '../contract.ts';
import { everything, expectCode, record, show, write } from './expectations.ts';

export function describeCompaction(its: () => Store): void {
  test('the past before the compacted revision is gone, the compacted revision itself is not', async () => {
    for (const value of ['1', '2', '3']) await write(its(), { '/a': value });
    await its().compact(3);
    expect(its().compactedRevision()).toBe(3);
    await expectCode(its().range({ ...everything, revision: 2 }), 'compacted');
    expect(show(await its().range({ ...everything, revision: 3 }))).toBe('@3 /a=2');
    expect(show(await its().range(everything))).toBe('@4 /a=3');
  });

  test('a watch from before it ends with compacted, one from it continues', async () => {
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
