/** The ReplicationController controller, in simulated time. */
import { expect, test } from 'vitest';
import type { ReplicationController } from '../../../src/api/generated/types.ts';
import { replicationControllerKind } from '../../../src/api/kinds/apps/replication-controller.ts';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import type { Stored } from '../../../src/api/stored.ts';
import { inCluster, inDefault, ok, type WorkloadCluster } from './workload-cluster.ts';

const labels = { app: 'web' };

async function createController(workloads: WorkloadCluster, replicas: number): Promise<void> {
  const { client } = workloads;
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  ok(await client.create(replicationControllerKind, { metadata: inDefault('web'), spec: { replicas, selector: labels, template } }));
  await workloads.wait();
}

const stored = async ({ client }: WorkloadCluster): Promise<Stored<ReplicationController>> => ok(await client.get(replicationControllerKind, inDefault('web')));

test(
  'keeps the number of its pods, adopts and releases',
  inCluster(async (workloads) => {
    const { client } = workloads;
    ok(await client.create(podKind, { metadata: { ...inDefault('stray'), labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }));
    await createController(workloads, 3);
    const pods = await workloads.pods();
    expect(pods).toHaveLength(3);
    for (const { metadata } of pods)
      expect(metadata.ownerReferences).toMatchObject([{ apiVersion: 'v1', kind: 'ReplicationController', name: 'web', controller: true }]);
    expect((await stored(workloads)).status).toEqual({ replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1 });

    ok(await client.patch(podKind, inDefault('stray'), { type: 'merge', body: { metadata: { labels: { app: 'other' } } } }));
    await workloads.wait();
    expect((await workloads.pods()).filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'ReplicationController')).toHaveLength(3);
    expect(ok(await client.get(podKind, inDefault('stray'))).metadata.ownerReferences).toBeUndefined();

    ok(await client.patch(replicationControllerKind, inDefault('web'), { type: 'merge', body: { spec: { replicas: 1 } } }));
    await workloads.wait();
    expect((await stored(workloads)).status).toEqual({ replicas: 1, fullyLabeledReplicas: 1, observedGeneration: 2 });
  }),
);

test(
  'a quota that refuses its pods is a condition, until there are enough',
  inCluster(async (workloads) => {
    const { client } = workloads;
    ok(await client.create(resourceQuotaKind, { metadata: inDefault('few'), spec: { hard: { pods: '0' } } }));
    await createController(workloads, 1);
    const refused = await stored(workloads);
    expect(refused.status).toMatchObject({ conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] });
    expect(refused.spec.selector).toEqual(labels);
    ok(await client.patch(replicationControllerKind, inDefault('web'), { type: 'merge', body: { spec: { replicas: 0 } } }));
    await workloads.wait();
    expect((await stored(workloads)).status).toEqual({ replicas: 0, observedGeneration: 2 });
  }),
);
