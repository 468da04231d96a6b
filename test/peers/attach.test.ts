// Peers: hostpathplugin
/** csi-driver-host-path with attached volumes, without any sidecar. */
import { afterAll, beforeAll } from 'vitest';
import { attachArgs, attachedDriver, testAttaching } from './attach-scenarios.ts';
import { hostPathName, startHostPath } from './host-path.ts';
import type { Scene } from './host-path-scenarios.ts';
import { nodeName, startPeerCluster } from './peer-cluster.ts';
import { Running } from './peer-process.ts';
import { startRegistrar } from './registrar.ts';

const running = new Running();
let scene: Scene;

beforeAll(async () => {
  const cluster = running.use(await startPeerCluster());
  const driver = running.use(await startHostPath({ nodeId: nodeName, args: attachArgs }));
  await cluster.apply(attachedDriver({ 'mooring.dev/controller': 'built-in', 'mooring.dev/endpoint': `unix://${driver.socket}` }));
  running.use(await startRegistrar(cluster.nodeRoot, hostPathName, driver.socket));
  scene = { cluster, driver };
});
afterAll(() => running.end());

testAttaching(() => scene);
