import { expect, test } from 'vitest';
import type { Job, Pod } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { TRACKING_FINALIZER } from '../tracked-pod.ts';
import { decideOrphanPod } from './decide.ts';

const pod = (kind: string | undefined, finalizers: string[] = [TRACKING_FINALIZER]): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'team',
    uid: 'p',
    resourceVersion: '1',
    finalizers,
    ...(kind === undefined ? {} : { ownerReferences: [{ apiVersion: 'batch/v1', kind, name: 'backup', uid: 'u', controller: true }] }),
  },
  spec: { containers: [] },
  status: {},
});
const job = (finished: boolean, managedBy?: string): Stored<Job> => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'backup', namespace: 'team', uid: 'u', resourceVersion: '1' },
  spec: { template: { metadata: {}, spec: { containers: [] } }, ...(managedBy === undefined ? {} : { managedBy }) },
  status: finished ? { conditions: [{ type: 'Failed', status: 'True', lastProbeTime: null, lastTransitionTime: null }] } : {},
});

test.each([
  ['of a job that counts', pod('Job'), job(false), []],
  ['of a job that has ended', pod('Job'), job(true), ['release']],
  ['of a job that has ended and is managed elsewhere', pod('Job'), job(true, 'example.com/other'), []],
  ['of a job that is gone, once the server says so too', pod('Job'), undefined, ['confirmJobGone', 'release']],
  ['without controller', pod(undefined), undefined, ['release']],
  ['of another controller', pod('Widget'), undefined, []],
  ['without tracking finalizer', pod('Job', []), undefined, []],
])('a pod %s', (_, of, its, expected) => {
  expect(decideOrphanPod({ pod: of, job: its }).actions.map((action) => action.do)).toEqual(expected);
  // After the release nothing is left to do.
  const released = { ...of, metadata: { ...of.metadata, finalizers: [] } };
  expect(decideOrphanPod({ pod: released, job: its }).actions).toEqual([]);
});
