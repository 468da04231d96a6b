/** What a restart may write anew, and what it may not. */
import { expect, test } from 'vitest';
import type { Entry } from '../../store/contract.ts';
import { changedSince } from './changed-entries.ts';

const entry = (key: string, object: object, modRevision: number): Entry => ({
  key,
  value: new TextEncoder().encode(JSON.stringify(object)),
  createRevision: 1,
  modRevision,
  memo: undefined,
});

const refused = (time: string, message = 'it is attached to node-1') => ({ status: { attached: false, attachError: { time, message } } });

test.each([
  ['an attach that fails once more, as before', refused('2026-01-01T00:04:41Z'), refused('2026-01-01T00:08:12Z'), false],
  ['an attach that fails otherwise', refused('2026-01-01T00:04:41Z'), refused('2026-01-01T00:08:12Z', 'no such volume'), true],
  ['an attach that succeeds', refused('2026-01-01T00:04:41Z'), { status: { attached: true } }, true],
])('%s', (_, before, after, isChange) => {
  const key = '/registry/storage.k8s.io/volumeattachments/csi-1';
  expect(changedSince([entry(key, before, 1)], [entry(key, after, 2)]) !== undefined).toBe(isChange);
});

const progress = (condition: object, replicas = 1) => ({
  status: {
    replicas,
    conditions: [
      { type: 'Available', status: 'False' },
      { type: 'Progressing', ...condition },
    ],
  },
});
const progresses = { status: 'True', lastUpdateTime: '2025-12-31T23:52:03Z', reason: 'ReplicaSetUpdated' };
const isOverdue = { status: 'False', lastUpdateTime: '2026-01-01T00:04:47Z', reason: 'ProgressDeadlineExceeded' };

test.each([
  ['a Deployment whose deadline has passed, where all clocks are right', progress(progresses), progress(isOverdue), false, true],
  ['a Deployment whose deadline has passed, where a clock is ahead', progress(progresses), progress(isOverdue), true, false],
  ['a Deployment that has progressed, where a clock is ahead', progress(progresses), progress({ ...progresses, lastUpdateTime: 'later' }), true, true],
  ['a Deployment with other replicas, where a clock is ahead', progress(progresses), progress(isOverdue, 2), true, true],
])('%s', (_, before, after, hasClockAhead, isChange) => {
  const key = '/registry/apps/deployments/default/mover';
  expect(changedSince([entry(key, before, 1)], [entry(key, after, 2)], hasClockAhead) !== undefined).toBe(isChange);
});

test('an object that is new, gone or written', () => {
  const [claim, written] = [
    entry('/registry/persistentvolumeclaims/default/a', { spec: 1 }, 1),
    entry('/registry/persistentvolumeclaims/default/a', { spec: 2 }, 2),
  ];
  expect(changedSince([claim], [claim])).toBeUndefined();
  expect(changedSince([], [claim])).toBe(`${claim.key} is new`);
  expect(changedSince([claim], [])).toBe(`${claim.key} is gone`);
  expect(changedSince([claim], [written])).toBe(`${claim.key} is written: {"spec":1} became {"spec":2}`);
});
