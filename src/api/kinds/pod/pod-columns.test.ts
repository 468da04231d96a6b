import { describe, expect, test } from 'vitest';
import type { Pod } from '../../generated/types.ts';
import { decoded, NOW, row } from '../try-kind.ts';
import { podKind } from './pod.ts';

interface Shown {
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
}

const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();
const container = (name: string): object => ({ name, image: 'x' });
const sidecar = (name: string): object => ({ ...container(name), restartPolicy: 'Always' });

function pod({ spec = {}, status = {}, metadata = {} }: Shown): Pod {
  return decoded(podKind, {
    metadata: { name: 'web', creationTimestamp: ago(300), ...metadata },
    spec: { containers: [container('main')], ...spec },
    status: { phase: 'Pending', ...status },
  });
}

const cells = (shown: Shown): Record<string, unknown> => row(podKind, pod(shown));
const running = (more: object = {}): object => ({ name: 'main', state: { running: {} }, ready: true, restartCount: 0, ...more });
const ended = (terminated: object, more: object = {}): object => ({ name: 'main', state: { terminated }, ready: false, restartCount: 0, ...more });
const waiting = (reason: string, more: object = {}): object => ({ name: 'main', state: { waiting: { reason } }, ready: false, restartCount: 0, ...more });
const deleted = { deletionTimestamp: ago(1) };

describe('Status', () => {
  test.each<[string, Shown, string]>([
    ['the phase', { status: { phase: 'Pending' } }, 'Pending'],
    ['the reason of the pod', { status: { phase: 'Failed', reason: 'Evicted' } }, 'Evicted'],
    [
      'gates that hold off the scheduler',
      { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] } },
      'SchedulingGated',
    ],
    ['running', { status: { phase: 'Running', containerStatuses: [running()] } }, 'Running'],
    ['what a container waits for', { status: { phase: 'Running', containerStatuses: [waiting('CrashLoopBackOff')] } }, 'CrashLoopBackOff'],
    ['done', { status: { phase: 'Succeeded', containerStatuses: [ended({ exitCode: 0, reason: 'Completed' })] } }, 'Completed'],
    ['the reason of an end', { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 137, reason: 'OOMKilled' })] } }, 'OOMKilled'],
    ['an exit code', { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 3 })] } }, 'ExitCode:3'],
    ['a signal', { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 0, signal: 9 })] } }, 'Signal:9'],
    ['deleted', { metadata: deleted, status: { phase: 'Running', containerStatuses: [running()] } }, 'Terminating'],
    ['deleted after it ended', { metadata: deleted, status: { phase: 'Succeeded' } }, 'Succeeded'],
    ['deleted on a node that is gone', { metadata: deleted, status: { phase: 'Running', reason: 'NodeLost' } }, 'Unknown'],
  ])('%s', (_, shown, expected) => {
    expect(cells(shown).Status).toBe(expected);
  });

  const both = { containers: [container('main'), container('helper')] };
  const completed = ended({ exitCode: 0, reason: 'Completed' });
  const other = running({ name: 'helper' });

  test('one of two containers is done', () => {
    const ready = [{ type: 'Ready', status: 'True' }];
    expect(cells({ spec: both, status: { containerStatuses: [completed, other], conditions: ready } }).Status).toBe('Running');
    expect(cells({ spec: both, status: { containerStatuses: [completed, other] } }).Status).toBe('NotReady');
    const failed = ended({ exitCode: 1, reason: 'Error' }, { name: 'helper' });
    expect(cells({ spec: both, status: { containerStatuses: [completed, failed] } }).Status).toBe('Error');
  });

  const init = (...statuses: object[]): Shown => ({
    spec: { initContainers: [container('one'), container('two')] },
    status: { initContainerStatuses: statuses, containerStatuses: [waiting('PodInitializing')] },
  });

  test.each<[string, Shown, string]>([
    ['the first runs', init(running({ name: 'one' })), 'Init:0/2'],
    ['the second runs', init(ended({ exitCode: 0 }, { name: 'one' }), running({ name: 'two' })), 'Init:1/2'],
    ['it waits for nothing special', init(waiting('PodInitializing', { name: 'one' })), 'Init:0/2'],
    ['it waits for something', init(waiting('ImagePullBackOff', { name: 'one' })), 'Init:ImagePullBackOff'],
    ['it failed', init(ended({ exitCode: 1, reason: 'Error' }, { name: 'one' })), 'Init:Error'],
    ['it failed without a reason', init(ended({ exitCode: 2 }, { name: 'one' })), 'Init:ExitCode:2'],
    ['it was killed', init(ended({ exitCode: 1, signal: 9 }, { name: 'one' })), 'Init:Signal:9'],
  ])('of init containers: %s', (_, shown, expected) => {
    expect(cells(shown).Status).toBe(expected);
  });

  test('a sidecar that has started does not delay the pod', () => {
    const spec = { initContainers: [sidecar('side'), container('init')] };
    const started = running({ name: 'side', started: true });
    expect(cells({ spec, status: { initContainerStatuses: [started, running({ name: 'init' })] } })).toMatchObject({ Status: 'Init:1/2', Ready: '1/2' });
    const done = [started, ended({ exitCode: 0 }, { name: 'init' })];
    expect(cells({ spec, status: { phase: 'Running', initContainerStatuses: done, containerStatuses: [running()] } })).toMatchObject({
      Status: 'Running',
      Ready: '2/2',
    });
  });
});

describe('Restarts', () => {
  const lastState = { terminated: { exitCode: 1, finishedAt: ago(90) } };

  test('with the time of the last one', () => {
    expect(cells({ status: { containerStatuses: [running({ restartCount: 3 })] } }).Restarts).toBe('3');
    expect(cells({ status: { containerStatuses: [running({ restartCount: 3, lastState })] } }).Restarts).toBe('3 (90s ago)');
    expect(cells({ status: { containerStatuses: [running({ lastState })] } }).Restarts).toBe('0');
  });

  test('those of init containers count while they run, those of sidecars always', () => {
    const spec = { initContainers: [container('init'), sidecar('side')] };
    const failing = running({ name: 'init', restartCount: 5 });
    expect(cells({ spec, status: { initContainerStatuses: [failing] } }).Restarts).toBe('5');
    const started = running({ name: 'side', started: true, restartCount: 2 });
    const done = ended({ exitCode: 0 }, { name: 'init', restartCount: 5 });
    expect(cells({ spec, status: { initContainerStatuses: [done, started], containerStatuses: [running({ restartCount: 1 })] } }).Restarts).toBe('3');
  });
});

test('wide columns', () => {
  expect(cells({})).toMatchObject({ Age: '5m', IP: '<none>', Node: '<none>', 'Nominated Node': '<none>', 'Readiness Gates': '<none>' });
  const gates = { nodeName: 'n1', readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] };
  const status = {
    podIP: '10.0.0.1',
    nominatedNodeName: 'n2',
    conditions: [
      { type: 'a', status: 'True' },
      { type: 'b', status: 'False' },
    ],
  };
  expect(cells({ spec: gates, status })).toMatchObject({ IP: '10.0.0.1', Node: 'n1', 'Nominated Node': 'n2', 'Readiness Gates': '1/2' });
});

test('rows of pods that ended say so', () => {
  const completed = { type: 'Completed', status: 'True' };
  expect(podKind.rowConditions?.(pod({ status: { phase: 'Succeeded' } }))).toEqual([
    { ...completed, reason: 'Succeeded', message: 'The pod has completed successfully.' },
  ]);
  expect(podKind.rowConditions?.(pod({ status: { phase: 'Failed' } }))).toEqual([{ ...completed, reason: 'Failed', message: 'The pod failed.' }]);
  expect(podKind.rowConditions?.(pod({ status: { phase: 'Running' } }))).toEqual([]);
});

test('fields that pods can be selected by', () => {
  const select = (shown: Shown): Record<string, string> =>
    Object.fromEntries(Object.entries(podKind.selectableFields).map(([field, value]) => [field, value(pod(shown))]));
  expect(
    select({
      spec: { nodeName: 'n1', hostNetwork: true, serviceAccountName: 'robot' },
      status: { phase: 'Running', podIP: '10.0.0.1', nominatedNodeName: 'n2' },
    }),
  ).toEqual({
    'spec.nodeName': 'n1',
    'spec.host': 'n1',
    'spec.restartPolicy': 'Always',
    'spec.schedulerName': 'default-scheduler',
    'spec.serviceAccountName': 'robot',
    'spec.hostNetwork': 'true',
    'status.phase': 'Running',
    'status.podIP': '10.0.0.1',
    'status.podIPs': '',
    'status.nominatedNodeName': 'n2',
  });
  expect(select({})['spec.hostNetwork']).toBe('false');
});
