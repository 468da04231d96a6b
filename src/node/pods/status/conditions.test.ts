import { expect, test } from 'vitest';
import type { ContainerState, ContainerStatus, Pod, PodCondition } from '../../../api/generated/types.ts';
import { conditionsOf, type ConditionsInput } from './conditions.ts';

const at = Date.UTC(2026, 0, 2);
const running: ContainerState = { running: { startedAt: null } };
const waiting: ContainerState = { waiting: {} };

const status = (name: string, state: ContainerState, ready: boolean): ContainerStatus => ({
  name,
  state,
  lastState: {},
  ready,
  restartCount: 0,
  image: '',
  imageID: '',
  started: ready,
});

function pod(spec: Partial<Pod['spec']>, conditions: PodCondition[] = []): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', generation: 3 },
    spec: { containers: [{ name: 'app', resources: {} }], ...spec },
    status: { conditions },
  };
}

const said = (progress: Partial<ConditionsInput> & Pick<ConditionsInput, 'pod' | 'statuses'>, type: string) =>
  conditionsOf({ phase: 'Running', sandbox: true, ...progress }, at).find((each) => each.type === type);

test('names what is not ready and what is unknown', () => {
  const two = pod({
    containers: [
      { name: 'a', resources: {} },
      { name: 'b', resources: {} },
      { name: 'c', resources: {} },
    ],
  });
  const statuses = { containerStatuses: [status('a', running, true), status('b', waiting, false)] };
  expect(said({ pod: two, statuses }, 'ContainersReady')).toEqual({
    type: 'ContainersReady',
    status: 'False',
    reason: 'ContainersNotReady',
    message: 'containers with unknown status: [c], containers with unready status: [b]',
    observedGeneration: 3,
    lastProbeTime: null,
    lastTransitionTime: '2026-01-02T00:00:00Z',
  });
  expect(said({ pod: two, statuses }, 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
});

test('every gate that is not open is named', () => {
  const closed = { type: 'b', status: 'False', lastProbeTime: null, lastTransitionTime: null };
  const gated = pod({ readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] }, [closed]);
  expect(said({ pod: gated, statuses: { containerStatuses: [status('app', running, true)] } }, 'Ready')).toMatchObject({
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: 'corresponding condition of pod readiness gate "a" does not exist., the status of pod readiness gate "b" is not "True", but False',
  });
});

test('init containers that are not done are named, until another container has started', () => {
  const two = pod({
    initContainers: [
      { name: 'one', resources: {} },
      { name: 'helper', resources: {}, restartPolicy: 'Always' },
    ],
  });
  const initContainerStatuses = [status('one', waiting, false), status('helper', waiting, false)];
  expect(
    said({ pod: two, phase: 'Pending', statuses: { initContainerStatuses, containerStatuses: [status('app', waiting, false)] } }, 'Initialized'),
  ).toMatchObject({
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: 'containers with incomplete status: [one helper]',
  });
  expect(said({ pod: two, statuses: { initContainerStatuses, containerStatuses: [status('app', running, true)] } }, 'Initialized')).toMatchObject({
    status: 'True',
  });
});

test('a pod that has ended says so in every condition', () => {
  const statuses = { containerStatuses: [status('app', { terminated: { exitCode: 0, startedAt: null, finishedAt: null } }, false)] };
  const reasons = (phase: 'Succeeded' | 'Failed') =>
    conditionsOf({ pod: pod({}), statuses, phase, sandbox: false }, at).map(({ type, status: is, reason = '' }) => `${type} ${is} ${reason}`);
  expect(reasons('Succeeded')).toEqual([
    'PodReadyToStartContainers False ',
    'Initialized True PodCompleted',
    'Ready False PodCompleted',
    'ContainersReady False PodCompleted',
    'PodScheduled True ',
  ]);
  expect(reasons('Failed')).toContain('Ready False PodFailed');
});

test('what others say stays, and when something last changed', () => {
  const old = [
    { type: 'DisruptionTarget', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' },
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:01Z' },
    { type: 'Ready', status: 'False', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:02Z' },
  ];
  const next = conditionsOf({ pod: pod({}, old), statuses: { containerStatuses: [status('app', running, true)] }, phase: 'Running', sandbox: true }, at);
  expect(next.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`)).toEqual([
    'DisruptionTarget 2026-01-01T00:00:00Z',
    'PodReadyToStartContainers 2026-01-02T00:00:00Z',
    'Initialized 2026-01-02T00:00:00Z',
    'Ready 2026-01-02T00:00:00Z',
    'ContainersReady 2026-01-02T00:00:00Z',
    'PodScheduled 2026-01-01T00:00:01Z',
  ]);
});
