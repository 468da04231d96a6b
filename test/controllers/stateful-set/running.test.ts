/** The StatefulSet controller on the real registry, in simulated time. */
import { describe, expect, test } from 'vitest';
import { claimTemplate, inSetCluster, setDraft, withImage } from './set-cluster.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { statefulSetKind } from '../../../src/api/kinds/apps/stateful-set.ts';

describe('members', () => {
  test(
    'have the name, host name, labels and claims of their number',
    inSetCluster(async (cluster) => {
      const set = await cluster.create(statefulSetKind, setDraft(1, { volumeClaimTemplates: [claimTemplate('data'), claimTemplate('logs', '2Gi')] }));
      const [pod] = await cluster.list(podKind);
      const { currentRevision = '' } = (await cluster.set()).status;
      expect(pod?.metadata).toMatchObject({
        name: 'web-0',
        generateName: 'web-',
        labels: { app: 'web', 'apps.kubernetes.io/pod-index': '0', 'statefulset.kubernetes.io/pod-name': 'web-0', 'controller-revision-hash': currentRevision },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: set.metadata.uid, controller: true, blockOwnerDeletion: true }],
      });
      expect(currentRevision).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{4,10}$/);
      expect(pod?.spec).toMatchObject({ hostname: 'web-0', subdomain: 'front' });
      expect(pod?.spec.volumes?.slice(0, 2).map(({ name, persistentVolumeClaim }) => [name, persistentVolumeClaim?.claimName])).toEqual([
        ['data', 'data-web-0'],
        ['logs', 'logs-web-0'],
      ]);
      expect(await cluster.claims()).toEqual(['data-web-0', 'logs-web-0']);
      expect((await cluster.get(persistentVolumeClaimKind, 'logs-web-0')).metadata.labels).toEqual({ app: 'web' });
      expect(await cluster.events()).toEqual([
        'Normal SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success',
        'Normal SuccessfulCreate: Create Claim logs-web-0 Pod web-0 in StatefulSet web success',
        'Normal SuccessfulCreate: Create Pod web-0 in StatefulSet web successful',
      ]);
    }),
  );

  test(
    'come one after the other, each once the one before it is ready',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(3));
      expect(await cluster.pods()).toEqual(['web-0 Pending']);
      await cluster.phase('web-0');
      expect(await cluster.pods()).toEqual(['web-0 Running', 'web-1 Pending']);
      await cluster.phase('web-1', 'Unknown');
      expect(await cluster.pods()).toEqual(['web-0 Running', 'web-1 Unknown']);
      await cluster.phase('web-1');
      await cluster.phase('web-2');
      expect((await cluster.set()).status).toMatchObject({
        replicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
        currentReplicas: 3,
        updatedReplicas: 3,
        collisionCount: 0,
      });
    }),
  );

  test(
    'come all at once in a Parallel set',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(5, { podManagementPolicy: 'Parallel' }));
      expect(await cluster.pods()).toEqual([0, 1, 2, 3, 4].map((i) => `web-${i} Pending`));
      expect(await cluster.claims()).toEqual([0, 1, 2, 3, 4].map((i) => `data-web-${i}`));
    }),
  );

  test(
    'go from the highest down, one at a time, and find their claims again',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(3));
      await cluster.runAll();
      const before = (await cluster.list(persistentVolumeClaimKind)).map(({ metadata }) => metadata.uid);
      await cluster.changeSet({ replicas: 1 });
      expect(await cluster.pods()).toEqual(['web-0 Running']);
      expect((await cluster.events()).filter((event) => event.includes('Delete'))).toEqual([
        'Normal SuccessfulDelete: Delete Pod web-2 in StatefulSet web successful',
        'Normal SuccessfulDelete: Delete Pod web-1 in StatefulSet web successful',
      ]);
      await cluster.changeSet({ replicas: 3 });
      await cluster.runAll();
      expect(await cluster.pods()).toEqual(['web-0 Running', 'web-1 Running', 'web-2 Running']);
      expect((await cluster.list(persistentVolumeClaimKind)).map(({ metadata }) => metadata.uid)).toEqual(before);
    }),
  );

  test(
    'start at the number that the set says, and move when it changes',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(2, { ordinals: { start: 5 }, podManagementPolicy: 'Parallel' }));
      expect(await cluster.pods()).toEqual(['web-5 Pending', 'web-6 Pending']);
      await cluster.changeSet({ ordinals: { start: 6 } });
      expect(await cluster.pods()).toEqual(['web-6 Pending', 'web-7 Pending']);
      expect((await cluster.get(podKind, 'web-7')).metadata.labels).toMatchObject({ 'apps.kubernetes.io/pod-index': '7' });
    }),
  );

  test.each(['Failed', 'Succeeded'])('that have %s are replaced', (phase) =>
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(2));
      await cluster.runAll();
      const { uid } = (await cluster.get(podKind, 'web-0')).metadata;
      await cluster.phase('web-0', phase);
      const again = await cluster.get(podKind, 'web-0');
      expect(again.metadata.uid).not.toBe(uid);
      expect(again.status.phase).toBe('Pending');
      expect(await cluster.events()).toContain('Normal SuccessfulDelete: Delete Pod web-0 in StatefulSet web successful');
    })(),
  );

  test(
    'have to be ready for minReadySeconds before the next comes',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(2, { minReadySeconds: 30 }));
      await cluster.phase('web-0');
      await cluster.settle(25_000);
      expect(await cluster.pods()).toEqual(['web-0 Running']);
      expect((await cluster.set()).status).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
      await cluster.settle(6_000);
      expect(await cluster.pods()).toEqual(['web-0 Running', 'web-1 Pending']);
      expect((await cluster.set()).status).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
    }),
  );
});

describe('updates', () => {
  test(
    'replace pods from the highest down, each once the last is ready again',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(3));
      await cluster.runAll();
      await cluster.changeSet(withImage('v2'));
      expect(await cluster.images()).toEqual(['web-0 v1', 'web-1 v1', 'web-2 v2']);
      const { currentRevision, updateRevision, ...status } = (await cluster.set()).status;
      expect(status).toMatchObject({ replicas: 3, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 1, observedGeneration: 2 });
      expect(currentRevision).not.toBe(updateRevision);
      await cluster.phase('web-2');
      expect(await cluster.images()).toEqual(['web-0 v1', 'web-1 v2', 'web-2 v2']);
      await cluster.runAll();
      expect(await cluster.images()).toEqual(['web-0 v2', 'web-1 v2', 'web-2 v2']);
      expect((await cluster.set()).status).toMatchObject({ currentRevision: updateRevision, updateRevision, currentReplicas: 3, updatedReplicas: 3 });
      expect(await cluster.revisions()).toEqual(['1 v1', '2 v2']);
    }),
  );

  test(
    'stop at the partition: pods below it come back as they were',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(3, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }));
      await cluster.runAll();
      await cluster.changeSet(withImage('v2'));
      await cluster.runAll();
      expect(await cluster.images()).toEqual(['web-0 v1', 'web-1 v1', 'web-2 v2']);
      await cluster.delete(podKind, 'web-1');
      await cluster.runAll();
      expect(await cluster.images()).toEqual(['web-0 v1', 'web-1 v1', 'web-2 v2']);
      await cluster.changeSet({ updateStrategy: { rollingUpdate: { partition: 0 } } });
      await cluster.runAll();
      expect(await cluster.images()).toEqual(['web-0 v2', 'web-1 v2', 'web-2 v2']);
    }),
  );

  test(
    'wait for a deletion of the pods with OnDelete',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(2, { updateStrategy: { type: 'OnDelete' } }));
      await cluster.runAll();
      await cluster.changeSet(withImage('v2'));
      expect(await cluster.images()).toEqual(['web-0 v1', 'web-1 v1']);
      await cluster.delete(podKind, 'web-0');
      await cluster.runAll();
      expect(await cluster.images()).toEqual(['web-0 v2', 'web-1 v1']);
    }),
  );

  test(
    'that go back use the old revision again, as the newest',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(1));
      await cluster.runAll();
      const { updateRevision: first } = (await cluster.set()).status;
      for (const image of ['v2', 'v1']) {
        await cluster.changeSet(withImage(image));
        await cluster.runAll();
      }
      expect(await cluster.revisions()).toEqual(['2 v2', '3 v1']);
      expect((await cluster.set()).status).toMatchObject({ currentRevision: first, updateRevision: first });
      expect(await cluster.images()).toEqual(['web-0 v1']);
    }),
  );

  test(
    'leave as many revisions as the set wants to keep, beside the one in use',
    inSetCluster(async (cluster) => {
      await cluster.create(statefulSetKind, setDraft(1, { revisionHistoryLimit: 1 }));
      for (const image of ['v2', 'v3', 'v4']) {
        await cluster.runAll();
        await cluster.changeSet(withImage(image));
      }
      await cluster.runAll();
      expect(await cluster.revisions()).toEqual(['3 v3', '4 v4']);
    }),
  );
});
