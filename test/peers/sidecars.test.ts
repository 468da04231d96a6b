// Peers: hostpathplugin, csi-provisioner, csi-resizer, csi-snapshotter, snapshot-controller
/** csi-driver-host-path with the real sidecars and the real snapshot-controller as processes: Mooring's controllers leave the driver to them. */
import { afterAll, beforeAll } from 'vitest';
import { hostPathName, startHostPath } from './host-path.ts';
import { csiDriver } from './host-path-objects.ts';
import { type Scene, testHostPath } from './host-path-scenarios.ts';
import { nodeName, startPeerCluster } from './peer-cluster.ts';
import { Running, startPeer } from './peer-process.ts';
import { startRegistrar } from './registrar.ts';

const running = new Running();
let scene: Scene;

beforeAll(async () => {
  const cluster = running.use(await startPeerCluster());
  const driver = running.use(await startHostPath({ nodeId: nodeName }));
  await cluster.apply(csiDriver());
  running.use(await startRegistrar(cluster.nodeRoot, hostPathName, driver.socket));
  const reach = [`--csi-address=${driver.socket}`, `--kubeconfig=${cluster.kubeconfig}`];
  running.use(startPeer('csi-provisioner', ...reach, '--feature-gates=Topology=true', '--timeout=30s'));
  running.use(startPeer('csi-resizer', ...reach, '--timeout=30s'));
  running.use(startPeer('csi-snapshotter', ...reach, '--timeout=30s'));
  running.use(startPeer('snapshot-controller', `--kubeconfig=${cluster.kubeconfig}`));
  scene = { cluster, driver };
});
afterAll(() => running.end());

testHostPath(() => scene);
