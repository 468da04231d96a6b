/** Pods on hollow nodes, in simulated time: each goes through its life as with a kubelet. */
import { describe, expect, test } from 'vitest';
import type { ContainerState, Pod } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/config-map.ts';
import { podKind } from '../../src/api/kinds/workloads/pod.ts';
import { simulate } from '../../src/sim/world.ts';
import { conditions, NodeCluster } from './cluster.ts';

const story = (tell: (cluster: NodeCluster) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await NodeCluster.start(world);
    await cluster.run({ world }).ready;
    await tell(cluster);
    expect(world.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

const seconds = 1000;

function say({ waiting, running, terminated }: ContainerState): string {
  if (running !== undefined) return 'running';
  if (terminated !== undefined) return `ended with ${terminated.exitCode}`;
  return `waiting: ${waiting?.reason}`;
}

/** 'Running app: running ×1' */
function shown({ status }: Pod): string {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return [status.phase, ...all.map(({ name, state, restartCount }) => `${name}: ${say(state)}${restartCount === 0 ? '' : ` ×${restartCount}`}`)].join(', ');
}

const show = async (cluster: NodeCluster, name: string) => shown(await cluster.getPod(name));

describe('a pod', () => {
  test(
    'becomes ready, with an address of its node, and goes when it is deleted',
    story(async (cluster) => {
      await cluster.pod('web');
      await cluster.world.sleep(1 * seconds);
      const pod = await cluster.getPod('web');
      expect(shown(pod)).toBe('Running, app: running');
      expect(conditions(pod)).toEqual(['PodReadyToStartContainers=True', 'Initialized=True', 'Ready=True', 'ContainersReady=True', 'PodScheduled=True']);
      expect(pod.status).toMatchObject({ hostIP: '172.18.0.2', qosClass: 'BestEffort', startTime: '2026-01-01T00:00:00Z' });
      expect(pod.status.podIP).toMatch(/^10\.128\.[0-3]\.\d+$/);
      await cluster.deletePod('web');
      await cluster.world.sleep(1 * seconds);
      expect(await cluster.findPod('web')).toBeUndefined();
      expect(await cluster.events('web')).toEqual([
        'Pulling: Pulling image "nginx"',
        'Pulled: Successfully pulled image "nginx" in 0s (0s including waiting). Image size: 0 bytes.',
        'Created: Container created',
        'Started: Container started',
        'Killing: Stopping container app',
      ]);
    }),
  );

  test(
    'of a node that is none of ours is left alone',
    story(async (cluster) => {
      await cluster.pod('elsewhere', { nodeName: 'other' });
      await cluster.pod('unscheduled', { nodeName: undefined });
      await cluster.world.sleep(1 * seconds);
      for (const name of ['elsewhere', 'unscheduled']) expect((await cluster.getPod(name)).status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    }),
  );

  test(
    'with an image that the node has does not pull it again, unless it always does',
    story(async (cluster) => {
      await cluster.pod('first');
      await cluster.world.sleep(1 * seconds);
      await cluster.pod('second', { containers: [{ name: 'app', image: 'nginx', imagePullPolicy: 'IfNotPresent' }] });
      await cluster.pod('third', { containers: [{ name: 'app', image: 'nginx', imagePullPolicy: 'Always' }] });
      await cluster.world.sleep(1 * seconds);
      expect((await cluster.events('second'))[0]).toBe('Pulled: Container image "nginx" already present on machine and can be accessed by the pod');
      expect((await cluster.events('third'))[0]).toBe('Pulling: Pulling image "nginx"');
    }),
  );

  test(
    'is not ready before its gates are open',
    story(async (cluster) => {
      await cluster.pod('gated', { readinessGates: [{ conditionType: 'example.com/open' }] });
      await cluster.world.sleep(1 * seconds);
      expect(conditions(await cluster.getPod('gated'))).toContain('Ready=False ReadinessGatesNotReady');
      const gate = { type: 'example.com/open', status: 'True', lastProbeTime: null, lastTransitionTime: null };
      await cluster.changeStatus(podKind, { namespace: 'default', name: 'gated' }, (pod) => ({
        ...pod,
        status: { ...pod.status, conditions: [...(pod.status.conditions ?? []), gate] },
      }));
      await cluster.world.sleep(1 * seconds);
      expect(conditions(await cluster.getPod('gated'))).toEqual([
        'example.com/open=True',
        'PodReadyToStartContainers=True',
        'Initialized=True',
        'Ready=True',
        'ContainersReady=True',
        'PodScheduled=True',
      ]);
    }),
  );

  test(
    'is ready when its probes succeed',
    story(async (cluster) => {
      const probe = { initialDelaySeconds: 5, tcpSocket: { port: 80 } };
      await cluster.pod('slow', { containers: [{ name: 'app', image: 'nginx', startupProbe: { ...probe, initialDelaySeconds: 3 }, readinessProbe: probe }] });
      await cluster.world.sleep(2 * seconds);
      expect((await cluster.getPod('slow')).status.containerStatuses?.[0]).toMatchObject({ started: false, ready: false });
      await cluster.world.sleep(2 * seconds);
      expect((await cluster.getPod('slow')).status.containerStatuses?.[0]).toMatchObject({ started: true, ready: false });
      await cluster.world.sleep(2 * seconds);
      expect(conditions(await cluster.getPod('slow'))).toContain('Ready=True');
    }),
  );

  test(
    'with init containers and a sidecar starts one after the other',
    story(async (cluster) => {
      const initContainers = [
        { name: 'first', image: 'busybox' },
        { name: 'helper', image: 'proxy', restartPolicy: 'Always' },
        { name: 'second', image: 'busybox' },
      ];
      await cluster.pod('web', { initContainers }, { 'mooring.dev/run-for': 'first=5s,second=5s' });
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'web')).toBe(
        'Pending, first: running, helper: waiting: PodInitializing, second: waiting: PodInitializing, app: waiting: PodInitializing',
      );
      expect(conditions(await cluster.getPod('web'))).toContain('Initialized=False ContainersNotInitialized');
      await cluster.world.sleep(5 * seconds);
      expect(await show(cluster, 'web')).toBe('Pending, first: ended with 0, helper: running, second: running, app: waiting: PodInitializing');
      await cluster.world.sleep(5 * seconds);
      expect(await show(cluster, 'web')).toBe('Running, first: ended with 0, helper: running, second: ended with 0, app: running');
      expect(conditions(await cluster.getPod('web'))).toContain('Ready=True');
    }),
  );

  test(
    'whose init container fails for good has failed',
    story(async (cluster) => {
      await cluster.pod('web', { restartPolicy: 'Never', initContainers: [{ name: 'check', image: 'busybox' }] }, { 'mooring.dev/exit-code': 'check=3' });
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'web')).toBe('Failed, check: ended with 3, app: waiting: PodInitializing');
    }),
  );

  test(
    'that is done has succeeded, and its sidecars are stopped',
    story(async (cluster) => {
      const initContainers = [{ name: 'helper', image: 'proxy', restartPolicy: 'Always' }];
      await cluster.pod('task', { restartPolicy: 'Never', initContainers }, { 'mooring.dev/run-for': '3s' });
      await cluster.world.sleep(5 * seconds);
      const pod = await cluster.getPod('task');
      expect(shown(pod)).toBe('Succeeded, helper: ended with 0, app: ended with 0');
      expect(conditions(pod)).toEqual([
        'PodReadyToStartContainers=False',
        'Initialized=True PodCompleted',
        'Ready=False PodCompleted',
        'ContainersReady=False PodCompleted',
        'PodScheduled=True',
      ]);
      expect((await cluster.events('task')).at(-1)).toBe('Killing: Stopping container helper');
    }),
  );

  test(
    'that keeps ending is held back longer each time',
    story(async (cluster) => {
      await cluster.pod('loop', {}, { 'mooring.dev/run-for': '1s', 'mooring.dev/exit-code': '7' });
      const seen: string[] = [];
      for (let i = 0; i < 400; i++) {
        await cluster.world.sleep(250);
        const now = await show(cluster, 'loop');
        if (seen.at(-1) !== now) seen.push(now);
      }
      expect(seen).toEqual([
        'Running, app: running',
        'Running, app: running ×1',
        'Running, app: waiting: CrashLoopBackOff ×1',
        'Running, app: running ×2',
        'Running, app: waiting: CrashLoopBackOff ×2',
        'Running, app: running ×3',
        'Running, app: waiting: CrashLoopBackOff ×3',
        'Running, app: running ×4',
        'Running, app: waiting: CrashLoopBackOff ×4',
      ]);
      const pod = await cluster.getPod('loop');
      const id = `app pod=loop_default(${pod.metadata.uid})`;
      expect(pod.status.containerStatuses?.[0]?.state.waiting?.message).toBe(`back-off 1m20s restarting failed container=${id}`);
      expect(pod.status.containerStatuses?.[0]?.lastState.terminated).toMatchObject({ exitCode: 7, reason: 'Error' });
      expect(await cluster.events('loop')).toContain(`BackOff: Back-off restarting failed container app in pod loop_default(${pod.metadata.uid}) ×4`);
    }),
  );

  test(
    'that is not restarted has failed with its container',
    story(async (cluster) => {
      await cluster.pod('task', { restartPolicy: 'Never' }, { 'mooring.dev/run-for': '1s', 'mooring.dev/exit-code': '2' });
      await cluster.world.sleep(3 * seconds);
      expect(await show(cluster, 'task')).toBe('Failed, app: ended with 2');
    }),
  );

  test(
    'has its time, and no more',
    story(async (cluster) => {
      await cluster.pod('task', { activeDeadlineSeconds: 10 });
      await cluster.world.sleep(9 * seconds);
      expect(await show(cluster, 'task')).toBe('Running, app: running');
      await cluster.world.sleep(2 * seconds);
      expect((await cluster.getPod('task')).status).toMatchObject({
        phase: 'Failed',
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
      });
      expect((await cluster.events('task')).slice(-2)).toEqual([
        'DeadlineExceeded: Pod was active on the node longer than the specified deadline',
        'Killing: Stopping container app',
      ]);
    }),
  );

  test(
    'whose time is up has the grace to stop',
    story(async (cluster) => {
      await cluster.pod('task', { activeDeadlineSeconds: 5 }, { 'mooring.dev/stop-after': '10s' });
      await cluster.world.sleep(14 * seconds);
      expect(await show(cluster, 'task')).toBe('Running, app: running');
      await cluster.world.sleep(2 * seconds);
      expect(await show(cluster, 'task')).toBe('Failed, app: ended with 0');
      expect((await cluster.events('task')).filter((event) => /Deadline|Killing/.test(event))).toHaveLength(2);
    }),
  );

  test(
    'of a Job is done after a second',
    story(async (cluster) => {
      await cluster.create(podKind, {
        metadata: {
          namespace: 'default',
          name: 'job-1',
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'u', controller: true }],
        },
        spec: { nodeName: 'node-1', restartPolicy: 'OnFailure', containers: [{ name: 'app', image: 'busybox' }] },
      });
      await cluster.world.sleep(2 * seconds);
      expect(await show(cluster, 'job-1')).toBe('Succeeded, app: ended with 0');
    }),
  );

  test(
    'that needs a ConfigMap waits until it is there',
    story(async (cluster) => {
      const env = [{ name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'colors', key: 'sky' } } }];
      await cluster.pod('web', { containers: [{ name: 'app', image: 'nginx', env }] });
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'web')).toBe('Pending, app: waiting: CreateContainerConfigError');
      await cluster.create(configMapKind, { metadata: { namespace: 'default', name: 'colors' }, data: { grass: 'green' } });
      await cluster.world.sleep(1 * seconds);
      expect((await cluster.getPod('web')).status.containerStatuses?.[0]?.state.waiting?.message).toBe("couldn't find key sky in ConfigMap default/colors");
      await cluster.change(configMapKind, { namespace: 'default', name: 'colors' }, (map) => ({ ...map, data: { sky: 'blue' } }));
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'web')).toBe('Running, app: running');
      expect((await cluster.events('web')).slice(0, 2)).toEqual([
        'Failed: Error: configmap "colors" not found',
        "Failed: Error: couldn't find key sky in ConfigMap default/colors",
      ]);
    }),
  );

  test(
    'whose image is changed runs the new one',
    story(async (cluster) => {
      await cluster.pod('web');
      await cluster.world.sleep(1 * seconds);
      await cluster.change(podKind, { namespace: 'default', name: 'web' }, (pod) => ({
        ...pod,
        spec: { ...pod.spec, containers: [{ ...pod.spec.containers?.[0], name: 'app', resources: {}, image: 'nginx:2' }] },
      }));
      await cluster.world.sleep(1 * seconds);
      expect((await cluster.getPod('web')).status.containerStatuses).toMatchObject([{ image: 'nginx:2', restartCount: 1, ready: true }]);
      expect(await cluster.events('web')).toContain('Killing: Container app definition changed, will be restarted');
    }),
  );

  test(
    'with an annotation that nobody can read is told so, and runs',
    story(async (cluster) => {
      await cluster.pod('web', {}, { 'mooring.dev/run-for': 'soon' });
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'web')).toBe('Running, app: running');
      expect(await cluster.events('web')).toContain('InvalidAnnotation: mooring.dev/run-for: "soon" makes no sense and is ignored');
    }),
  );
});

describe('a pod that is deleted', () => {
  test(
    'has the time that its containers need, and is gone then',
    story(async (cluster) => {
      await cluster.pod('slow', {}, { 'mooring.dev/stop-after': '10s' });
      await cluster.world.sleep(1 * seconds);
      await cluster.deletePod('slow');
      await cluster.world.sleep(9 * seconds);
      const pod = await cluster.getPod('slow');
      expect(shown(pod)).toBe('Running, app: running');
      expect(pod.status.observedGeneration).toBe(2);
      await cluster.world.sleep(2 * seconds);
      expect(await cluster.findPod('slow')).toBeUndefined();
      expect((await cluster.events('slow')).filter((event) => event.startsWith('Killing'))).toEqual(['Killing: Stopping container app']);
    }),
  );

  test(
    'has no more time than its grace period',
    story(async (cluster) => {
      await cluster.pod('stubborn', { terminationGracePeriodSeconds: 5 }, { 'mooring.dev/stop-after': '1h' });
      const seen = new Set<string>();
      await cluster.world.sleep(1 * seconds);
      await cluster.change(podKind, { namespace: 'default', name: 'stubborn' }, (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, finalizers: ['example.com/look'] },
      }));
      await cluster.deletePod('stubborn');
      for (let i = 0; i < 14; i++) {
        await cluster.world.sleep(500);
        seen.add(await show(cluster, 'stubborn'));
      }
      expect([...seen]).toEqual(['Running, app: running', 'Failed, app: ended with 137']);
      expect((await cluster.getPod('stubborn')).metadata.deletionGracePeriodSeconds).toBe(0);
    }),
  );

  test(
    'before its containers were there has failed in its last moment',
    story(async (cluster) => {
      await cluster.podWith('web', ['missing']);
      await cluster.world.sleep(1 * seconds);
      await cluster.change(podKind, { namespace: 'default', name: 'web' }, (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, finalizers: ['example.com/look'] },
      }));
      await cluster.deletePod('web');
      await cluster.world.sleep(1 * seconds);
      const pod = await cluster.getPod('web');
      expect(shown(pod)).toBe('Failed, app: ended with 137');
      expect(pod.status.containerStatuses?.[0]?.state.terminated).toMatchObject({
        reason: 'ContainerStatusUnknown',
        message: 'The container could not be located when the pod was terminated',
      });
    }),
  );

  test(
    'by force is gone at once, and its address is free',
    story(async (cluster) => {
      await cluster.pod('web', { nodeName: 'node-1' });
      await cluster.world.sleep(1 * seconds);
      await cluster.deletePod('web', 0);
      await cluster.pod('web', { nodeName: 'node-1' });
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'web')).toBe('Running, app: running');
    }),
  );
});

describe('a node', () => {
  const asks = (cpu: string) => ({ containers: [{ name: 'app', image: 'nginx', resources: { requests: { cpu } } }] });

  test(
    'does not take more than it has room for, even if all come at once',
    story(async (cluster) => {
      for (let i = 0; i < 6; i++) await cluster.pod(`web-${i}`, asks('1'));
      await cluster.world.sleep(1 * seconds);
      const pods = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => cluster.getPod(`web-${i}`)));
      expect(pods.filter(({ status }) => status.phase === 'Running')).toHaveLength(4);
      const refused = pods.find(({ status }) => status.phase === 'Failed');
      expect(refused?.status).toEqual({
        observedGeneration: 1,
        phase: 'Failed',
        reason: 'OutOfcpu',
        message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 4000, capacity: 4000",
        startTime: '2026-01-01T00:00:00Z',
        qosClass: 'Burstable',
      });
      expect(await cluster.events(refused?.metadata.name)).toEqual([
        "OutOfcpu: Node didn't have enough resource: cpu, requested: 1000, used: 4000, capacity: 4000",
      ]);
    }),
  );

  test(
    'takes another when one is gone',
    story(async (cluster) => {
      await cluster.pod('big', asks('4'));
      await cluster.world.sleep(1 * seconds);
      await cluster.deletePod('big');
      await cluster.world.sleep(1 * seconds);
      await cluster.pod('next', asks('4'));
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'next')).toBe('Running, app: running');
    }),
  );

  test(
    'gives every pod an address of its own',
    story(async (cluster) => {
      for (let i = 0; i < 10; i++) await cluster.pod(`web-${i}`);
      await cluster.pod('host', { nodeName: 'node-2', hostNetwork: true });
      await cluster.world.sleep(1 * seconds);
      const pods = await Promise.all(Array.from({ length: 10 }, (_, i) => cluster.getPod(`web-${i}`)));
      expect(new Set(pods.map(({ status }) => status.podIP)).size).toBe(10);
      expect((await cluster.getPod('host')).status.podIP).toBe('172.18.0.3');
    }),
  );
});
