/** A StatefulSet adopts and corrects the pods of an earlier one, is updated and rolled back, and is scaled down. */
import type { ControllerRevision, Pod, StatefulSet } from '../../../src/api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { controllerRevisionKind } from '../../../src/api/kinds/apps/controller-revision.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { statefulSetKind } from '../../../src/api/kinds/apps/stateful-set.ts';
import type { Draft } from '../../../src/client/client.ts';
import { ok, type SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });
const labels = { app: 'db' };
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' };
const set: Draft<StatefulSet> = {
  metadata: inDefault('db'),
  spec: {
    replicas: 1,
    podManagementPolicy: 'Parallel',
    serviceName: 'db',
    revisionHistoryLimit: 0,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image: 'one' }] } },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }],
  },
};
const changed = (cluster: SimulatedCluster, body: object) =>
  cluster.client.patch(statefulSetKind, inDefault('db'), { type: 'merge', body: { spec: body } }).then(ok);
const withImage = (image: string) => ({ template: { spec: { containers: [{ name: 'app', image }] } } });

export const statefulSets = async (cluster: SimulatedCluster): Promise<void> => {
  await cluster.create(statefulSetKind, set);
  await cluster.wait();
  await cluster.delete(statefulSetKind, inDefault('db'), 'Orphan');
  // An orphan pod without its label: it is adopted and gets its identity back.
  const withoutName = ({ metadata, ...pod }: Pod): Pod => ({ ...pod, metadata: { ...metadata, labels } });
  await cluster.change(podKind, inDefault('db-0'), withoutName);
  await cluster.create(statefulSetKind, set);
  await cluster.wait();
  for (const image of ['two', 'one', 'three']) {
    await changed(cluster, withImage(image));
    await cluster.wait();
  }
  await changed(cluster, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' } });
  await cluster.wait();
  await changed(cluster, { replicas: 0 });
  await cluster.wait();
};

/** Rolls back to a revision of the history. */
export const statefulSetUndone = async (cluster: SimulatedCluster): Promise<void> => {
  await cluster.create(statefulSetKind, { ...set, spec: { ...set.spec, revisionHistoryLimit: 5 } });
  for (const image of ['two', 'one']) {
    await cluster.wait();
    await changed(cluster, withImage(image));
  }
  await cluster.wait();
  const revisions: readonly ControllerRevision[] = ok(await cluster.client.list(controllerRevisionKind, { namespace: 'default' })).items;
  if (Math.max(...revisions.map(({ revision }) => revision)) !== 3) throw new Error('the old revision was not used again');
  await cluster.delete(persistentVolumeClaimKind, inDefault('data-db-0'));
};
