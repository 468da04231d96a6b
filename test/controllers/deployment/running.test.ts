/** The Deployment and ReplicaSet controllers, in simulated time. */
import { describe, expect, test } from 'vitest';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { deploymentKind } from '../../../src/api/kinds/apps/deployment.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../src/api/kinds/apps/replica-set.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import type { TestCluster } from '../../client/test-cluster.ts';
import { eventsOf, getDeployment, isReady, describeCluster, observe, ok, patch, runKubelet, runWorkloads, startCluster, web, withImage } from './cluster.ts';

const inCluster = (story: (cluster: TestCluster, world: SimulatedWorld) => Promise<void>, seed = 1) =>
  simulate(seed, async (world) => {
    const cluster = await startCluster(world);
    runWorkloads(cluster.transport, world);
    runKubelet(cluster.transport, world);
    await story(cluster, world);
  });
const conditions = async (cluster: TestCluster) =>
  (await getDeployment(cluster)).status.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason ?? ''}`).sort();

describe('a deployment', () => {
  test('gets its ReplicaSet and pods, rolls out a new template, and rolls back', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one')));
      await world.sleep(10_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 1: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
        'set one 3 1',
        'pods one 3',
      ]);
      await patch(cluster, withImage('two'));
      await world.sleep(30_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 2: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
        'set one 0 1',
        'set two 3 2',
        'pods two 3',
      ]);
      expect(await eventsOf(cluster, 'Deployment')).toEqual([
        'ScalingReplicaSet: Scaled up replica set web-x from 0 to 3',
        'ScalingReplicaSet: Scaled up replica set web-x from 0 to 1',
        'ScalingReplicaSet: Scaled down replica set web-x from 3 to 2',
        'ScalingReplicaSet: Scaled up replica set web-x from 1 to 2',
        'ScalingReplicaSet: Scaled down replica set web-x from 2 to 1',
        'ScalingReplicaSet: Scaled up replica set web-x from 2 to 3',
        'ScalingReplicaSet: Scaled down replica set web-x from 1 to 0',
      ]);
      await patch(cluster, withImage('one'));
      await world.sleep(30_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 3: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
        'set one 3 3',
        'set two 0 2',
        'pods one 3',
      ]);
    }));

  test('whose pods do not become ready keeps the old ones, and exceeds its progress deadline', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one', { progressDeadlineSeconds: 60 })));
      await world.sleep(10_000);
      await patch(cluster, withImage('broken'));
      await world.sleep(55_000);
      expect(await conditions(cluster)).toEqual(['Available True MinimumReplicasAvailable', 'Progressing True ReplicaSetUpdated']);
      await world.sleep(20_000);
      expect(await conditions(cluster)).toEqual(['Available True MinimumReplicasAvailable', 'Progressing False ProgressDeadlineExceeded']);
      expect(await describeCluster(cluster)).toContain('pods one 3');
      await patch(cluster, withImage('one'));
      await world.sleep(10_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 3: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
        'set broken 0 2',
        'set one 3 3',
        'pods one 3',
      ]);
    }));

  test('is available only after minReadySeconds, to the second', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one', { minReadySeconds: 30 })));
      await world.sleep(25_000);
      expect((await getDeployment(cluster)).status).toMatchObject({ readyReplicas: 3, unavailableReplicas: 3 });
      await world.sleep(10_000);
      expect((await getDeployment(cluster)).status).toMatchObject({ availableReplicas: 3 });
    }));

  test('with Recreate never has pods of both templates, not even terminating ones', () =>
    simulate(1, async (world) => {
      const cluster = await startCluster(world);
      runWorkloads(cluster.transport, world);
      let mixed = 0;
      runKubelet(cluster.transport, world);
      observe(cluster.transport, world, (pods) => {
        if (new Set(pods.map(({ spec }) => spec.containers?.[0]?.image)).size > 1) mixed++;
      });
      ok(await cluster.client.create(deploymentKind, web('one', { strategy: { type: 'Recreate' } })));
      await world.sleep(10_000);
      await patch(cluster, withImage('two'));
      await world.sleep(30_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 2: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
        'set one 0 1',
        'set two 3 2',
        'pods two 3',
      ]);
      expect(mixed).toBe(0);
    }));

  test('with Recreate waits for a terminating pod even if its ReplicaSet does not count it', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one', { replicas: 1, strategy: { type: 'Recreate' } })));
      await world.sleep(10_000);
      const [pod] = ok(await cluster.client.list(podKind)).items;
      const change = (metadata: object) =>
        cluster.client.patch(podKind, { namespace: 'default', name: pod?.metadata.name ?? '' }, { type: 'merge', body: { metadata } });
      ok(await change({ finalizers: ['test/held'] }));
      await patch(cluster, withImage('two'));
      await world.sleep(5_000);
      ok(await change({ labels: { app: 'other' } }));
      await world.sleep(20_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 1: 0 new and 0 available of 0, 1 wanted, NewReplicaSetAvailable',
        'set one 0 1',
        'pods one 1',
      ]);
      ok(await change({ finalizers: null }));
      await world.sleep(10_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 2: 1 new and 1 available of 1, 1 wanted, NewReplicaSetAvailable',
        'set one 0 1',
        'set two 1 2',
        'pods two 1',
      ]);
    }));

  test('that is paused scales, and rolls out when it is resumed', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one')));
      await world.sleep(10_000);
      await patch(cluster, { paused: true, replicas: 5, ...withImage('two') });
      await world.sleep(10_000);
      expect(await describeCluster(cluster)).toEqual(['web revision 1: 0 new and 5 available of 5, 5 wanted, DeploymentPaused', 'set one 5 1', 'pods one 5']);
      await patch(cluster, { paused: null });
      await world.sleep(60_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 2: 5 new and 5 available of 5, 5 wanted, NewReplicaSetAvailable',
        'set one 0 1',
        'set two 5 2',
        'pods two 5',
      ]);
    }));

  test('keeps revisionHistoryLimit old ReplicaSets', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('v0', { revisionHistoryLimit: 2 })));
      for (const image of ['v1', 'v2', 'v3', 'v4']) {
        await world.sleep(30_000);
        await patch(cluster, withImage(image));
      }
      await world.sleep(30_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 5: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
        'set v2 0 3',
        'set v3 0 4',
        'set v4 3 5',
        'pods v4 3',
      ]);
    }));

  test('adopts the ReplicaSets of an earlier Deployment, and its own are deleted with it', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one')));
      await world.sleep(10_000);
      const before = ok(await cluster.client.list(podKind)).items.map(({ metadata }) => metadata.name);
      ok(await cluster.client.delete(deploymentKind, { namespace: 'default', name: 'web' }, { propagation: 'Orphan' }));
      await world.sleep(5_000);
      expect(ok(await cluster.client.list(replicaSetKind)).items[0]?.metadata.ownerReferences).toBeUndefined();
      ok(await cluster.client.create(deploymentKind, web('one')));
      await world.sleep(10_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 1: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
        'set one 3 1',
        'pods one 3',
      ]);
      expect(ok(await cluster.client.list(podKind)).items.map(({ metadata }) => metadata.name)).toEqual(before);
      ok(await cluster.client.delete(deploymentKind, { namespace: 'default', name: 'web' }));
      await world.sleep(10_000);
      expect([...ok(await cluster.client.list(replicaSetKind)).items, ...ok(await cluster.client.list(podKind)).items]).toEqual([]);
    }));
});

describe('a deployment whose ReplicaSet is refused', () => {
  test('has a condition, retries, and goes on as soon as it is allowed', () =>
    inCluster(async (cluster, world) => {
      const quota = { namespace: 'default', name: 'none' };
      const allow = async (sets: string) => {
        const hard = { 'count/replicasets.apps': sets };
        ok(await cluster.client.patch(resourceQuotaKind, quota, { type: 'merge', body: { spec: { hard } } }));
        ok(
          await cluster.client.patch(
            resourceQuotaKind,
            quota,
            { type: 'merge', body: { status: { hard, used: { 'count/replicasets.apps': '0' } } } },
            { subresource: 'status' },
          ),
        );
      };
      ok(await cluster.client.create(resourceQuotaKind, { metadata: quota, spec: { hard: {} } }));
      await allow('0');
      ok(await cluster.client.create(deploymentKind, web('one')));
      await world.sleep(5_000);
      const refused =
        'Failed to create new replica set "web-x": replicasets.apps "web-x" is forbidden: exceeded quota: none, requested: count/replicasets.apps=1, used: count/replicasets.apps=0, limited: count/replicasets.apps=0';
      const [condition] = (await getDeployment(cluster)).status.conditions ?? [];
      expect(condition).toMatchObject({ type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError' });
      expect(condition?.message?.replaceAll(/web-[bcdf4-9]+/g, 'web-x')).toBe(refused);
      expect(await eventsOf(cluster, 'Deployment')).toEqual([`ReplicaSetCreateError: ${refused}`]);
      await allow('5');
      await world.sleep(70_000);
      expect(await describeCluster(cluster)).toEqual([
        'web revision 1: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
        'set one 3 1',
        'pods one 3',
      ]);
    }));
});

/** An orphan pod with the labels of the Deployment's only ReplicaSet. */
async function stray(cluster: TestCluster, name: string, { nodeName, app }: { readonly nodeName: string; readonly app?: string }): Promise<void> {
  const [set] = ok(await cluster.client.list(replicaSetKind)).items;
  const metadata = { namespace: 'default', name, labels: { ...set?.metadata.labels, ...(app === undefined ? {} : { app }) } };
  ok(await cluster.client.create(podKind, { metadata, spec: { nodeName, containers: [{ name: 'app', image: 'one' }] } }));
}

const podsOf = async (cluster: TestCluster) => ok(await cluster.client.list(podKind)).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);

describe('a replica set', () => {
  test('adopts pods that it selects, and replaces released ones', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one', { replicas: 0 })));
      await world.sleep(5_000);
      await patch(cluster, { replicas: 1, paused: true });
      await stray(cluster, 'stray', { nodeName: 'somewhere' });
      await world.sleep(10_000);
      const [pod, ...others] = await podsOf(cluster);
      expect(others).toEqual([]);
      expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: 'ReplicaSet', controller: true, blockOwnerDeletion: true }]);
      const name = pod?.metadata.name ?? '';
      ok(await cluster.client.patch(podKind, { namespace: 'default', name }, { type: 'merge', body: { metadata: { labels: { app: 'other' } } } }));
      await world.sleep(10_000);
      const [released, replaced] = (await podsOf(cluster)).toSorted((a) => (a.metadata.name === name ? -1 : 1));
      expect(released?.metadata.ownerReferences).toBeUndefined();
      expect(replaced?.metadata.ownerReferences).toHaveLength(1);
    }));

  test('that is scaled down spares nodes with few pods of its Deployment, even if these are the youngest', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one', { replicas: 2 })));
      await world.sleep(600_000);
      await stray(cluster, 'elsewhere', { nodeName: 'elsewhere', app: 'other' });
      await world.sleep(20_000);
      await patch(cluster, { replicas: 3 });
      const [set] = ok(await cluster.client.list(replicaSetKind)).items;
      const labels = { metadata: { labels: { ...set?.metadata.labels } } };
      ok(await cluster.client.patch(podKind, { namespace: 'default', name: 'elsewhere' }, { type: 'merge', body: labels }));
      await world.sleep(20_000);
      // Of three pods on one node one was deleted: two are on one node now, and one on another.
      await patch(cluster, { replicas: 2 });
      await world.sleep(20_000);
      expect((await podsOf(cluster)).map(({ spec }) => spec.nodeName ?? '').sort()).toEqual(['elsewhere', 'somewhere']);
    }));

  test('that is deleted is recreated, with new pods', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one')));
      await world.sleep(10_000);
      const [set] = ok(await cluster.client.list(replicaSetKind)).items;
      for (const propagation of ['Background', 'Foreground'] as const) {
        ok(await cluster.client.delete(replicaSetKind, { namespace: 'default', name: set?.metadata.name ?? '' }, { propagation }));
        await world.sleep(20_000);
        const [after] = ok(await cluster.client.list(replicaSetKind)).items;
        expect([after?.metadata.name, after?.metadata.uid !== set?.metadata.uid]).toEqual([set?.metadata.name, true]);
        expect(await describeCluster(cluster)).toEqual([
          'web revision 1: 3 new and 3 available of 3, 3 wanted, NewReplicaSetAvailable',
          'set one 3 1',
          'pods one 3',
        ]);
      }
    }));

  test('replaces deleted and ended pods', () =>
    inCluster(async (cluster, world) => {
      ok(await cluster.client.create(deploymentKind, web('one')));
      await world.sleep(10_000);
      const [first, second] = ok(await cluster.client.list(podKind)).items;
      const name = (pod: typeof first) => ({ namespace: 'default', name: pod?.metadata.name ?? '' });
      ok(await cluster.client.delete(podKind, name(first)));
      ok(await cluster.client.patch(podKind, name(second), { type: 'merge', body: { status: { phase: 'Failed' } } }, { subresource: 'status' }));
      await world.sleep(10_000);
      const pods = ok(await cluster.client.list(podKind)).items;
      expect(pods.filter(({ status }) => status.phase === 'Running').filter(isReady)).toHaveLength(3);
      expect(pods.filter(({ status }) => status.phase === 'Failed')).toHaveLength(1);
    }));

  test('whose pods are refused has a condition, and so does its Deployment, until they are allowed', () =>
    inCluster(async (cluster, world) => {
      const quota = { namespace: 'default', name: 'few' };
      const set = (pods: string) => cluster.client.patch(resourceQuotaKind, quota, { type: 'merge', body: { spec: { hard: { pods } } } });
      ok(await cluster.client.create(resourceQuotaKind, { metadata: quota, spec: { hard: { pods: '2' } } }));
      ok(
        await cluster.client.patch(
          resourceQuotaKind,
          quota,
          { type: 'merge', body: { status: { hard: { pods: '2' }, used: { pods: '0' } } } },
          { subresource: 'status' },
        ),
      );
      ok(await cluster.client.create(deploymentKind, web('one')));
      await world.sleep(20_000);
      const [failing] = ok(await cluster.client.list(replicaSetKind)).items;
      expect(failing?.status).toMatchObject({ replicas: 2, conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] });
      expect(failing?.status.conditions?.[0]?.message).toMatch(
        /^pods "web-\w+-\w{5}" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2$/,
      );
      expect(await conditions(cluster)).toEqual([
        'Available False MinimumReplicasUnavailable',
        'Progressing True ReplicaSetUpdated',
        'ReplicaFailure True FailedCreate',
      ]);
      const told = (await eventsOf(cluster, 'ReplicaSet')).find((line) => line.startsWith('FailedCreate'));
      expect(told).toBe('FailedCreate: Error creating: pods "web-x" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2');
      ok(await set('5'));
      ok(await cluster.client.patch(resourceQuotaKind, quota, { type: 'merge', body: { status: { hard: { pods: '5' } } } }, { subresource: 'status' }));
      await world.sleep(70_000);
      expect(await conditions(cluster)).toEqual(['Available True MinimumReplicasAvailable', 'Progressing True NewReplicaSetAvailable']);
    }));
});
