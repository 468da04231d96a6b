// Peers: hostpathplugin, csi-node-driver-registrar
/** The real node-driver-registrar tells the node about a driver. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { hostPathName, startHostPath } from './host-path.ts';
import { csiDriver, inline, pod } from './host-path-objects.ts';
import { nodeName, startPeerCluster } from './peer-cluster.ts';
import { startPeer } from './peer-process.ts';

test('a driver that the registrar names is in CSINode until the registrar ends, and mounts an inline volume meanwhile', async () => {
  await using cluster = await startPeerCluster();
  await using driver = await startHostPath({ nodeId: nodeName, args: ['--maxvolumespernode', '7'] });
  await cluster.apply(csiDriver());
  const registry = path.join(cluster.nodeRoot, 'plugins_registry');
  const registrar = startPeer(
    'csi-node-driver-registrar',
    `--csi-address=${driver.socket}`,
    `--kubelet-registration-path=${driver.socket}`,
    `--plugin-registration-path=${registry}`,
  );
  await using _ = registrar;
  const drivers = async () => JSON.parse(await cluster.kubectl('get', 'csinode', nodeName, '-o', 'json')).spec.drivers ?? [];
  const named = async () => (await drivers()).filter(({ name }: { name: string }) => name === hostPathName);
  const topologyKeys = ['topology.hostpath.csi/node'];
  await expect.poll(named, { message: registrar.output() }).toEqual([{ name: hostPathName, nodeID: nodeName, topologyKeys, allocatable: { count: 7 } }]);
  expect(JSON.parse(await cluster.kubectl('get', 'node', nodeName, '-o', 'json')).metadata).toMatchObject({
    labels: { 'topology.hostpath.csi/node': nodeName },
    annotations: { 'csi.volume.kubernetes.io/nodeid': expect.stringContaining(`"${hostPathName}":"${nodeName}"`) },
  });
  const said = await cluster.run(pod('inline', 'echo data > /v/scratch/file; cat /v/scratch/file; grep -c /v/scratch /proc/self/mounts', { scratch: inline }));
  expect(said).toBe('data\n1\n');
  await expect.poll(() => driver.volumes()).toEqual([]);
  // A registrar that ends removes its socket.
  await registrar.stop('SIGTERM');
  await expect.poll(named).toEqual([]);
});
