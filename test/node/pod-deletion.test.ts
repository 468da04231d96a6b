/** Deleted pods on hollow nodes, in simulated time, and the capacity of nodes. */
import { describe, expect, test } from 'vitest';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { seconds, show, shown, onHollowNodes } from './pod-scenario.ts';

describe('a pod that is deleted', () => {
  test(
    'is gone once its containers have stopped',
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
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
    'before its containers started has failed in its last status',
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
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
    'admits no more pods than it has capacity for, even if all are created at once',
    onHollowNodes(async (cluster) => {
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
    'admits another pod when one is gone',
    onHollowNodes(async (cluster) => {
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
    onHollowNodes(async (cluster) => {
      for (let i = 0; i < 10; i++) await cluster.pod(`web-${i}`);
      await cluster.pod('host', { nodeName: 'node-2', hostNetwork: true });
      await cluster.world.sleep(1 * seconds);
      const pods = await Promise.all(Array.from({ length: 10 }, (_, i) => cluster.getPod(`web-${i}`)));
      expect(new Set(pods.map(({ status }) => status.podIP)).size).toBe(10);
      expect((await cluster.getPod('host')).status.podIP).toBe('172.18.0.3');
    }),
  );
});
