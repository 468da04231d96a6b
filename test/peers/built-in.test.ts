// Peers: hostpathplugin
/** csi-driver-host-path without any sidecar: Mooring's controllers call it, because its CSIDriver asks for that. */
import { afterAll, beforeAll } from 'vitest';
import { hostPathName, startHostPath } from './host-path.ts';
import { csiDriver } from './host-path-objects.ts';
import { type Scene, testHostPath } from './host-path-scenarios.ts';
import { nodeName, startPeerCluster } from './peer-cluster.ts';
import { Running } from './peer-process.ts';
import { startRegistrar } from './registrar.ts';

const running = new Running();
let scene: Scene;

beforeAll(async () => {
  const cluster = running.use(await startPeerCluster());
  const driver = running.use(await startHostPath({ nodeId: nodeName }));
  await cluster.apply(csiDriver({}, { 'mooring.dev/controller': 'built-in', 'mooring.dev/endpoint': `unix://${driver.socket}` }));
  running.use(await startRegistrar(cluster.nodeRoot, hostPathName, driver.socket));
  scene = { cluster, driver };
});
afterAll(() => running.end());

testHostPath(() => scene);
