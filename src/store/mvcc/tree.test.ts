import { expect, test } from 'vitest';
import type { Entry } from '../contract.ts';
import { Tree } from './tree.ts';
import { ownBytes, tombstone, Version } from './version.ts';

const put = (key: string, revision: number, memo?: unknown): Version =>
  new Version({ key, value: new Uint8Array(10), createRevision: 2, modRevision: revision, memo });

test('a key that was written many times is trimmed in one step for each revision', () => {
  const tree = new Tree(1, 0);
  const writes = 200_000;
  for (let revision = 2; revision < writes + 2; revision++) tree.apply([put('/hot', revision)]);
  tree.compact(tree.revision);
  // Were each step to walk the versions of the key, this would take hours.
  while (tree.trim(10_000));
  expect(tree.newest('/hot')?.older).toBeUndefined();
  expect(tree.historyBytes).toBe(0);
});

test('trimming stops at its budget and says whether more is left', () => {
  const tree = new Tree(1, 0);
  for (let revision = 2; revision <= 11; revision++) tree.apply([put('/a', revision)]);
  tree.compact(9);
  expect(tree.trim(5)).toBe(true);
  expect(tree.historyBytes).toBe(50);
  expect(tree.trim(5)).toBe(false);
  expect(tree.historyBytes).toBe(20);
});

test('a pinned revision stays readable while the past is compacted', () => {
  const tree = new Tree(1, 0);
  tree.apply([put('/a', 2), put('/b', 2)]);
  tree.apply([tombstone('/a', 3)]);
  tree.compact(2);
  tree.pin(2);
  tree.apply([put('/c', 4), tombstone('/b', 4)]);
  tree.compact(4);
  expect(tree.trim(100)).toBe(false);
  expect(keys(tree.rangePinned('', 10))).toEqual(['/a', '/b']);
  expect(keys(tree.rangePinned('/a\0', 10))).toEqual(['/b']);
  expect(() => tree.range({ from: '', to: '0', revision: 3 })).toThrow('forgotten');
  tree.unpin();
  tree.trim(100);
  expect(tree.newest('/a')).toBeUndefined();
  expect(tree.historyBytes).toBe(0);
});

test('what readers derived from a replaced value is dropped when it is old', () => {
  const tree = new Tree(1, 0);
  const [first, second] = [put('/a', 2, 'decoded'), put('/a', 3, 'decoded')];
  tree.apply([first]);
  tree.apply([second]);
  for (let revision = 4; revision < 1027; revision++) tree.apply([put('/other', revision)]);
  expect(first.memo).toBe('decoded');
  tree.apply([put('/other', 1027)]);
  expect(first.memo).toBeUndefined();
  expect(second.memo).toBe('decoded');
});

test('a view of a larger buffer is copied, a buffer of its own is kept', () => {
  const whole = new Uint8Array(100);
  expect(ownBytes(whole)).toBe(whole);
  expect(ownBytes(whole.subarray(10, 20)).buffer.byteLength).toBe(10);
  expect(ownBytes(Buffer.from('pooled')).buffer.byteLength).toBe(6);
});

const keys = (entries: readonly Entry[]): string[] => entries.map(({ key }) => key);
