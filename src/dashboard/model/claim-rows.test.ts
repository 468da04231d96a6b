import { describe, expect, test } from 'vitest';
import { bytesOf, type ClaimRow, type RowSelection, selectRows } from './claim-rows.ts';

const row = (key: string, more: Partial<ClaimRow> = {}): ClaimRow => {
  const [namespace = '', name = ''] = key.split('/');
  const usual = { phase: 'Bound', verdict: 'fine', sentence: '', size: '1Gi', className: '', volumeName: '', nodes: [], pods: [], created: '' } as const;
  return { ...usual, key, namespace, name, ...more };
};
const rows = [
  row('shop/b', { size: '10Gi', created: '2026-01-02T00:00:00Z', nodes: ['node-7'] }),
  row('shop/a', { size: '900Mi', created: '2026-01-03T00:00:00Z', pods: ['web-0'] }),
  row('blog/c', { phase: 'Pending', verdict: 'stuck', sentence: 'No volume fits.', created: '2026-01-01T00:00:00Z' }),
  row('blog/d', { phase: 'Pending', verdict: 'waiting' }),
];
const usual: RowSelection = { text: '', phase: '', sort: 'phase', descending: false };
const select = (more: Partial<RowSelection>) => selectRows(rows, { ...usual, ...more }).map(({ key }) => key);

describe('the list of claims', () => {
  test('begins with what is stuck, then what waits', () => {
    expect(select({})).toEqual(['blog/c', 'blog/d', 'shop/a', 'shop/b']);
    expect(select({ descending: true })).toEqual(['shop/a', 'shop/b', 'blog/d', 'blog/c']);
  });

  test('is sorted by name, by bytes and by age', () => {
    expect(select({ sort: 'name' })).toEqual(['blog/c', 'blog/d', 'shop/a', 'shop/b']);
    expect(select({ sort: 'size' }).at(-1)).toBe('shop/b');
    expect(select({ sort: 'size' })[0]).toBe('shop/a');
    expect(select({ sort: 'created' })[0]).toBe('shop/a');
  });

  test('is searched for words in any order, in names, nodes, pods and sentences', () => {
    expect(select({ text: 'NODE-7 shop' })).toEqual(['shop/b']);
    expect(select({ text: 'web-0' })).toEqual(['shop/a']);
    expect(select({ text: 'fits' })).toEqual(['blog/c']);
    expect(select({ text: 'fits shop' })).toEqual([]);
  });

  test('is filtered by phase', () => {
    expect(select({ phase: 'Pending' })).toEqual(['blog/c', 'blog/d']);
  });
});

test('bytes of quantities', () => {
  expect([bytesOf(''), bytesOf('1Ki'), bytesOf('1.5Gi')]).toEqual([0, 1024, 1_610_612_736]);
});
