// Peers: hostpathplugin, csi-provisioner, csi-attacher
/** csi-driver-host-path with attached volumes, by the real external-provisioner and external-attacher as processes. */
import { afterAll, beforeAll } from 'vitest';
import { attachArgs, attachedDriver, testAttaching } from './attach-scenarios.ts';
import { hostPathName, startHostPath } from './host-path.ts';
import type { Scene } from './host-path-scenarios.ts';
import { nodeName, startPeerCluster } from './peer-cluster.ts';
import { Running, startPeer } from './peer-process.ts';
import { startRegistrar } from './registrar.ts';

const running = new Running();
let scene: Scene;

beforeAll(async () => {
  const cluster = running.use(await startPeerCluster());
  const driver = running.use(await startHostPath({ nodeId: nodeName, args: attachArgs }));
  await cluster.apply(attachedDriver());
  running.use(await startRegistrar(cluster.nodeRoot, hostPathName, driver.socket));
  const reach = [`--csi-address=${driver.socket}`, `--kubeconfig=${cluster.kubeconfig}`];
  running.use(startPeer('csi-provisioner', ...reach, '--feature-gates=Topology=true', '--timeout=30s'));
  running.use(startPeer('csi-attacher', ...reach, '--timeout=30s'));
  scene = { cluster, driver };
});
afterAll(() => running.end());

testAttaching(() => scene);
