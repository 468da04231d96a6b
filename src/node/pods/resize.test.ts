/** What kubelets of v1.36.4 do when a pod is resized, and with ephemeral containers. */
import { describe, expect, test } from 'vitest';
import { ModelNode } from '../../../test/sandbox/model-node.ts';
import type { Container, ContainerStatus, EphemeralContainer, Pod, PodSpec, ResourceRequirements } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { NodeAllocations } from '../allocations.ts';
import { freedCapacity } from '../cache/indexes.ts';
import { decidePod } from '../pod-worker/decide.ts';
import { withAllocatedResources } from './allocated-resources.ts';
import { allocate } from './resize.ts';

const small = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '128Mi' } };
const large = { requests: { cpu: '150m', memory: '64Mi' }, limits: { cpu: '300m', memory: '128Mi' } };

const app = (resources: ResourceRequirements, more: Partial<Container> = {}): Container => ({ name: 'app', image: 'nginx', resources, ...more });
const podOf = (spec: Partial<PodSpec> = {}): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'web', uid: 'uid', generation: 1, resourceVersion: '1' },
  spec: { nodeName: 'node-1', restartPolicy: 'Always', terminationGracePeriodSeconds: 30, containers: [app(small)], ...spec },
  status: { phase: 'Pending', qosClass: 'Burstable' },
});

function change(node: { pod: Stored<Pod> | undefined }, spec: Partial<PodSpec>): void {
  if (node.pod === undefined) throw new Error('the pod is gone');
  const { metadata } = node.pod;
  node.pod = { ...node.pod, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 }, spec: { ...node.pod.spec, ...spec } };
}

const nodeWith = (spec: Partial<PodSpec> = {}): ModelNode => {
  const node = new ModelNode(podOf(spec), () => ({ runFor: undefined, exitCode: 0, stopAfter: 500 }));
  node.settle();
  return node;
};

const resizeMessage = (how: string) =>
  `Pod resize ${how}: {"containers":[{"name":"app","resources":{"limits":{"cpu":"300m","memory":"128Mi"},"requests":{"cpu":"150m","memory":"64Mi"}}}],"generation":2}`;

describe('a pod that is resized', () => {
  test('gets its resources at once, and its container before the status says so', () => {
    const node = nodeWith();
    const before = node.pod?.status.containerStatuses?.[0];
    change(node, { containers: [app(large)] });
    node.settle();
    expect(node.done.at(-1)).toBe('resize app');
    expect([...node.limits]).toEqual([['app-0', large]]);
    expect(node.pod?.status).toMatchObject({ observedGeneration: 2, allocatedResources: large.requests, resources: large });
    expect(node.pod?.status.containerStatuses?.[0]).toEqual({ ...before, resources: large, allocatedResources: large.requests });
    expect(node.pod?.status.conditions?.some(({ type }) => type.startsWith('PodResize'))).toBe(false);
    expect(node.said.slice(-2)).toEqual([`ResizeStarted: ${resizeMessage('started')}`, `ResizeCompleted: ${resizeMessage('completed')}`]);
    node.settle();
    expect(node.done.filter((done) => done === 'resize app')).toHaveLength(1);
  });

  test('is restarted if the resize policy of the changed resource says so', () => {
    const restarts = (resourceName: string) => [{ resourceName, restartPolicy: 'RestartContainer' }];
    for (const [resourceName, restartCount] of [
      ['cpu', 1],
      ['memory', 0],
    ] as const) {
      const node = nodeWith({ containers: [app(small, { resizePolicy: restarts(resourceName) })] });
      change(node, { containers: [app(large, { resizePolicy: restarts(resourceName) })] });
      node.pass(60_000);
      expect(node.pod?.status.containerStatuses?.[0], resourceName).toMatchObject({ restartCount, resources: large });
      expect(node.said.includes('Killing: Container app resize requires restart'), resourceName).toBe(restartCount === 1);
      expect(node.runs).toHaveLength(1 + restartCount);
    }
  });

  test('keeps its resources while there is no capacity, with one event', () => {
    const node = nodeWith();
    change(node, { containers: [app(large)] });
    const { pod: resized, ...snapshot } = node.snapshot();
    if (resized === undefined) throw new Error('the pod is gone');
    const room = { ...snapshot, pod: resized, host: { ...snapshot.host, capacity: { cpu: '220m', memory: '1Gi', pods: '10' } } };
    const others = () => [{ ...podOf(), metadata: { uid: 'other' } }];
    const message = "Node didn't have enough resource: cpu, requested: 150, used: 100, capacity: 220";
    const { pod, pending, changed, events } = allocate({ ...room, others });
    expect([pod.spec.containers?.[0]?.resources, pending, changed]).toEqual([small, { reason: 'Deferred', message }, []]);
    const summary = resizeMessage('OutOfcpu').replace(/}$/, `,"error":${JSON.stringify(message)}}`);
    expect(events).toEqual([{ type: 'Warning', reason: 'ResizeDeferred', message: summary }]);
    const conditions = [{ type: 'PodResizePending', status: 'True', observedGeneration: 2, lastProbeTime: null, lastTransitionTime: null }];
    expect(allocate({ ...room, pod: { ...resized, status: { ...resized.status, conditions } }, others }).events).toEqual([]);
  });

  test('gets the free capacity although another pod waits for more, and only one of two does', () => {
    const pending = { type: 'PodResizePending', status: 'True', observedGeneration: 2, lastProbeTime: null, lastTransitionTime: null };
    const asking = (uid: string): Stored<Pod> => ({
      ...podOf({ containers: [app(large)] }),
      metadata: { namespace: 'default', name: uid, uid, generation: 2, resourceVersion: '1' },
      status: { conditions: [pending], containerStatuses: [{ ...nodeWith().pod?.status.containerStatuses?.[0], resources: small } as ContainerStatus] },
    });
    const snapshot = nodeWith().snapshot();
    const allocations = new NodeAllocations();
    const [first, second] = [asking('first'), asking('second')];
    const given = (pod: Stored<Pod>, other: Stored<Pod>) => {
      const others = () => [allocations.isResized('node-1', other.metadata) ? other : withAllocatedResources(other)];
      const { isGiven } = allocate({ ...snapshot, pod, host: { ...snapshot.host, capacity: { cpu: '250m', memory: '1Gi', pods: '10' } }, others });
      if (isGiven) allocations.setResized('node-1', pod.metadata);
      return isGiven;
    };
    expect([given(first, second), given(second, first)]).toEqual([true, false]);
    // Once the one is known to get nothing, the other is decided again.
    const undecided = { ...first, status: { ...first.status, conditions: [] } };
    expect(freedCapacity({ before: undecided, after: first })).toEqual(['capacity node-1']);
    expect(freedCapacity({ before: first, after: first })).toEqual([]);
  });

  test('at the pod level is counted with its overhead, and settles', () => {
    const node = nodeWith({ overhead: { cpu: '10m' }, resources: small });
    change(node, { resources: large });
    node.settle();
    expect(node.pod?.status.resources?.requests).toEqual({ cpu: '160m', memory: '64Mi' });
    expect(decidePod(node.snapshot(), node.now).actions).toEqual([]);
  });
});

describe('an ephemeral container', () => {
  const ephemeral = (more: Partial<EphemeralContainer> = {}): EphemeralContainer => ({ name: 'debugger', image: 'busybox', resources: {}, ...more });

  test('runs beside the others, does not count for the phase, and is not restarted', () => {
    const node = nodeWith({ restartPolicy: 'Always' });
    change(node, { ephemeralContainers: [ephemeral()] });
    node.settle();
    expect(node.pod?.status).toMatchObject({ phase: 'Running', observedGeneration: 2 });
    const [status] = node.pod?.status.ephemeralContainerStatuses ?? [];
    expect(status).toMatchObject({ name: 'debugger', image: 'busybox', ready: false, restartCount: 0, resources: {}, state: { running: {} } });
    expect(Object.keys(status ?? {})).not.toContain('started');
    expect(node.done.at(-1)).toBe('start debugger');
    const ending = new ModelNode(podOf({ ephemeralContainers: [ephemeral()] }), (name) => ({
      runFor: name === 'debugger' ? 1000 : undefined,
      exitCode: 3,
      stopAfter: 500,
    }));
    ending.pass(60_000);
    expect(ending.done.filter((done) => done === 'start debugger')).toHaveLength(1);
    expect(ending.pod?.status).toMatchObject({ phase: 'Running', ephemeralContainerStatuses: [{ state: { terminated: { exitCode: 3 } } }] });
  });

  test('waits for its target container', () => {
    const init: Container = { name: 'init', image: 'x', resources: {} };
    const node = nodeWith({ initContainers: [init], ephemeralContainers: [ephemeral({ targetContainerName: 'app' })] });
    expect(node.pod?.status.ephemeralContainerStatuses?.[0]?.state).toEqual({
      waiting: { reason: 'CreateContainerConfigError', message: 'unable to find target container app' },
    });
    expect(node.said).toContain('Failed: Error: unable to find target container app');
    const other = nodeWith({ initContainers: [init], ephemeralContainers: [ephemeral({ targetContainerName: 'init' })] });
    expect(other.done).toContain('start debugger');
  });

  test('ends with the pod', () => {
    const node = new ModelNode(podOf({ restartPolicy: 'Never', ephemeralContainers: [ephemeral()] }), (name) => ({
      runFor: name === 'app' ? 1000 : undefined,
      exitCode: 0,
      stopAfter: 100,
    }));
    node.pass(60_000);
    expect(node.pod?.status.phase).toBe('Succeeded');
    expect(node.runs.every(({ state }) => state.type === 'exited')).toBe(true);
  });
});
