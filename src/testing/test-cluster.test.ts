import { describe, expect, expectTypeOf, test } from 'vitest';
import type { PersistentVolumeClaim, Pod } from '../api/generated/types.ts';
import { ApiError, PhraseError, QuietError, startTestCluster, WaitError } from './index.ts';

const claim = (name: string, storageClassName = 'immediate') => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
});

const database = `
apiVersion: v1
kind: Service
metadata: { name: db }
spec: { clusterIP: None, selector: { app: db }, ports: [{ port: 5432 }] }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  replicas: 3
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      containers: [{ name: db, image: db, volumeMounts: [{ name: data, mountPath: /data }] }]
      topologySpreadConstraints:
        - { maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: { matchLabels: { app: db } } }
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

describe('a cluster for tests', () => {
  test('applies YAML and objects, and reads them with their types', async () => {
    await using cluster = await startTestCluster();
    const [service, set] = await cluster.apply(database);
    expect([service?.kind, set?.kind, set?.metadata.namespace]).toEqual(['Service', 'StatefulSet', 'default']);
    await cluster.apply(claim('data'));
    const bound = await cluster.waitFor('pvc/data', 'is Bound');
    expectTypeOf(bound).toExtend<PersistentVolumeClaim>();
    expect(bound.status.phase).toBe('Bound');
    const pods = await cluster.list('pods', { labelSelector: 'app=db' });
    expectTypeOf(pods).toExtend<readonly Pod[]>();
    expect(pods.map(({ metadata }) => metadata.name)).toContain('db-0');
    expect(await cluster.find('pod/none')).toBeUndefined();
    await expect(cluster.get('pod/none')).rejects.toThrow('pods "none" not found');
    const scaled = await cluster.patch('sts/db', { spec: { replicas: 1 } });
    expect(scaled.spec.replicas).toBe(1);
    await cluster.delete('pvc/data');
    await cluster.waitUntilGone('pvc/data');
  });

  test('refuses what the server refuses, and what it does not understand, in words', async () => {
    await using cluster = await startTestCluster();
    await expect(cluster.apply({ ...claim('data'), spec: { accessModes: ['Sometimes'] } })).rejects.toThrow(ApiError);
    await expect(cluster.apply('kind: Pod')).rejects.toThrow('manifest:1:1: an object is expected here');
    await expect(cluster.waitFor('pvc/data', 'is Bond')).rejects.toThrow('did you mean "Bound"?');
    await expect(cluster.waitFor('pvc/data', 'is gone')).rejects.toThrow('use waitUntilGone');
    await expect(cluster.get('pcv/data')).rejects.toThrow(PhraseError);
    await expect(cluster.fail({ zone: 'zone-d' })).rejects.toThrow('there is no zone "zone-d"');
    await expect(cluster.perform('node-1 sings')).rejects.toThrow(PhraseError);
    await expect(cluster.perform('cordon node-9')).rejects.toThrow('nodes "node-9" not found');
    await expect(cluster.time.advance('soon')).rejects.toThrow('"soon" is no time');
  });

  test('a wait that fails says why', async () => {
    await using cluster = await startTestCluster();
    await cluster.apply(claim('data', 'none-such'));
    const before = cluster.time.now.getTime();
    const failed = cluster.waitFor('pvc/data', 'is Bound', { timeout: '5m' });
    await expect(failed).rejects.toThrow(WaitError);
    await expect(failed).rejects.toThrow(/^pvc\/data is Bound: not within 5m; it is Pending\n\npvc\/data in namespace default: Pending, for 5 minutes\n/);
    await expect(failed).rejects.toThrow('there is no StorageClass "none-such"');
    expect(cluster.time.now.getTime() - before).toBe(300_000);
  });

  test('a StatefulSet loses a zone, and comes back when its node is out of service', async () => {
    await using cluster = await startTestCluster({ nodes: { count: 6 } });
    await cluster.apply(database);
    await cluster.waitFor('sts/db', 'has 3 ready');
    const pod = (await cluster.list('pods')).find(({ spec }) => spec.nodeName === 'node-1' || spec.nodeName === 'node-4');
    const dark = await cluster.fail({ zone: 'zone-a' });
    await cluster.waitFor('sts/db', 'has 2 ready');
    await cluster.time.advance('10m');
    expect((await cluster.get('sts/db')).status.readyReplicas).toBe(2);
    expect(await cluster.why(`pod/${pod?.metadata.name ?? ''}`)).toContain('node');
    await dark.recover();
    await cluster.waitFor('sts/db', 'has 3 ready');
    await cluster.expectQuiet();
  });

  test('a backend that fails is tried again; an API server that is down comes back', async () => {
    await using cluster = await startTestCluster();
    await cluster.fail({ backend: 'disks.example.com', call: 'create', code: 'ResourceExhausted', message: 'no capacity', times: 2 });
    await cluster.apply(claim('data'));
    await cluster.waitFor('pvc/data', 'is Bound');
    const events = await cluster.list('events', { fieldSelector: 'involvedObject.name=data,reason=ProvisioningFailed' });
    expect(events[0]?.message).toContain('no capacity');
    await cluster.fail({ api: '5s' });
    await expect(cluster.get('pvc/data')).rejects.toThrow('the server is down');
    await cluster.time.advance('5s');
    expect((await cluster.get('pvc/data')).status.phase).toBe('Bound');
  });

  test('a snapshot has the whole cluster: objects, disks and time', async () => {
    await using cluster = await startTestCluster();
    await cluster.apply(database);
    await cluster.waitFor('sts/db', 'has 3 ready');
    const [snapshot, then, before] = [await cluster.snapshot(), cluster.time.now, await cluster.list('pods')];
    for (const round of [1, 2]) {
      await cluster.fail({ node: 'node-1' });
      await cluster.delete('sts/db');
      await cluster.delete('pvc/data-db-2');
      await cluster.waitUntilGone('pod/db-2');
      await cluster.waitUntilGone('pvc/data-db-2');
      await cluster.time.advance('10m');
      await cluster.restore(snapshot);
      expect(cluster.time.now, `round ${round}`).toEqual(then);
      expect(await cluster.list('pods')).toEqual(before);
      await cluster.expectQuiet();
      const pods = await cluster.list('pods');
      expect(pods.map(({ metadata, status }) => [metadata.uid, status.phase, status.containerStatuses?.[0]?.restartCount])).toEqual(
        before.map(({ metadata }) => [metadata.uid, 'Running', 0]),
      );
    }
    // The disks are those of the snapshot: one is attached to another node, and one is deleted.
    const { spec } = await cluster.get('pvc/data-db-0');
    await cluster.delete('sts/db');
    await cluster.delete('pvc/data-db-0');
    await cluster.waitUntilGone(`pv/${spec.volumeName ?? ''}`);
    await cluster.waitFor('pvc/data-db-1', 'is not attached');
    expect((await cluster.list('pv')).length).toBe(2);
  });

  test('restored clusters go on alike, and give no uid twice', async () => {
    await using cluster = await startTestCluster();
    const snapshot = await cluster.snapshot();
    const uids: string[][] = [];
    for (let round = 0; round < 2; round++) {
      await cluster.restore(snapshot);
      await cluster.apply(claim('data'));
      const { metadata } = await cluster.waitFor('pvc/data', 'is Bound');
      const all = [...(await cluster.list('namespaces')), ...(await cluster.list('sa', { namespace: '' })), ...(await cluster.list('nodes'))];
      expect(all.map((each) => each.metadata.uid)).not.toContain(metadata.uid);
      uids.push([metadata.uid]);
    }
    expect(uids[0]).toEqual(uids[1]);
  });

  test('a namespace per test, which ends with it', async () => {
    await using cluster = await startTestCluster();
    const one = await cluster.namespace();
    const two = await cluster.namespace('shop');
    await one.apply(claim('data'));
    const bound = await one.waitFor('pvc/data', 'is Bound');
    expect(bound.metadata.namespace).toBe('test-1');
    expect([await two.find('pvc/data'), (await two.get('pvc/data -n test-1')).metadata.name]).toEqual([undefined, 'data']);
    await one.remove();
    await one.remove();
    await cluster.waitUntilGone(`pv/${bound.spec.volumeName ?? ''}`);
    await expect(one.apply(claim('data'))).rejects.toThrow('namespaces "test-1" not found');
  });

  test('custom kinds, by the words of their definitions', async () => {
    await using cluster = await startTestCluster();
    const before = cluster.time.now;
    await cluster.apply(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: backups.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Backup, plural: backups, singular: backup, shortNames: [bk] }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { of: { type: string } } }
            status: { type: object, x-kubernetes-preserve-unknown-fields: true }`);
    expect(cluster.time.now, 'loading a library takes no time').toEqual(before);
    await cluster.waitFor('crd/backups.example.com', 'is Established');
    await cluster.apply({ apiVersion: 'example.com/v1', kind: 'Backup', metadata: { name: 'first' }, spec: { of: 'db' } });
    expect((await cluster.get('bk/first'))['spec']).toEqual({ of: 'db' });
    await cluster.patch('backup/first', { status: { phase: 'Done', conditions: [{ type: 'Ready', status: 'True' }] } }, { subresource: 'status' });
    await cluster.waitFor('backup/first', 'is Ready');
    await cluster.waitFor('backup/first', 'field .status.phase is Done');
    await expect(cluster.waitFor('backup/first', 'is Failed', { timeout: '1s' })).rejects.toThrow('backup/first is Failed: not within 1s');
    expect((await cluster.list('backups')).length).toBe(1);
  });

  test('a watch delivers the changes of a pod in order', async () => {
    await using cluster = await startTestCluster();
    const watch = await cluster.watch('pods');
    await cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'web' }] } });
    const phases: string[] = [];
    for await (const { type, object } of watch) {
      phases.push(`${type} ${object.status.phase ?? ''}`);
      if (object.status.phase === 'Running') break;
    }
    expect([phases[0], phases.at(-1)]).toEqual(['ADDED Pending', 'MODIFIED Running']);
    const quiet = await cluster.watch('pods', { timeout: '1m' });
    expect(await quiet.next()).toEqual({ done: true, value: undefined });
  });

  test('a cluster that does not come to rest is told, with what writes', async () => {
    await using cluster = await startTestCluster();
    await cluster.expectQuiet({ for: '10m', within: '1h' });
    await cluster.apply(`
apiVersion: v1
kind: Pod
metadata: { name: crashing, annotations: { mooring.dev/run-for: 1s, mooring.dev/exit-code: "1" } }
spec: { containers: [{ name: app, image: app }] }`);
    const failed = cluster.expectQuiet({ for: '10m', within: '30m' });
    await expect(failed).rejects.toThrow(QuietError);
    await expect(failed).rejects.toThrow(/not quiet for 10m within 30m.*\n.*pod\/crashing changed, \d+ times/);
  });

  test('the same calls give the same cluster; a stopped one answers no more', async () => {
    const names: string[][] = [];
    for (const seed of [7, 7]) {
      const cluster = await startTestCluster({ seed });
      await cluster.apply(database);
      await cluster.waitFor('sts/db', 'has 3 ready');
      names.push((await cluster.list('pv')).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`));
      await cluster.stop();
      await cluster.stop();
      await expect(cluster.get('sts/db')).rejects.toThrow('the cluster is stopped');
    }
    expect(names[0]).toEqual(names[1]);
  });
});
