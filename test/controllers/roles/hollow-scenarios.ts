/** Nodes that register and run pods. */
import { csiNodeKind } from '../../../src/api/kinds/storage/csi-node.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import type { SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

type Scenario = (cluster: SimulatedCluster) => Promise<void>;

const inDefault = (name: string) => ({ namespace: 'default', name });

/** A pod whose claim is missing gets an event, again and again. */
export const hollowNodes: Scenario = async (cluster) => {
  const nodes = cluster.startNodes({ hosts: cluster.hosts({ count: 1 }) });
  await nodes.ready;
  await cluster.create(podKind, {
    metadata: inDefault('on-node'),
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'app', image: 'image', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'missing' } }],
    },
  });
  await cluster.wait(30_000);
  await cluster.delete(podKind, inDefault('on-node'));
  // Another agent registers the node differently; its CSINode has another owner.
  await nodes.stop();
  await cluster.delete(nodeKind, { name: 'node-1' });
  await cluster.create(nodeKind, { metadata: { name: 'node-1' } });
  const other = await cluster.create(nodeKind, { metadata: { name: 'other' } });
  await cluster.wait();
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'other', uid: other.metadata.uid ?? '' };
  await cluster.create(csiNodeKind, { metadata: { name: 'node-1', ownerReferences: [owner] }, spec: { drivers: [] } });
  const again = cluster.startNodes({ hosts: cluster.hosts({ count: 1 }) });
  await again.ready;
  await cluster.change(csiNodeKind, { name: 'node-1' }, (csiNode) => ({ ...csiNode, spec: { drivers: [] } }));
  await cluster.wait(20_000);
};
