// Peers: hostpathplugin-1.18, csi-provisioner, csi-snapshotter, snapshot-controller
/** Snapshots of several volumes at one moment, by a csi-driver-host-path that has them (the pinned one is too old): both ways. */
import { expect, test } from 'vitest';
import { type HostPathDriver, hostPathName, startHostPath } from './host-path.ts';
import { claim, csiDriver, ofClaim, ofSnapshot, pod, storageClass } from './host-path-objects.ts';
import { nodeName, type PeerCluster, startPeerCluster } from './peer-cluster.ts';
import { startPeer } from './peer-process.ts';
import { startRegistrar } from './registrar.ts';

const groupClass = {
  apiVersion: 'groupsnapshot.storage.k8s.io/v1',
  kind: 'VolumeGroupSnapshotClass',
  metadata: { name: 'at-once' },
  driver: hostPathName,
  deletionPolicy: 'Delete',
};

const group = {
  apiVersion: 'groupsnapshot.storage.k8s.io/v1',
  kind: 'VolumeGroupSnapshot',
  metadata: { name: 'moment' },
  spec: { volumeGroupSnapshotClassName: 'at-once', source: { selector: { matchLabels: { app: 'shop' } } } },
};

interface Member {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly source: { readonly persistentVolumeClaimName: string } };
  readonly status?: { readonly readyToUse?: boolean };
}

async function groupScenario(cluster: PeerCluster, driver: HostPathDriver): Promise<void> {
  const { kubectl } = cluster;
  const labelled = (name: string) => ({ ...claim(name, 'at-once'), metadata: { name, labels: { app: 'shop' } } });
  const both = (of: (name: string) => string, script: string) => pod('both', script, { one: ofClaim(of('one')), two: ofClaim(of('two')) });
  await cluster.apply(storageClass('at-once'), groupClass, labelled('one'), labelled('two'), claim('other', 'at-once'));
  await cluster.run(both((name) => name, 'echo first > /v/one/file; echo second > /v/two/file'));
  await cluster.apply(group);
  await kubectl('wait', '--for=jsonpath={.status.readyToUse}=true', 'volumegroupsnapshot/moment', '--timeout=120s');
  await cluster.run(both((name) => name, 'echo later > /v/one/file; echo later > /v/two/file'));

  const members = async () => (JSON.parse(await kubectl('get', 'volumesnapshots', '-o', 'json')) as { items: readonly Member[] }).items;
  await expect.poll(async () => (await members()).filter(({ status }) => status?.readyToUse === true)).toHaveLength(2);
  const memberOf = Object.fromEntries((await members()).map(({ metadata, spec }) => [spec.source.persistentVolumeClaimName, metadata.name]));
  expect(Object.keys(memberOf).sort()).toEqual(['one', 'two']);
  expect(driver.snapshots()).toHaveLength(2);
  await cluster.apply(...['one', 'two'].map((name) => claim(`${name}-restored`, 'at-once', ofSnapshot(memberOf[name] ?? ''))));
  expect(await cluster.run(both((name) => `${name}-restored`, 'cat /v/one/file /v/two/file'))).toBe('first\nsecond\n');

  await kubectl('delete', 'volumegroupsnapshot', 'moment', '--timeout=120s');
  for (const kind of ['volumegroupsnapshotcontents', 'volumesnapshots', 'volumesnapshotcontents']) {
    await expect.poll(() => kubectl('get', kind, '-o', 'name')).toBe('');
  }
  await kubectl('delete', 'pvc', '--all', '--timeout=120s');
  await expect.poll(() => kubectl('get', 'pv', '-o', 'name')).toBe('');
  await expect.poll(() => [...driver.volumes(), ...driver.snapshots()]).toEqual([]);
}

test('a group snapshot by the built-in controllers', async () => {
  await using cluster = await startPeerCluster();
  await using driver = await startHostPath({ nodeId: nodeName, peer: 'hostpathplugin-1.18' });
  await cluster.apply(csiDriver({}, { 'mooring.dev/controller': 'built-in', 'mooring.dev/endpoint': `unix://${driver.socket}` }));
  await using _registrar = await startRegistrar(cluster.nodeRoot, hostPathName, driver.socket);
  await groupScenario(cluster, driver);
});

test('a group snapshot by the real csi-snapshotter and snapshot-controller', async () => {
  await using cluster = await startPeerCluster();
  await using driver = await startHostPath({ nodeId: nodeName, peer: 'hostpathplugin-1.18' });
  await cluster.apply(csiDriver());
  await using _registrar = await startRegistrar(cluster.nodeRoot, hostPathName, driver.socket);
  const reach = [`--csi-address=${driver.socket}`, `--kubeconfig=${cluster.kubeconfig}`];
  const groups = '--feature-gates=CSIVolumeGroupSnapshot=true';
  await using _provisioner = startPeer('csi-provisioner', ...reach, '--feature-gates=Topology=true', '--timeout=30s');
  await using _snapshotter = startPeer('csi-snapshotter', ...reach, groups, '--timeout=30s');
  await using _controller = startPeer('snapshot-controller', `--kubeconfig=${cluster.kubeconfig}`, groups);
  await groupScenario(cluster, driver);
});
