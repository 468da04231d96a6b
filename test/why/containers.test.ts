import { describe, expect, test } from 'vitest';
import type { ContainerState, ContainerStatus } from '../../src/api/generated/types.ts';
import { pod, uidOf } from '../storage/objects.ts';
import { answer, explanation, node, onNode } from './explain-objects.ts';

const status = (state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: 'app',
  ready: false,
  restartCount: 0,
  image: 'shop:2',
  imageID: '',
  state,
  lastState: {},
  ...more,
});
const ended = (exitCode: number, reason: string, finishedAt = '2025-01-01T00:04:50Z') => ({ exitCode, reason, startedAt: '2025-01-01T00:04:49Z', finishedAt });
const web = (container: ContainerStatus, more: object = {}) => {
  const placed = onNode('n1', 'Running');
  return pod('web', [], { ...placed, status: { ...placed.status, containerStatuses: [container], ...more } });
};
const crashing = status(
  { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container=app' } },
  { restartCount: 4, lastState: { terminated: ended(1, 'Error') } },
);

describe('a pod whose container does not run', () => {
  test('because it crashes: exit code, restarts, and the last lines of its log', () => {
    const logs = [{ podUid: uidOf('pod', 'web'), container: 'app', lines: ['connecting to db:5432', 'fatal: password authentication failed'] }];
    expect(answer('pod/web', [web(crashing), node('n1')], { logs })).toMatchInlineSnapshot(`
      "
      pod/web in namespace default: CrashLoopBackOff

      Container "app" crashes: it ended with exit code 1, 4 restarts so far.

        claims     none
        node       n1
        exit code  1 (Error)
        back-off   back-off 40s restarting failed container=app
        last log   connecting to db:5432
                   fatal: password authentication failed

      What would change it:
        - read the whole log of the container's last run
            kubectl -n default logs web -c app --previous

      Next: you correct the program, its arguments or its configuration; node/n1 starts it again by
      itself.
      "
    `);
  });

  test.each([
    [137, 'OOMKilled', 'it ended with exit code 137 (it used more memory than its limit)'],
    [139, 'Error', 'it ended with exit code 139 (killed by signal 11)'],
    [127, 'Error', 'it ended with exit code 127 (its command was not found)'],
    [0, 'Completed', 'ends, and is started again each time'],
  ])('exit code %i', (code, reason, text) => {
    const container = { ...crashing, lastState: { terminated: ended(code, reason) } };
    expect(explanation('pod/web', [web(container), node('n1')]).summary).toContain(text);
  });

  test('between two crashes it runs, and is stuck all the same', () => {
    const running = { ...crashing, state: { running: { startedAt: '2025-01-01T00:04:55Z' } } };
    expect(explanation('pod/web', [web(running), node('n1')])).toMatchObject({ verdict: 'stuck', code: 'CrashLoop' });
    const recovered = { ...running, ready: true, lastState: { terminated: ended(1, 'Error', '2025-01-01T00:01:00Z') } };
    expect(explanation('pod/web', [web(recovered), node('n1')])).toMatchObject({ verdict: 'fine', code: 'Running' });
  });

  test('because its image cannot be pulled', () => {
    const container = status({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "shop:2"' } });
    expect(explanation('pod/web', [web(container), node('n1')])).toMatchObject({ state: 'ImagePullBackOff', verdict: 'stuck', code: 'ImageUnavailable' });
  });

  test('because what it refers to is missing', () => {
    const container = status({ waiting: { reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' } });
    expect(explanation('pod/web', [web(container), node('n1')]).summary).toBe('Container "app" cannot be created: configmap "settings" not found.');
  });

  test('because its init container crashes', () => {
    const waiting = status({ waiting: { reason: 'PodInitializing' } });
    const init = { ...crashing, name: 'migrate' };
    expect(explanation('pod/web', [web(waiting, { phase: 'Pending', initContainerStatuses: [init] }), node('n1')]).summary).toContain(
      'Init container "migrate" crashes: it ended with exit code 1, 4 restarts so far.',
    );
  });

  test('because it is not ready: at first that is nothing, later it is', () => {
    const running = status({ running: { startedAt: '2025-01-01T00:00:10Z' } });
    const since = (lastTransitionTime: string) => ({ conditions: [{ type: 'Ready', status: 'False', lastProbeTime: null, lastTransitionTime }] });
    expect(explanation('pod/web', [web(running, since('2025-01-01T00:00:10Z')), node('n1')])).toMatchObject({ verdict: 'stuck', code: 'NotReady' });
    expect(explanation('pod/web', [web(running, since('2025-01-01T00:04:50Z')), node('n1')])).toMatchObject({ verdict: 'waiting', code: 'NotReady' });
  });
});
