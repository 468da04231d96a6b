// Peers: hostpathplugin, csi-provisioner, csi-snapshotter, snapshot-controller
/** Driver, server and agent are killed at random moments, with sidecars: no data is lost, and no volume, snapshot or mount is left. */
import { test } from 'vitest';
import { hostPathName, startHostPath } from './host-path.ts';
import { csiDriver, snapshotClass, storageClass } from './host-path-objects.ts';
import { killRounds, kills, killTimeoutMs, seed } from './kill-rounds.ts';
import { nodeName, startPeerCluster } from './peer-cluster.ts';
import { keepPeer } from './peer-process.ts';
import { startRegistrar } from './registrar.ts';

test(
  `${kills} kills with sidecars, SEED=${seed}`,
  async () => {
    await using cluster = await startPeerCluster();
    await using driver = await startHostPath({ nodeId: nodeName });
    await cluster.apply(csiDriver(), storageClass('fast', { volumeBindingMode: 'WaitForFirstConsumer' }), snapshotClass('fast'));
    await using _registrar = await startRegistrar(cluster.nodeRoot, hostPathName, driver.socket);
    const [address, kubeconfig] = [`--csi-address=${driver.socket}`, `--kubeconfig=${cluster.kubeconfig}`];
    await using provisioner = keepPeer('csi-provisioner', address, kubeconfig, '--feature-gates=Topology=true');
    await using snapshotter = keepPeer('csi-snapshotter', address, kubeconfig);
    await using controller = keepPeer('snapshot-controller', kubeconfig);
    const killServer = async (): Promise<void> => {
      await cluster.restart();
      // The server has another port: a sidecar reads it when it starts.
      await Promise.all([provisioner, snapshotter, controller].map((each) => each.kill()));
    };
    await killRounds({ cluster, driver, victims: [() => driver.restart(), killServer] });
  },
  killTimeoutMs,
);
