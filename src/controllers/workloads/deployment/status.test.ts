import { describe, expect, test } from 'vitest';
import { ago, deployment, type DeploymentParts, now, replicaSet } from '../../../../test/controllers/deployment/objects.ts';
import type { Deployment, DeploymentCondition, DeploymentStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { ReplicaSets } from './replica-sets.ts';
import { statusOf, syncRolloutStatus } from './status.ts';

const condition = (reason: string, more: Partial<DeploymentCondition> = {}): DeploymentCondition => ({
  type: 'Progressing',
  status: 'True',
  lastUpdateTime: ago(60),
  lastTransitionTime: ago(90),
  reason,
  message: 'before',
  ...more,
});
const withDeadline = (replicas: number, status: DeploymentStatus = {}, parts: DeploymentParts = {}): Stored<Deployment> =>
  deployment(replicas, { status, ...parts, spec: { progressDeadlineSeconds: 600, ...parts.spec } });

/** The status that is written; undefined if nothing changes. */
function writtenStatus(of: Stored<Deployment>, replicaSets: ReplicaSets): DeploymentStatus | undefined {
  const [action] = syncRolloutStatus(of, replicaSets, now).actions;
  return action?.do === 'updateStatus' ? (action.object.status as DeploymentStatus) : undefined;
}
const progressOf = (of: Stored<Deployment>, replicaSets: ReplicaSets) => writtenStatus(of, replicaSets)?.conditions?.find(({ type }) => type === 'Progressing');
const alone = (...args: Parameters<typeof replicaSet>): ReplicaSets => ({ current: replicaSet(...args), old: [] });

describe('the status of a deployment', () => {
  test('sums up its ReplicaSets', () => {
    const replicaSets = {
      current: replicaSet('v2', 3, { available: 1 }),
      old: [replicaSet('v1', 2, { status: { terminatingReplicas: 1, readyReplicas: 2, availableReplicas: 1 } })],
    };
    expect(statusOf(deployment(4, { status: { collisionCount: 2 }, metadata: { generation: 7 } }), replicaSets, now)).toMatchObject({
      observedGeneration: 7,
      replicas: 5,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 2,
      unavailableReplicas: 3,
      terminatingReplicas: 1,
      collisionCount: 2,
    });
    expect(statusOf(deployment(0), { current: undefined, old: [] }, now)).toEqual({
      observedGeneration: 1,
      terminatingReplicas: 0,
      conditions: [expect.objectContaining({ type: 'Available', status: 'True' })],
    });
  });

  test('never has fewer than no unavailable pods', () => {
    expect(statusOf(deployment(1), alone('v1', 1, { available: 3 }), now)).not.toHaveProperty('unavailableReplicas');
  });

  test('has no terminatingReplicas if a ReplicaSet has none, unless that one was not observed yet', () => {
    const silent = (observedGeneration: number) => {
      const set = replicaSet('v1', 1);
      const { terminatingReplicas: _, ...status } = set.status;
      return { current: { ...set, status: { ...status, observedGeneration } }, old: [replicaSet('v0', 0, { status: { terminatingReplicas: 2 } })] };
    };
    expect(statusOf(deployment(1), silent(1), now)).not.toHaveProperty('terminatingReplicas');
    expect(statusOf(deployment(1), silent(0), now)).toMatchObject({ terminatingReplicas: 2 });
  });

  test.each([
    [4, 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
    [3, 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
    [2, 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.'],
  ])('with %i of 4 pods, one of which may be missing: Available %s', (available, status, reason, message) => {
    const { conditions } = statusOf(deployment(4, { unavailable: '25%' }), alone('v1', 4, { available }), now);
    expect(conditions).toEqual([{ type: 'Available', status, reason, message, lastUpdateTime: ago(0), lastTransitionTime: ago(0) }]);
  });
});

describe('the progress of a rollout', () => {
  test('is made when pods are created, become ready or available, or old ones end', () => {
    const before = { replicas: 4, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [condition('NewReplicaSetCreated')] };
    const progress: DeploymentCondition = {
      type: 'Progressing',
      status: 'True',
      reason: 'ReplicaSetUpdated',
      message: 'ReplicaSet "v2" is progressing.',
      lastUpdateTime: ago(0),
      lastTransitionTime: ago(90),
    };
    const old = (replicas: number) => [replicaSet('v1', replicas, { available: 0 })];
    for (const replicaSets of [
      { current: replicaSet('v2', 3, { available: 2 }), old: old(2) },
      { current: replicaSet('v2', 2, { available: 2 }), old: old(1) },
      { current: replicaSet('v2', 2, { available: 2, status: { readyReplicas: 3 } }), old: old(2) },
    ]) {
      expect(progressOf(withDeadline(5, before), replicaSets)).toEqual(progress);
    }
    expect(progressOf(withDeadline(5, before), { current: replicaSet('v2', 2, { available: 2 }), old: old(2) })).toEqual(before.conditions[0]);
  });

  test('restarts the deadline, even if the condition does not change', () => {
    const of = withDeadline(3, { conditions: [condition('ReplicaSetUpdated', { message: 'ReplicaSet "v1" is progressing.' })] });
    expect(progressOf(of, alone('v1', 1))).toMatchObject({ lastUpdateTime: ago(0), lastTransitionTime: ago(90) });
    const resumed = withDeadline(3, { conditions: [condition('DeploymentResumed', { status: 'Unknown' })] });
    expect(progressOf(resumed, alone('v1', 1))).toMatchObject({ status: 'True', lastTransitionTime: ago(0) });
  });

  test('is complete once all pods are of the current template and available', () => {
    const of = withDeadline(2, { conditions: [condition('ReplicaSetUpdated')] });
    expect(progressOf(of, alone('v1', 2))).toMatchObject({
      status: 'True',
      reason: 'NewReplicaSetAvailable',
      message: 'ReplicaSet "v1" has successfully progressed.',
      lastTransitionTime: ago(90),
    });
    expect(syncRolloutStatus(of, alone('v1', 2), now).again).toBeUndefined();
    expect(progressOf(withDeadline(0), { current: undefined, old: [] })).toMatchObject({ message: 'Deployment "web" has successfully progressed.' });
  });

  test('stays complete when a pod is lost later, or comes back', () => {
    const conditions = [condition('NewReplicaSetAvailable', { lastUpdateTime: ago(10_000) })];
    const of = withDeadline(3, { replicas: 3, updatedReplicas: 3, readyReplicas: 1, availableReplicas: 1, conditions });
    for (const available of [0, 2]) {
      expect(progressOf(of, alone('v1', 3, { available }))).toEqual(conditions[0]);
      expect(syncRolloutStatus(of, alone('v1', 3, { available }), now).again).toBeUndefined();
    }
  });

  test('is exceeded at the deadline and not before, and stays so until there is progress', () => {
    const stuck = (seconds: number, reason = 'ReplicaSetUpdated') =>
      withDeadline(2, { replicas: 2, updatedReplicas: 2, conditions: [condition(reason, { lastUpdateTime: ago(seconds) })] });
    const replicaSets = alone('v1', 2, { available: 0 });
    expect(progressOf(stuck(600), replicaSets)).toMatchObject({ reason: 'ReplicaSetUpdated' });
    expect(syncRolloutStatus(stuck(600), replicaSets, now).again).toBe(now + 1);
    expect(progressOf(stuck(601), replicaSets)).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'ReplicaSet "v1" has timed out progressing.',
      lastTransitionTime: ago(0),
    });
    const exceeded = stuck(9999, 'ProgressDeadlineExceeded');
    expect(syncRolloutStatus(exceeded, replicaSets, now).again).toBeUndefined();
    expect(progressOf(exceeded, alone('v1', 2, { available: 1 }))).toMatchObject({ status: 'True', reason: 'ReplicaSetUpdated' });
  });

  test.each([undefined, 2 ** 31 - 1])('has no condition without a deadline (%s)', (progressDeadlineSeconds) => {
    const of = deployment(2, {
      status: { conditions: [condition('ReplicaSetUpdated')] },
      spec: progressDeadlineSeconds === undefined ? {} : { progressDeadlineSeconds },
    });
    expect(writtenStatus(of, alone('v1', 1))?.conditions?.map(({ type }) => type)).toEqual(['Available']);
  });
});

describe('the failure of a replica set', () => {
  const failing = (name: string, message: string) =>
    replicaSet(name, 1, { status: { conditions: [{ type: 'ReplicaFailure', status: 'True', lastTransitionTime: ago(5), reason: 'FailedCreate', message }] } });
  const failures = (replicaSets: ReplicaSets, status: DeploymentStatus = {}) =>
    writtenStatus(withDeadline(2, status), replicaSets)?.conditions?.filter(({ type }) => type === 'ReplicaFailure');

  test("is its Deployment's: that of the current one before any other", () => {
    const expected = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', lastUpdateTime: ago(5), lastTransitionTime: ago(5) };
    expect(failures({ current: failing('v2', 'new'), old: [failing('v1', 'old')] })).toEqual([{ ...expected, message: 'new' }]);
    expect(failures({ current: replicaSet('v2', 1), old: [failing('v1', 'old')] })).toEqual([{ ...expected, message: 'old' }]);
  });

  test('ends when no ReplicaSet has one', () => {
    const status = { conditions: [condition('FailedCreate', { type: 'ReplicaFailure' })] };
    expect(failures(alone('v1', 1), status)).toEqual([]);
  });
});

test('an unchanged status is not written', () => {
  const of = withDeadline(2);
  const replicaSets = alone('v1', 1);
  const status = writtenStatus(of, replicaSets);
  expect(writtenStatus({ ...of, status: status ?? {} }, replicaSets)).toBeUndefined();
});
