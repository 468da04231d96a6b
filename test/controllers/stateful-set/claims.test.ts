/** The claims of StatefulSets, on the real registry, in simulated time. */
import { describe, expect, test } from 'vitest';
import { claimTemplate, inDefault, inSetCluster, ok, type SetCluster, setDraft } from './set-cluster.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { storageClassKind } from '../../../src/api/kinds/storage/storage-class.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { statefulSetKind } from '../../../src/api/kinds/apps/stateful-set.ts';

const retention = (whenDeleted: string, whenScaled: string) => ({ persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } });
const parallel = { podManagementPolicy: 'Parallel' };

describe('a claim', () => {
  test(
    'that was deleted comes back for a pod that waits for it, not for one that runs',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(2));
      await cluster.phase('web-0');
      await cluster.removeClaim('data-web-0');
      await cluster.removeClaim('data-web-1');
      expect(await cluster.claims()).toEqual(['data-web-1']);
    }),
  );

  test(
    'that exists already is used as it is',
    inSetCluster(async (cluster) => {
      await cluster.create(persistentVolumeClaimKind, { ...claimTemplate('x', '7Gi'), metadata: inDefault('data-web-0') });
      await cluster.create(statefulSetKind, setDraft(1));
      expect(await cluster.pods()).toEqual(['web-0 Pending']);
      expect((await cluster.get(persistentVolumeClaimKind, 'data-web-0')).spec.resources.requests).toEqual({ storage: '7Gi' });
      expect(await cluster.events()).toEqual(['Normal SuccessfulCreate: Create Pod web-0 in StatefulSet web successful']);
    }),
  );

  test(
    'that is being deleted keeps its pod from coming, and the others come all the same',
    inSetCluster(async (cluster) => {
      await cluster.create(persistentVolumeClaimKind, { ...claimTemplate('x'), metadata: inDefault('data-web-0') });
      await cluster.delete(persistentVolumeClaimKind, 'data-web-0');
      await cluster.create(statefulSetKind, setDraft(1, { volumeClaimTemplates: [claimTemplate('data'), claimTemplate('logs')] }));
      expect(await cluster.pods()).toEqual([]);
      expect(await cluster.claims()).toEqual(['data-web-0', 'logs-web-0']);
      expect(await cluster.events()).toContain('Warning FailedCreate: Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted');
      expect((await cluster.set()).status.observedGeneration).toBe(1);
      await cluster.removeClaim('data-web-0');
      expect(await cluster.pods()).toEqual(['web-0 Pending']);
    }),
  );

  test(
    'that is refused is told of twice, as is its pod that is',
    inSetCluster(async (cluster) => {
      await cluster.create(resourceQuotaKind, { metadata: inDefault('none'), spec: { hard: { persistentvolumeclaims: '0' } } });
      await cluster.create(statefulSetKind, setDraft(1));
      const why =
        'persistentvolumeclaims "data-web-0" is forbidden: exceeded quota: none, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=0, limited: persistentvolumeclaims=0';
      expect(await cluster.events()).toEqual([
        `Warning FailedCreate: Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: ${why}`,
        `Warning FailedCreate: Create Pod web-0 in StatefulSet web failed error: failed to create PVC data-web-0: ${why}`,
      ]);
      expect((await cluster.set()).status).toMatchObject({ replicas: 0, observedGeneration: 1 });
    }),
  );
});

describe('the retention policy', () => {
  test(
    'gives claims to the set, and takes them back when it changes',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(2, retention('Delete', 'Retain')));
      await cluster.runAll();
      expect(await cluster.claims()).toEqual(['data-web-0 of StatefulSet web', 'data-web-1 of StatefulSet web']);
      await cluster.changeSet(retention('Retain', 'Retain'));
      expect(await cluster.claims()).toEqual(['data-web-0', 'data-web-1']);
      await cluster.changeSet(retention('Delete', 'Retain'));
      expect(await cluster.claims()).toEqual(['data-web-0 of StatefulSet web', 'data-web-1 of StatefulSet web']);
      expect(await cluster.events()).toContain('Normal SuccessfulUpdate: Update Pod web-1 in StatefulSet web successful');
    }),
  );

  test.each([
    ['Retain', 'data-web-0'],
    ['Delete', 'data-web-0 of StatefulSet web'],
  ])('whenDeleted %s, whenScaled Delete: the claim of a pod that is scaled down is deleted with it', (whenDeleted, kept) =>
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(2, { ...parallel, ...retention(whenDeleted, 'Delete') }));
      await cluster.runAll();
      await cluster.changeSet({ replicas: 1 });
      expect(await cluster.pods()).toEqual(['web-0 Running']);
      expect(await cluster.claims()).toEqual([kept, 'data-web-1 of Pod web-1']);
      // It is garbage now: the next pod of this ordinal must not start on it.
      await cluster.changeSet({ replicas: 2 });
      expect(await cluster.pods()).toEqual(['web-0 Running']);
      await cluster.removeClaim('data-web-1');
      expect(await cluster.pods()).toEqual(['web-0 Running', 'web-1 Pending']);
    })(),
  );

  test(
    'does not touch a claim with another controller, and records an event',
    inSetCluster(async (cluster) => {
      const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'some-uid', controller: true };
      await cluster.create(persistentVolumeClaimKind, { ...claimTemplate('x'), metadata: { ...inDefault('data-web-0'), ownerReferences: [other] } });
      await cluster.create(statefulSetKind, setDraft(1, retention('Delete', 'Delete')));
      await cluster.runAll();
      expect(await cluster.claims()).toEqual(['data-web-0 of ConfigMap other']);
      expect(await cluster.events()).toContain(
        'Warning ConflictingController: PersistentVolumeClaim data-web-0 has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim',
      );
    }),
  );
});

describe('ownership', () => {
  test(
    'an orphan of the right name and labels is adopted and made a member; others are left alone',
    inSetCluster(async (cluster) => {
      const orphan = { spec: { containers: [{ name: 'app', image: 'v1' }], volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } }] } };
      await cluster.create(podKind, { ...orphan, metadata: { ...inDefault('web-0'), labels: { app: 'web' } } });
      await cluster.create(podKind, { ...orphan, metadata: { ...inDefault('stranger-0'), labels: { app: 'web' } } });
      const set = await cluster.create(statefulSetKind, setDraft(1, { updateStrategy: { type: 'OnDelete' } }));
      await cluster.runAll();
      const { metadata } = await cluster.get(podKind, 'web-0');
      expect(metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller])).toEqual([[set.metadata.uid, true]]);
      expect(metadata.labels).toEqual({ app: 'web', 'apps.kubernetes.io/pod-index': '0', 'statefulset.kubernetes.io/pod-name': 'web-0' });
      expect((await cluster.get(podKind, 'stranger-0')).metadata.ownerReferences).toBeUndefined();
    }),
  );

  test(
    'a pod that the selector no longer matches is released, and in the way until it is gone',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(1));
      await cluster.runAll();
      await cluster.change(podKind, 'web-0', (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { app: 'debug' } } }));
      expect((await cluster.get(podKind, 'web-0')).metadata.ownerReferences).toBeUndefined();
      expect((await cluster.set()).status).toMatchObject({ replicas: 0 });
      await cluster.delete(podKind, 'web-0');
      expect((await cluster.set()).status).toMatchObject({ replicas: 1 });
    }),
  );

  test(
    'a pod that cannot be given its claims is not started twice, and the set is told why',
    inSetCluster(async (cluster) => {
      await cluster.create(podKind, { metadata: { ...inDefault('web-0'), labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'v1' }] } });
      await cluster.phase('web-0');
      await cluster.create(statefulSetKind, setDraft(1, { updateStrategy: { type: 'OnDelete' } }));
      const events = await cluster.events();
      expect(
        events.filter((event) => event.startsWith('Warning FailedUpdate: Update Pod web-0 in StatefulSet web failed error: Pod "web-0" is invalid')),
      ).not.toEqual([]);
      expect(await cluster.pods()).toEqual(['web-0 Running']);
      expect(await cluster.claims()).toEqual(['data-web-0']);
    }),
  );
});

describe('a StatefulSet that expands its claims', () => {
  const grown = (storage: string) => ({
    volumeClaimTemplates: [{ ...claimTemplate('data', storage), spec: { ...claimTemplate('data', storage).spec, storageClassName: 'elastic' } }],
  });
  async function start(cluster: SetCluster, allowVolumeExpansion = true): Promise<void> {
    ok(await cluster.cluster.client.create(storageClassKind, { metadata: { name: 'elastic' }, provisioner: 'driver', allowVolumeExpansion }));
    await cluster.create(statefulSetKind, setDraft(3, { ...parallel, ...grown('1Gi') }, { 'mooring.dev/grow-claims': 'true' }));
    for (const i of [0, 1, 2]) await cluster.bind(`data-web-${i}`);
    await cluster.runAll();
  }
  const requests = async (cluster: SetCluster) => (await cluster.list(persistentVolumeClaimKind)).map(({ spec }) => spec.resources.requests?.['storage']);

  test(
    'has them grow one by one, each once the last has grown',
    inSetCluster(async (cluster) => {
      await start(cluster);
      await cluster.changeSet(grown('2Gi'));
      expect(await requests(cluster)).toEqual(['1Gi', '1Gi', '2Gi']);
      await cluster.settle(600_000);
      expect(await requests(cluster)).toEqual(['1Gi', '1Gi', '2Gi']);
      await cluster.bind('data-web-2');
      expect(await requests(cluster)).toEqual(['1Gi', '2Gi', '2Gi']);
      const waits = { type: 'FileSystemResizePending', status: 'True', lastProbeTime: null, lastTransitionTime: null };
      const claim = await cluster.get(persistentVolumeClaimKind, 'data-web-1');
      ok(await cluster.cluster.client.updateStatus(persistentVolumeClaimKind, { ...claim, status: { ...claim.status, conditions: [waits] } }));
      await cluster.settle();
      expect(await requests(cluster)).toEqual(['2Gi', '2Gi', '2Gi']);
      expect((await cluster.events()).filter((event) => event.includes('Expand'))).toEqual(
        [2, 1, 0].map((i) => `Normal SuccessfulExpand: Expand Claim data-web-${i} Pod web-${i} in StatefulSet web success`),
      );
      expect(await cluster.revisions()).toEqual(['1 v1']);
    }),
  );

  test(
    'is told if they cannot, and its pods are looked after all the same',
    inSetCluster(async (cluster) => {
      await start(cluster, false);
      await cluster.changeSet(grown('2Gi'));
      expect(await requests(cluster)).toEqual(['1Gi', '1Gi', '1Gi']);
      expect(await cluster.events()).toContain(
        'Warning FailedExpand: Expand Claim data-web-2 for Pod web-2 in StatefulSet web failed error: persistentvolumeclaims "data-web-2" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
      await cluster.delete(podKind, 'web-0');
      expect(await cluster.pods()).toEqual(['web-0 Pending', 'web-1 Running', 'web-2 Running']);
    }),
  );
});
