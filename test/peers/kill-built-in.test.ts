// Peers: hostpathplugin
/** Driver, server and agent are killed at random moments, without any sidecar: no data is lost, and no volume, snapshot or mount is left. */
import { test } from 'vitest';
import { hostPathName, startHostPath } from './host-path.ts';
import { csiDriver, snapshotClass, storageClass } from './host-path-objects.ts';
import { killRounds, kills, killTimeoutMs, seed } from './kill-rounds.ts';
import { nodeName, startPeerCluster } from './peer-cluster.ts';
import { startRegistrar } from './registrar.ts';

test(
  `${kills} kills with the built-in controllers, SEED=${seed}`,
  async () => {
    await using cluster = await startPeerCluster();
    await using driver = await startHostPath({ nodeId: nodeName });
    const builtIn = { 'mooring.dev/controller': 'built-in', 'mooring.dev/endpoint': `unix://${driver.socket}` };
    await cluster.apply(csiDriver({}, builtIn), storageClass('fast', { volumeBindingMode: 'WaitForFirstConsumer' }), snapshotClass('fast'));
    await using _registrar = await startRegistrar(cluster.nodeRoot, hostPathName, driver.socket);
    await killRounds({ cluster, driver, victims: [() => driver.restart(), () => cluster.restart()] });
  },
  killTimeoutMs,
);
