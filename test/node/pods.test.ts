/** The life of pods on hollow nodes, in simulated time: as with a kubelet. */
import { describe, expect, test } from 'vitest';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { conditions } from './cluster.ts';
import { seconds, show, shown, onHollowNodes } from './pod-scenario.ts';

describe('a pod', () => {
  test(
    'becomes ready, with an address of its node, and is gone when it is deleted',
    onHollowNodes(async (cluster) => {
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
    'of another node is ignored',
    onHollowNodes(async (cluster) => {
      await cluster.pod('elsewhere', { nodeName: 'other' });
      await cluster.pod('unscheduled', { nodeName: undefined });
      await cluster.world.sleep(1 * seconds);
      for (const name of ['elsewhere', 'unscheduled']) expect((await cluster.getPod(name)).status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    }),
  );

  test(
    'with an image that the node has does not pull it again, unless its policy is Always',
    onHollowNodes(async (cluster) => {
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
    'is not ready before its readiness gates are true',
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
      await cluster.pod('web', { restartPolicy: 'Never', initContainers: [{ name: 'check', image: 'busybox' }] }, { 'mooring.dev/exit-code': 'check=3' });
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'web')).toBe('Failed, check: ended with 3, app: waiting: PodInitializing');
    }),
  );

  test(
    'that is done has succeeded, and its sidecars are stopped',
    onHollowNodes(async (cluster) => {
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
    'that keeps ending is in back-off longer each time',
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
      await cluster.pod('task', { restartPolicy: 'Never' }, { 'mooring.dev/run-for': '1s', 'mooring.dev/exit-code': '2' });
      await cluster.world.sleep(3 * seconds);
      expect(await show(cluster, 'task')).toBe('Failed, app: ended with 2');
    }),
  );

  test(
    'has failed when its active deadline is over',
    onHollowNodes(async (cluster) => {
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
    'whose deadline is over has its grace period to stop',
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
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
    'that needs a ConfigMap waits until it exists',
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
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
    'with an annotation that cannot be parsed gets an event, and runs',
    onHollowNodes(async (cluster) => {
      await cluster.pod('web', {}, { 'mooring.dev/run-for': 'soon' });
      await cluster.world.sleep(1 * seconds);
      expect(await show(cluster, 'web')).toBe('Running, app: running');
      expect(await cluster.events('web')).toContain('InvalidAnnotation: mooring.dev/run-for: "soon" makes no sense and is ignored');
    }),
  );
});
