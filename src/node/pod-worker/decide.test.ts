import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Behaviour, ModelNode } from '../../../test/sandbox/model-node.ts';
import type { Container, Pod, PodSpec } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { decidePod } from './decide.ts';

const forever: Behaviour = { runFor: undefined, exitCode: 0, stopAfter: 500 };

const container = (name: string, restartPolicy?: string): Container => ({
  name,
  image: 'nginx',
  resources: {},
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
});

const podOf = (spec: Partial<PodSpec> = {}): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'web', uid: 'uid', generation: 1, resourceVersion: '1' },
  spec: { nodeName: 'n1', restartPolicy: 'Always', terminationGracePeriodSeconds: 30, containers: [container('app')], ...spec },
  status: { phase: 'Pending', qosClass: 'BestEffort' },
});

const nodeWith = (spec: Partial<PodSpec> = {}, behaviours: Readonly<Record<string, Behaviour>> = {}): ModelNode =>
  new ModelNode(podOf(spec), (name) => behaviours[name] ?? forever);

describe('a pod on a node', () => {
  test('waits for its volumes, then gets its place, then its containers', () => {
    const node = nodeWith();
    node.volumesReady = false;
    node.settle();
    expect(node.done).toEqual(['admit']);
    expect(node.pod?.status.phase).toBe('Pending');
    node.volumesReady = true;
    node.settle();
    expect(node.done).toEqual(['admit', 'start-sandbox', 'start app']);
    expect(node.pod?.status).toMatchObject({ phase: 'Running', podIP: '10.0.0.5', containerStatuses: [{ ready: true, containerID: 'model://app-0' }] });
  });

  test('whose volumes the node has no room for fails, and holds nothing (v1.36.4)', () => {
    const node = nodeWith();
    node.volumesReady = false;
    node.settle();
    const message = 'Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[v]';
    node.volumesRejected = message;
    node.settle();
    const reason = 'VolumeAttachmentLimitExceeded';
    expect(node.pod?.status).toMatchObject({ phase: 'Failed', reason, message: `Pod was rejected: ${message}` });
    expect(node.said).toEqual([`${reason}: ${message}`]);
    expect(node.runs).toEqual([]);
  });

  test('that has its place starts no container while its volumes are not ready, as after a new start of the agent', () => {
    const node = nodeWith({}, { app: { ...forever, runFor: 1000 } });
    node.settle();
    node.crash();
    node.volumesReady = false;
    node.pass(60_000);
    expect(node.done).toEqual(['admit', 'start-sandbox', 'start app']);
    expect(node.pod?.status.containerStatuses?.[0]).toMatchObject({ ready: false, state: { terminated: { exitCode: 0 } } });
    node.volumesReady = true;
    node.settle();
    expect(node.done.at(-1)).toBe('start app');
    expect(node.runs).toHaveLength(2);
  });

  test('starts init containers one after the other, sidecars beside them, then the others', () => {
    const node = nodeWith(
      { initContainers: [container('first'), container('side', 'Always'), container('second')], containers: [container('a'), container('b')] },
      { first: { ...forever, runFor: 1000 }, second: { ...forever, runFor: 1000 } },
    );
    node.settle();
    expect(node.done.at(-1)).toBe('start first');
    node.pass(1000);
    expect(node.done.slice(-2)).toEqual(['start side', 'start second']);
    node.pass(1000);
    expect(node.done.slice(-2)).toEqual(['start a', 'start b']);
  });

  test('is started again after ten seconds, then twenty; events and state say so as kubelets do', () => {
    const node = nodeWith({}, { app: { ...forever, runFor: 100, exitCode: 3 } });
    node.pass(1000);
    expect(node.runs.map(({ attempt }) => attempt)).toEqual([0, 1]);
    const message = 'back-off 10s restarting failed container=app pod=web_default(uid)';
    expect(node.pod?.status.containerStatuses?.[0]).toMatchObject({ restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff', message } } });
    expect(node.said.filter((line) => line.startsWith('BackOff'))).toEqual(['BackOff: Back-off restarting failed container app in pod web_default(uid)']);
    node.pass(9200);
    expect(node.runs).toHaveLength(3);
    node.pass(15_000);
    expect(node.runs).toHaveLength(3);
    node.pass(6000);
    expect(node.runs).toHaveLength(4);
  });

  test.each(['Always', 'OnFailure', 'Never'])('with a new image is restarted whatever its restart policy (%s)', (restartPolicy) => {
    const node = nodeWith({ restartPolicy });
    node.pass(1000);
    if (node.pod === undefined) throw new Error('the pod is gone');
    node.pod = { ...node.pod, spec: { ...node.pod.spec, containers: (node.pod.spec.containers ?? []).map((each) => ({ ...each, image: 'nginx:2' })) } };
    node.pass(60_000);
    expect(node.runs.map(({ image, state }) => [image, state.type])).toEqual([
      ['nginx', 'exited'],
      ['nginx:2', 'running'],
    ]);
    expect(node.pod.status.phase).toBe('Running');
  });

  test('that is deleted is stopped in time: its sidecars last, and the object goes when nothing is left', () => {
    const node = nodeWith({ initContainers: [container('side', 'Always')] }, { app: { ...forever, stopAfter: 100_000 } });
    node.settle();
    node.delete(10);
    node.settle();
    expect(node.done.at(-1)).toBe('kill app');
    node.pass(9_999);
    expect(node.pod).toBeDefined();
    node.pass(2_600);
    expect(node.done.slice(-5)).toEqual(['kill app', 'kill side', 'stop-sandbox', 'delete-pod', 'discard']);
    expect(node.pod).toBeUndefined();
    expect(node.said.slice(-2)).toEqual(['Killing: Stopping container app', 'Killing: Stopping container side']);
  });

  test('is asked again if it has to stop sooner', () => {
    const node = nodeWith({}, { app: { ...forever, stopAfter: 100_000 } });
    node.settle();
    node.delete(60);
    node.pass(1000);
    node.delete(5);
    node.pass(5_100);
    expect(node.pod).toBeUndefined();
  });

  test.each([
    ['liveness' as const, 'Killing: Container app failed liveness probe, will be restarted'],
    ['startup' as const, 'Killing: Container app failed startup probe, will be restarted'],
  ])('whose %s probe fails is started anew', (failed, said) => {
    const node = nodeWith();
    node.settle();
    node.health = (id) => (id === 'app-0' ? { started: true, ready: true, failed } : { started: true, ready: true, failed: undefined });
    node.pass(1000);
    expect(node.said).toContain(said);
    expect(node.runs.map(({ id, state }) => [id, state.type])).toEqual([
      ['app-0', 'exited'],
      ['app-1', 'running'],
    ]);
  });

  test('that is not ready says so, and the next container waits for what follows a start', () => {
    const node = nodeWith({ containers: [{ ...container('a'), lifecycle: { postStart: { exec: { command: ['x'] } } } }, container('b')] });
    node.settle();
    expect(node.done.filter((what) => what.startsWith('start '))).toEqual(['start a']);
    expect(node.pod?.status.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: 'ContainerCreating' } });
    node.memory = { ...node.memory, hooks: new Map() };
    node.health = (id) => ({ started: true, ready: id !== 'b-0', failed: undefined });
    node.settle();
    expect(node.pod?.status.containerStatuses?.map(({ ready }) => ready)).toEqual([true, false]);
    node.memory = { ...node.memory, hooks: new Map([['a-0', 'failed']]) };
    node.settle();
    expect(node.said).toContain('Killing: FailedPostStartHook');
  });

  test('that had its time fails', () => {
    const node = nodeWith({ activeDeadlineSeconds: 5 });
    node.pass(6000);
    expect(node.pod?.status).toMatchObject({
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    });
    expect(node.said.filter((line) => line.startsWith('DeadlineExceeded'))).toHaveLength(1);
  });

  test('that takes more than it may is evicted (v1.36.4)', () => {
    const node = nodeWith({ terminationGracePeriodSeconds: 3600 });
    node.settle();
    const message = 'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". ';
    node.memory = { ...node.memory, evicted: message };
    node.pass(2000);
    expect(node.pod?.status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message });
    expect(node.said.filter((line) => line.startsWith('Evicted'))).toHaveLength(1);
  });

  test('of another pod of that name is discarded', () => {
    const node = nodeWith();
    node.settle();
    node.pod = { ...podOf(), metadata: { ...podOf().metadata, uid: 'other' } };
    node.crash();
    node.settle();
    expect(node.done).toContain('discard');
    expect(node.pod.status.phase).toBe('Running');
  });
});

interface Plan {
  readonly spec: Partial<PodSpec>;
  readonly behaviours: Readonly<Record<string, Behaviour>>;
  readonly deleteAfter: number | undefined;
}

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  runFor: fc.constantFrom(undefined, 100, 3000, 20_000),
  exitCode: fc.constantFrom(0, 1),
  stopAfter: fc.constantFrom(0, 800, 100_000),
});

const plans: fc.Arbitrary<Plan> = fc.record({
  spec: fc.record({
    restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
    initContainers: fc
      .array(fc.boolean(), { maxLength: 2 })
      .map((kinds) => kinds.map((isSidecar, i) => container(`init-${i}`, isSidecar ? 'Always' : undefined))),
    containers: fc.integer({ min: 1, max: 3 }).map((count) => Array.from({ length: count }, (_, i) => container(`app-${i}`))),
    terminationGracePeriodSeconds: fc.constantFrom(1, 30),
  }),
  behaviours: fc.record({ 'init-0': behaviour, 'init-1': behaviour, 'app-0': behaviour, 'app-1': behaviour, 'app-2': behaviour }),
  deleteAfter: fc.constantFrom(undefined, 0, 150, 5000, 60_000),
});

const played = ({ spec, behaviours, deleteAfter }: Plan, perform?: () => boolean): ModelNode => {
  const node = nodeWith(spec, behaviours);
  node.pass(deleteAfter ?? 60_000, perform);
  if (deleteAfter !== undefined) node.delete(10);
  node.pass(600_000, perform);
  return node;
};

describe('a pod with sidecars', () => {
  const side = container('side', 'Always');

  test('that is done has succeeded: its sidecars end with it, and are not restarted', () => {
    const node = nodeWith({ restartPolicy: 'Never', initContainers: [side] }, { app: { ...forever, runFor: 1000 } });
    node.pass(60_000);
    expect(node.pod?.status.phase).toBe('Succeeded');
    expect(node.done.filter((what) => what === 'start side')).toHaveLength(1);
  });

  test('whose init container fails for good has failed, and its sidecars end', () => {
    const node = nodeWith({ restartPolicy: 'Never', initContainers: [side, container('init')] }, { init: { ...forever, runFor: 1000, exitCode: 3 } });
    node.pass(60_000);
    expect(node.pod?.status.phase).toBe('Failed');
    expect(node.done.filter((what) => what === 'start side')).toHaveLength(1);
    expect(node.runs.every(({ state }) => state.type === 'exited')).toBe(true);
  });
});

describe('whatever a pod does', () => {
  test('it comes to rest at every moment, and the same is decided of the same', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const node = played(plan);
        expect(decidePod(node.snapshot(), node.now)).toEqual(decidePod(node.snapshot(), node.now));
        if (plan.deleteAfter !== undefined) expect(node.pod).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test('agents that end after any action leave nothing undone', () => {
    fc.assert(
      fc.property(plans, fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 4 }), (plan, crashes) => {
        const calm = played(plan);
        let left = crashes[0] ?? Number.POSITIVE_INFINITY;
        let next = 1;
        const stormy = played(plan, () => {
          if (left-- > 0) return true;
          left = crashes[next++] ?? Number.POSITIVE_INFINITY;
          return false;
        });
        expect(stormy.pod === undefined).toBe(calm.pod === undefined);
        expect(stormy.pod?.status.phase).toBe(calm.pod?.status.phase);
      }),
      { numRuns: 60 },
    );
  });

  test('no container runs twice at a time, none before its init containers, none without a place', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const { done } = played(plan);
        const inits = (plan.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === undefined).map(({ name }) => `start ${name}`);
        const firstRegular = done.findIndex((what) => what.startsWith('start app'));
        for (const init of inits) if (firstRegular >= 0) expect(done.indexOf(init)).toBeLessThan(firstRegular);
        const lastStop = done.lastIndexOf('stop-sandbox');
        if (lastStop >= 0) expect(done.slice(lastStop).filter((what) => what.startsWith('start '))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('every status is valid, a pod ends once, and restart counts and the pod address never go back', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const { statuses } = played(plan);
        for (const [i, status] of statuses.entries()) {
          const before = statuses[i - 1];
          if (before === undefined) continue;
          if (before.phase === 'Succeeded' || before.phase === 'Failed') expect(status.phase).toBe(before.phase);
          if (before.podIP !== undefined) expect(status.podIP).toBe(before.podIP);
          for (const { name, restartCount } of status.containerStatuses ?? [])
            expect(restartCount).toBeGreaterThanOrEqual(before.containerStatuses?.find((each) => each.name === name)?.restartCount ?? 0);
        }
      }),
      { numRuns: 60 },
    );
  });
});
