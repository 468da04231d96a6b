import { describe, expect, test } from 'vitest';
import type { Container, ContainerState, ContainerStatus, PodSpec } from '../../../api/generated/types.ts';
import { phaseOf } from './phase.ts';

const container = (name: string, restartPolicy?: string): Container => ({ name, resources: {}, ...(restartPolicy === undefined ? {} : { restartPolicy }) });
const ended = (exitCode: number): ContainerState => ({ terminated: { exitCode, startedAt: null, finishedAt: null } });
const running: ContainerState = { running: { startedAt: null } };
const waiting: ContainerState = { waiting: { reason: 'ContainerCreating' } };

function status(name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, state, lastState: {}, ready: false, restartCount: 0, image: '', imageID: '', started: state.running !== undefined, ...more };
}

interface Case {
  readonly restartPolicy?: string;
  readonly init?: readonly (readonly [Container, ContainerStatus | undefined])[];
  readonly regular: readonly ContainerStatus[];
  readonly terminal?: boolean;
  readonly initialized?: boolean;
}

function phase({ restartPolicy = 'Always', init = [], regular, terminal = false, initialized = false }: Case): string {
  const spec: PodSpec = { restartPolicy, initContainers: init.map(([each]) => each), containers: regular.map(({ name }) => container(name)) };
  const initContainerStatuses = init.flatMap(([, each]) => each ?? []);
  return phaseOf({ spec }, { initContainerStatuses, containerStatuses: [...regular] }, { terminal, initialized });
}

describe('the phase of a pod', () => {
  test.each<[string, Case, string]>([
    ['a container waits', { regular: [status('a', running), status('b', waiting)] }, 'Pending'],
    ['all run', { regular: [status('a', running), status('b', running)] }, 'Running'],
    ['one runs, one has ended', { restartPolicy: 'Never', regular: [status('a', running), status('b', ended(1))] }, 'Running'],
    ['all have ended and come back', { regular: [status('a', ended(0))] }, 'Running'],
    ['all have ended well', { restartPolicy: 'OnFailure', regular: [status('a', ended(0)), status('b', ended(0))] }, 'Succeeded'],
    ['one has failed and comes back', { restartPolicy: 'OnFailure', regular: [status('a', ended(0)), status('b', ended(1))] }, 'Running'],
    ['one has failed for good', { restartPolicy: 'Never', regular: [status('a', ended(0)), status('b', ended(1))] }, 'Failed'],
    ['they were stopped, one badly', { terminal: true, regular: [status('a', ended(0)), status('b', ended(137))] }, 'Failed'],
    ['they were stopped well', { terminal: true, regular: [status('a', ended(0))] }, 'Succeeded'],
    ['one is held back after a failure', { regular: [status('a', waiting, { lastState: ended(1) })] }, 'Running'],
  ])('%s', (_, given, expected) => expect(phase(given)).toBe(expected));

  const init = container('init');
  const sidecar = container('sidecar', 'Always');
  const app = status('app', waiting);

  test.each<[string, Case, string]>([
    ['an init container runs', { init: [[init, status('init', running)]], regular: [app] }, 'Pending'],
    ['an init container is unknown', { init: [[init, undefined]], regular: [status('app', running)] }, 'Pending'],
    ['it failed and comes back', { init: [[init, status('init', ended(1))]], regular: [app] }, 'Pending'],
    ['it failed for good', { restartPolicy: 'Never', init: [[init, status('init', ended(1))]], regular: [app] }, 'Failed'],
    [
      'it failed before, and is not to come back',
      { restartPolicy: 'Never', init: [[init, status('init', waiting, { lastState: ended(1) })]], regular: [app] },
      'Failed',
    ],
    ['a sidecar has not started', { init: [[sidecar, status('sidecar', running, { started: false })]], regular: [status('app', running)] }, 'Pending'],
    [
      'it had started before the others did',
      { init: [[sidecar, status('sidecar', running, { started: false })]], regular: [status('app', running)], initialized: true },
      'Running',
    ],
    [
      'only a sidecar still runs',
      { restartPolicy: 'Never', init: [[sidecar, status('sidecar', running)]], regular: [status('app', ended(0))], initialized: true },
      'Running',
    ],
    [
      'how a sidecar ended does not matter',
      { restartPolicy: 'Never', init: [[sidecar, status('sidecar', ended(137))]], regular: [status('app', ended(0))], initialized: true },
      'Succeeded',
    ],
  ])('%s', (_, given, expected) => expect(phase(given)).toBe(expected));
});
