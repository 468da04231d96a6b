import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Job } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { decideExpiry } from './decide.ts';

const end = Date.parse('2026-01-01T00:00:00Z');

const job = (ttl: number | undefined, type: string | undefined, metadata: object = {}): Stored<Job> => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'backup', namespace: 'team', uid: 'u', resourceVersion: '1', ...metadata },
  spec: { template: { metadata: {}, spec: { containers: [] } }, ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) },
  status: type === undefined ? {} : { conditions: [{ type, status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
});

test.each([
  ['without a TTL', job(undefined, 'Complete')],
  ['that has not ended', job(0, undefined)],
  ['that is only about to end', job(0, 'SuccessCriteriaMet')],
  ['that is being deleted', job(0, 'Failed', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
])('a job %s stays', (_, of) => {
  expect(decideExpiry(of, end + 1e9)).toMatchObject({ actions: [] });
  expect(decideExpiry(of, end + 1e9).again).toBeUndefined();
});

test('a finished job is deleted when its TTL has passed, neither before nor twice', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.integer({ min: -100, max: 2000 }), fc.constantFrom('Complete', 'Failed'), (ttl, seconds, type) => {
      const now = end + seconds * 1000;
      const decision = decideExpiry(job(ttl, type), now);
      expect(decision.actions.map((action) => action.do)).toEqual(seconds >= ttl ? ['delete'] : []);
      expect(decision.again).toBe(seconds >= ttl ? undefined : end + ttl * 1000);
      expect(decideExpiry(job(ttl, type), now)).toEqual(decision);
      expect(decideExpiry(job(ttl, type, { deletionTimestamp: '2026-01-01T00:00:00Z' }), now).actions).toEqual([]);
    }),
  );
});
