/** What a user does with csi-driver-host-path, the same with the built-in controllers and with sidecars. */
import { expect, test } from 'vitest';
import type { HostPathDriver } from './host-path.ts';
import { claim, inline, ofClaim, ofSnapshot, pod, snapshot, snapshotClass, storageClass } from './host-path-objects.ts';
import { nodeName, type PeerCluster } from './peer-cluster.ts';

export interface Scene {
  readonly cluster: PeerCluster;
  readonly driver: HostPathDriver;
}

const set = (name: string, storageClassName: string, script: string) => {
  const container = { name: 'c', image: 'busybox', command: ['sh', '-ec', script], volumeMounts: [{ name: 'data', mountPath: '/v/data' }] };
  const template = { metadata: { labels: { app: name } }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } };
  const spec = {
    serviceName: name,
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template,
    volumeClaimTemplates: [{ ...claim('data', storageClassName), apiVersion: undefined, kind: undefined }],
  };
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name }, spec };
};

/** The tests; each leaves no volume behind, neither in the API nor in the driver. */
export function testHostPath(scene: () => Scene): void {
  const kubectl = (...args: string[]) => scene().cluster.kubectl(...args);
  const value = async (path: string, ...object: string[]): Promise<string> => kubectl('get', ...object, '-o', `jsonpath={${path}}`);
  const bound = (...names: string[]) => kubectl('wait', '--for=jsonpath={.status.phase}=Bound', ...names.map((name) => `pvc/${name}`), '--timeout=120s');
  const nothingLeft = async (...claims: string[]): Promise<void> => {
    const volumes = await Promise.all(claims.map((name) => value('.spec.volumeName', 'pvc', name)));
    const handles = await Promise.all(volumes.map((name) => value('.spec.csi.volumeHandle', 'pv', name)));
    await kubectl('delete', 'pvc', ...claims, '--timeout=120s');
    const left = async () => (await value('.items[*].metadata.name', 'pv')).split(' ').filter((name) => volumes.includes(name));
    await expect.poll(left).toEqual([]);
    await expect
      .poll(() =>
        scene()
          .driver.volumes()
          .filter((id) => handles.includes(id)),
      )
      .toEqual([]);
  };

  const topologyKey = 'topology.hostpath.csi/node';
  const here = [{ matchExpressions: [{ key: topologyKey, operator: 'In', values: [nodeName] }] }];
  /** The node selector terms of the claim's volume. */
  const placeOf = async (name: string): Promise<unknown> => {
    const volume = await value('.spec.volumeName', 'pvc', name);
    return JSON.parse(await value('.spec.nodeAffinity.required', 'pv', volume)).nodeSelectorTerms;
  };

  test('pods of a StatefulSet find their data again', async () => {
    const { cluster } = scene();
    await cluster.apply(
      storageClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' }),
      set('db', 'waits', 'hostname >> /v/data/names; exec sleep infinity'),
    );
    const names = (name: string) => kubectl('exec', name, '--', 'cat', '/v/data/names');
    await kubectl('rollout', 'status', 'statefulset/db', '--timeout=120s');
    expect(await names('db-1')).toBe('db-1\n');
    await kubectl('delete', 'pod', 'db-0', 'db-1', '--timeout=120s');
    await kubectl('rollout', 'status', 'statefulset/db', '--timeout=120s');
    await expect.poll(() => names('db-0')).toBe('db-0\ndb-0\n');
    await kubectl('delete', 'statefulset', 'db', '--cascade=foreground', '--timeout=120s');
    await expect.poll(() => value('.items[*].metadata.name', 'pod')).toBe('');
    await nothingLeft('data-db-0', 'data-db-1');
  });

  test('a volume is where the driver says it is', async () => {
    await scene().cluster.apply(storageClass('at-once'), claim('placed', 'at-once'));
    await bound('placed');
    expect(await placeOf('placed')).toEqual(here);
    await nothingLeft('placed');
  });

  test('a claim grows while a pod uses it', async () => {
    const { cluster } = scene();
    await cluster.apply(storageClass('at-once'), claim('grows', 'at-once'), pod('user', 'exec sleep infinity', { data: ofClaim('grows') }));
    await kubectl('wait', '--for=condition=Ready', 'pod/user', '--timeout=120s');
    await kubectl('patch', 'pvc', 'grows', '-p', '{"spec":{"resources":{"requests":{"storage":"3Mi"}}}}');
    await expect.poll(() => value('.status.capacity.storage', 'pvc', 'grows')).toBe('3Mi');
    expect(await value('.status.conditions', 'pvc', 'grows')).toBe('');
    await kubectl('delete', 'pod', 'user', '--timeout=120s');
    await nothingLeft('grows');
  });

  test('a clone has the data of its source, and keeps it', async () => {
    const { cluster } = scene();
    await cluster.apply(storageClass('at-once'), claim('source', 'at-once'));
    await cluster.run(pod('writes', 'echo one > /v/data/file', { data: ofClaim('source') }));
    await cluster.apply(claim('clone', 'at-once', { dataSource: { kind: 'PersistentVolumeClaim', name: 'source' } }));
    await bound('clone');
    await cluster.run(pod('writes', 'echo two > /v/data/file', { data: ofClaim('source') }));
    expect(await cluster.run(pod('reads', 'cat /v/a/file /v/b/file', { a: ofClaim('source'), b: ofClaim('clone') }))).toBe('two\none\n');
    await nothingLeft('source', 'clone');
  });

  test('a snapshot has the data of its moment, and a volume that is restored from it too', async () => {
    const { cluster, driver } = scene();
    await cluster.apply(storageClass('at-once'), snapshotClass('at-once'), claim('origin', 'at-once'));
    await cluster.run(pod('writes', 'echo one > /v/data/file', { data: ofClaim('origin') }));
    await cluster.apply(snapshot('moment', 'at-once', 'origin'));
    await kubectl('wait', '--for=jsonpath={.status.readyToUse}=true', 'volumesnapshot/moment', '--timeout=120s');
    await cluster.run(pod('writes', 'echo two > /v/data/file', { data: ofClaim('origin') }));
    await cluster.apply(claim('restored', 'at-once', ofSnapshot('moment')));
    await bound('restored');
    expect(await cluster.run(pod('reads', 'cat /v/a/file /v/b/file', { a: ofClaim('origin'), b: ofClaim('restored') }))).toBe('two\none\n');
    const content = await value('.status.boundVolumeSnapshotContentName', 'volumesnapshot', 'moment');
    expect(await value('.spec.volumeSnapshotRef.name', 'volumesnapshotcontent', content)).toBe('moment');
    expect(driver.snapshots()).toEqual([await value('.status.snapshotHandle', 'volumesnapshotcontent', content)]);
    await kubectl('delete', 'volumesnapshot', 'moment', '--timeout=120s');
    await expect.poll(() => value('.items[*].metadata.name', 'volumesnapshotcontent')).toBe('');
    await expect.poll(() => driver.snapshots()).toEqual([]);
    await nothingLeft('origin', 'restored');
  });

  test('an inline volume comes and goes with its pod', async () => {
    const { cluster, driver } = scene();
    expect(await cluster.run(pod('inline', 'echo data > /v/scratch/file; cat /v/scratch/file', { scratch: inline }))).toBe('data\n');
    await expect.poll(() => driver.volumes()).toEqual([]);
  });

  test('a claim that waits for its first consumer gets a volume on the node of that, and none where no node is allowed', async () => {
    const { cluster, driver } = scene();
    const waits = { volumeBindingMode: 'WaitForFirstConsumer' };
    const elsewhere = [{ matchLabelExpressions: [{ key: topologyKey, values: ['elsewhere'] }] }];
    await cluster.apply(storageClass('waits', waits), storageClass('elsewhere', { ...waits, allowedTopologies: elsewhere }));
    await cluster.apply(claim('first', 'waits'), claim('never', 'elsewhere'), pod('never', 'true', { data: ofClaim('never') }));
    await expect.poll(() => kubectl('get', 'events', '--field-selector', 'involvedObject.name=first', '-o', 'name')).not.toBe('');
    await expect.poll(() => value('.status.conditions[?(@.type=="PodScheduled")].reason', 'pod', 'never')).toBe('Unschedulable');
    expect(driver.volumes()).toEqual([]);
    await cluster.run(pod('consumer', 'echo data > /v/data/file', { data: ofClaim('first') }));
    expect(await value('.metadata.annotations.volume\\.kubernetes\\.io/selected-node', 'pvc', 'first')).toBe(nodeName);
    expect(await placeOf('first')).toEqual(here);
    expect(await value('.status.phase', 'pvc', 'never')).toBe('Pending');
    await kubectl('delete', 'pod/never', 'pvc/never', '--timeout=120s');
    await nothingLeft('first');
  });

  test('a raw device keeps what was written', async () => {
    const { cluster } = scene();
    await cluster.apply(storageClass('at-once'), claim('raw', 'at-once', { volumeMode: 'Block' }));
    const data = { disk: ofClaim('raw') };
    await cluster.run(pod('writes', 'printf hello | dd of=/dev/disk conv=notrunc 2>/dev/null', data, ['disk']));
    expect(await cluster.run(pod('reads', 'test -b /dev/disk; head -c 5 /dev/disk', data, ['disk']))).toBe('hello');
    await nothingLeft('raw');
  });
}
