import { describe, expect, test } from 'vitest';
import type { Pod, PodFailurePolicyRule, PodStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { matchFailurePolicy } from './failure-policy.ts';
import { parseIntervals } from './intervals.ts';
import { reasonForSuccess } from './success-policy.ts';
import { endOf } from './tracked-pod.ts';

const container = (name: string, exitCode?: number, finishedAt: string | null = null) => ({
  name,
  ready: false,
  restartCount: 0,
  image: 'i',
  imageID: '',
  lastState: {},
  state: exitCode === undefined ? {} : { terminated: { exitCode, startedAt: null, finishedAt } },
});
const pod = (status: Partial<PodStatus>, metadata: object = {}, spec: object = {}): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'team', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  spec: { containers: [], ...spec },
  status: { phase: 'Failed', ...status },
});

describe('podFailurePolicy:', () => {
  const judge = (rules: readonly PodFailurePolicyRule[], of: Stored<Pod>) => matchFailurePolicy({ rules: [...rules] }, of);
  const onExit = (action: string, operator: string, values: number[], containerName?: string): PodFailurePolicyRule => ({
    action,
    onExitCodes: { operator, values, ...(containerName === undefined ? {} : { containerName }) },
  });
  const disrupted = { type: 'DisruptionTarget', status: 'True', lastProbeTime: null, lastTransitionTime: null };

  test('the first matching rule decides', () => {
    const rules = [onExit('Ignore', 'In', [5]), onExit('FailIndex', 'In', [5, 6]), onExit('Count', 'NotIn', [9])];
    const match = (code: number) => judge(rules, pod({ containerStatuses: [container('a', code)] })).type;
    expect([5, 6, 7, 9].map(match)).toEqual(['ignore', 'failIndex', 'count', 'count']);
  });

  test('containers that succeeded or still run match nothing', () => {
    const rules = [onExit('Ignore', 'NotIn', [1])];
    expect(judge(rules, pod({ containerStatuses: [container('a', 0), container('b')] })).type).toBe('count');
  });

  test('a rule may name a container, also an init container', () => {
    const rules = [onExit('FailJob', 'In', [3], 'b')];
    expect(judge(rules, pod({ containerStatuses: [container('a', 3)] })).type).toBe('count');
    expect(judge(rules, pod({ containerStatuses: [container('a', 1)], initContainerStatuses: [container('b', 3)] }))).toEqual({
      type: 'failJob',
      message: 'Container b for pod team/p failed with exit code 3 matching FailJob rule at index 0',
    });
  });

  test('a rule may match conditions', () => {
    const rules = [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }];
    expect(judge(rules, pod({ conditions: [{ ...disrupted, status: 'False' }] })).type).toBe('count');
    expect(judge(rules, pod({ conditions: [disrupted] }))).toEqual({
      type: 'failJob',
      message: 'Pod team/p has condition DisruptionTarget matching FailJob rule at index 0',
    });
  });

  test('without a rule the failure counts', () => {
    expect(matchFailurePolicy(undefined, pod({})).type).toBe('count');
  });
});

test.each([
  [[{ succeededIndexes: '0-2' }], '0-2', 'Matched rules at index 0'],
  [[{ succeededIndexes: '0-2' }], '0,1', undefined],
  [[{ succeededIndexes: '0-2', succeededCount: 2 }], '1,2', 'Matched rules at index 0'],
  [[{ succeededIndexes: '0-2', succeededCount: 2 }], '2-4', undefined],
  [[{ succeededIndexes: '9' }, { succeededCount: 2 }], '3,4', 'Matched rules at index 1'],
  [[{ succeededCount: 1 }], '', undefined],
])('successPolicy %j with %j: %s', (rules, succeeded, reason) => {
  expect(reasonForSuccess({ rules }, parseIntervals(succeeded, 9), 9)).toBe(reason);
});

describe('a pod ended', () => {
  const at = (text: string) => Date.parse(`2026-01-01T00:0${text}Z`);

  test('with the last of its containers, sidecars included', () => {
    const containerStatuses = [container('a', 1, '2026-01-01T00:01:00Z'), container('b', 0, '2026-01-01T00:02:00Z')];
    expect(endOf(pod({ containerStatuses }))).toBe(at('2:00'));
    const initContainerStatuses = [container('setup', 0, '2026-01-01T00:09:00Z'), container('proxy', 0, '2026-01-01T00:03:00Z')];
    expect(endOf(pod({ containerStatuses, initContainerStatuses }, {}, { initContainers: [{ name: 'proxy', restartPolicy: 'Always' }] }))).toBe(at('3:00'));
  });

  test('when it became unready, else when it was deleted, else when it was created', () => {
    const ready = { type: 'Ready', status: 'False', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:04:00Z' };
    const metadata = { deletionTimestamp: '2026-01-01T00:05:30Z', deletionGracePeriodSeconds: 30 };
    expect(endOf(pod({ conditions: [ready], containerStatuses: [container('a')] }, metadata))).toBe(at('4:00'));
    expect(endOf(pod({}, metadata))).toBe(at('5:00'));
    expect(endOf(pod({}))).toBe(at('0:00'));
  });
});
