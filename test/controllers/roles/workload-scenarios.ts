/** Work for the ReplicaSet and Deployment controllers. */
import type { Deployment, Pod, ReplicaSet, ReplicationController } from '../../../src/api/generated/types.ts';
import { deploymentKind } from '../../../src/api/kinds/apps/deployment.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../src/api/kinds/apps/replica-set.ts';
import { replicationControllerKind } from '../../../src/api/kinds/apps/replication-controller.ts';
import type { Kind } from '../../../src/api/kind.ts';
import type { Draft } from '../../../src/client/client.ts';
import type { SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

type Scenario = (cluster: SimulatedCluster) => Promise<void>;

const inDefault = (name: string) => ({ namespace: 'default', name });

const labels = { app: 'web' };
const pod: Draft<Pod> = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image: 'image' }] } };
const replicaSet: Draft<ReplicaSet> = { metadata: { ...inDefault('web'), labels }, spec: { replicas: 12, selector: { matchLabels: labels }, template: pod } };
const deployment = (image: string, annotations: Record<string, string> = {}): Draft<Deployment> => ({
  metadata: { ...inDefault('web'), annotations },
  spec: {
    replicas: 1,
    revisionHistoryLimit: 0,
    selector: { matchLabels: labels },
    template: { ...pod, spec: { ...pod.spec, containers: [{ name: 'app', image }] } },
  },
});

/** A ReplicaSet adopts an orphan, releases a pod that it does not select any more, and is scaled down. */
export const replicas: Scenario = (cluster) => adoptReleaseScale(cluster, replicaSetKind, replicaSet);

/** The same of a ReplicationController. */
export const replications: Scenario = (cluster) =>
  adoptReleaseScale(cluster, replicationControllerKind, { ...replicaSet, spec: { replicas: 12, selector: labels, template: pod } });

async function adoptReleaseScale<T extends ReplicaSet | ReplicationController>(cluster: SimulatedCluster, kind: Kind<T>, draft: Draft<T>): Promise<void> {
  await cluster.create(podKind, { ...pod, metadata: { ...inDefault('stray'), labels } });
  await cluster.create(kind, draft);
  await cluster.wait();
  await cluster.change(podKind, inDefault('stray'), (stray) => ({ ...stray, metadata: { ...stray.metadata, labels: {} } }));
  await cluster.wait();
  await cluster.change(kind, inDefault('web'), (set) => ({ ...set, spec: { ...set.spec, replicas: 1 } }));
  await cluster.wait();
}

/** A Deployment adopts the ReplicaSet of an earlier one, is scaled, rolls out, cleans up, and rolls back by annotation. */
export const rollouts: Scenario = async (cluster) => {
  await cluster.create(deploymentKind, deployment('one'));
  await cluster.wait();
  await cluster.delete(deploymentKind, inDefault('web'), 'Orphan');
  await cluster.create(deploymentKind, deployment('one'));
  await cluster.wait();
  for (const size of [2, 1, 2, 0]) {
    await cluster.change(deploymentKind, inDefault('web'), (found) => ({ ...found, spec: { ...found.spec, replicas: size } }));
    await cluster.wait();
  }
  const { spec, metadata } = deployment('two', { 'deprecated.deployment.rollback.to': '7' });
  await cluster.change(deploymentKind, inDefault('web'), (found) => ({
    ...found,
    metadata: { ...found.metadata, ...metadata } as Deployment['metadata'],
    spec: { ...found.spec, template: spec?.template } as Deployment['spec'],
  }));
  await cluster.wait();
};
