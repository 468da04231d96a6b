import { expect, test } from 'vitest';
import { type Change, put, remove, type Store, type Watch } from '../contract.ts';
import { bytes, record, write } from './expectations.ts';

export function describeWatches(its: () => Store): void {
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

  test('a watcher may stop itself, and start others, during a delivery', async () => {
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
