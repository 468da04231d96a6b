/** Work for the controllers of nodes and of pods without node. */
import type { Taint } from '../../../src/api/generated/types.ts';
import { leaseKind } from '../../../src/api/kinds/coordination/lease.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import type { SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

type Scenario = (cluster: SimulatedCluster) => Promise<void>;

/** A taint is added and removed twice, and then stays: it evicts a pod; another pod is deleted because its node never existed. */
export const taints: Scenario = async (cluster) => {
  await cluster.create(nodeKind, { metadata: { name: 'n1' } });
  await cluster.pod('patient', 'n1', []);
  await cluster.pod('orphan', 'nowhere', []);
  const taint = (...given: readonly Taint[]) => cluster.change(nodeKind, { name: 'n1' }, (node) => ({ ...node, spec: { ...node.spec, taints: [...given] } }));
  for (let i = 0; i < 2; i++) {
    await taint({ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' });
    await cluster.wait();
    await taint();
    await cluster.wait();
  }
  await taint({ key: 'example.com/drained', effect: 'NoExecute' });
  await cluster.wait(60_000);
};

/** A node with a Lease loses its heartbeats twice; its pod is not ready. */
export const silence: Scenario = async (cluster) => {
  const ready = (lastHeartbeatTime: string) => [{ type: 'Ready', status: 'True', lastHeartbeatTime, lastTransitionTime: null }];
  await cluster.create(nodeKind, { metadata: { name: 'n1' }, status: { conditions: ready('2026-01-01T00:00:00Z') } });
  await cluster.create(leaseKind, { metadata: { namespace: 'kube-node-lease', name: 'n1' } });
  await cluster.pod('web', 'n1', []);
  const conditions = [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }];
  await cluster.changeStatus(podKind, { namespace: 'default', name: 'web' }, (pod) => ({ ...pod, status: { ...pod.status, conditions } }));
  await cluster.wait(60_000);
  await cluster.changeStatus(nodeKind, { name: 'n1' }, (node) => ({ ...node, status: { ...node.status, conditions: ready('2026-01-01T00:01:00Z') } }));
  await cluster.wait(60_000);
};
