import { expect, test } from 'vitest';
import type { StorageSummary, SummarizedClaim } from '../model/summary.ts';
import { bar, topScreen } from './top-screen.ts';

const claim = (name: string, more: Partial<SummarizedClaim> = {}): SummarizedClaim => ({
  key: `shop/${name}`,
  namespace: 'shop',
  name,
  phase: 'Bound',
  verdict: 'fine',
  sentence: '',
  size: '10Gi',
  className: 'disks',
  volumeName: 'pv',
  nodes: ['node-1'],
  pods: [],
  created: '2026-01-01T00:00:00Z',
  usage: null,
  ...more,
});
const gib = 1024 ** 3;
const summary: StorageSummary = {
  asOf: '2026-01-01T01:00:00Z',
  claims: [
    claim('stuck', { phase: 'Pending', verdict: 'stuck', sentence: 'No volume\u001b[2J fits.', nodes: [] }),
    claim('data', { usage: { usedBytes: 5 * gib, capacityBytes: 10 * gib } }),
  ],
  zones: [
    {
      zone: 'a',
      nodes: [
        { name: 'node-1', ready: true, cordoned: false, headroom: [{ driver: 'disks', attached: ['x', 'y', 'z'], limit: 4 }] },
        { name: 'node-2', ready: true, cordoned: false, headroom: [{ driver: 'disks', attached: ['w'], limit: 1 }] },
        { name: 'node-3', ready: true, cordoned: false, headroom: [{ driver: 'disks', attached: [], limit: undefined }] },
      ],
    },
  ],
  stuck: [],
  waiting: [],
  unseen: [{ what: 'nodes', because: 'forbidden' }],
};
const now = Date.parse('2026-01-01T01:00:00Z');

test('claims with usage bars, the nodes with the fewest attach slots first, and what was not read', () => {
  const { head, rows } = topScreen(summary, { width: 120, colour: false, now });
  expect([...head, ...rows]).toEqual([
    '2 claims, 0 stuck, 0 waiting',
    'not read: nodes',
    'attach slots',
    '  node-2  disks ████████ 1/1',
    '  node-1  disks ██████░░ 3/4',
    'NAMESPACE  NAME   PHASE    USED          SIZE  CLASS  NODE    AGE  WHY',
    'shop       stuck  Pending                10Gi  disks          60m  No volume [2J fits.',
    'shop       data   Bound    ████░░░░ 5Gi  10Gi  disks  node-1  60m',
  ]);
});

test('no line is wider than the terminal; what is stuck is red', () => {
  const { head, rows } = topScreen(summary, { width: 40, colour: false, now });
  for (const line of [...head, ...rows]) expect(line.length).toBeLessThanOrEqual(40);
  const [stuck = ''] = topScreen(summary, { width: 40, colour: true, now }).rows;
  expect([stuck.startsWith('\u001b[31m'), stuck.endsWith('…\u001b[0m')]).toEqual([true, true]);
});

test('a bar stays within its width', () => {
  expect([bar(-1), bar(0), bar(0.5), bar(1), bar(7)]).toEqual(['░░░░░░░░', '░░░░░░░░', '████░░░░', '████████', '████████']);
});
