/** Work for the endpoint and disruption controllers. */
import { endpointSliceKind } from '../../../src/api/kinds/discovery/endpoint-slice.ts';
import { endpointsKind } from '../../../src/api/kinds/core/endpoints.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { podDisruptionBudgetKind } from '../../../src/api/kinds/policy/pod-disruption-budget.ts';
import { serviceKind } from '../../../src/api/kinds/core/service.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import type { SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

type Scenario = (cluster: SimulatedCluster) => Promise<void>;

const inDefault = (name: string) => ({ namespace: 'default', name });

/** A budget without pods repeats its event; an allowed eviction does not delete the pod. */
export const budgets: Scenario = async (cluster) => {
  await cluster.create(podDisruptionBudgetKind, { metadata: inDefault('web'), spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } } });
  await cluster.wait(31 * 60_000);
  await cluster.change(podDisruptionBudgetKind, inDefault('web'), (budget) => ({ ...budget, spec: { ...budget.spec, minAvailable: 2 } }));
  await cluster.pod('other', undefined, []);
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', lastProbeTime: null, lastTransitionTime: null }];
  await cluster.changeStatus(podKind, inDefault('other'), (pod) => ({ ...pod, status: { ...pod.status, conditions } }));
  await cluster.wait();
};

const ofService = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };

/** A service has a pod, which then gets an invalid address; hand-written endpoints are too many to be mirrored. */
export const endpoints: Scenario = async (cluster) => {
  await cluster.create(nodeKind, { metadata: { name: 'n1' } });
  await cluster.create(serviceKind, { metadata: inDefault('web'), spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
  await cluster.pod('web', 'n1', []);
  const address = (ip: string) =>
    cluster.changeStatus(podKind, inDefault('web'), (pod) => ({ ...pod, status: { ...pod.status, podIP: ip, podIPs: [{ ip }] } }));
  await cluster.change(podKind, inDefault('web'), (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { app: 'web' } } }));
  await address('10.0.0.1');
  await cluster.wait();
  await address('127.0.0.1');
  await cluster.wait(60_000);
  await cluster.create(endpointSliceKind, { metadata: { ...inDefault('stray'), labels: ofService }, addressType: 'IPv4' });
  await cluster.delete(podKind, inDefault('web'));
  await cluster.delete(serviceKind, inDefault('web'));
  const addresses = Array.from({ length: 1_001 }, (_, i) => ({ ip: `10.1.${i >> 8}.${i & 255}` }));
  await cluster.create(serviceKind, { metadata: inDefault('db'), spec: { ports: [{ port: 5432 }] } });
  await cluster.create(endpointsKind, { metadata: inDefault('db'), subsets: [{ addresses, ports: [{ port: 5432 }] }] });
  await cluster.wait(31 * 60_000);
  await cluster.change(endpointsKind, inDefault('db'), (written) => ({ ...written, metadata: { ...written.metadata, labels: { a: 'b' } } }));
  await cluster.wait();
  const unmirrored = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
  await cluster.change(endpointsKind, inDefault('db'), (written) => ({ ...written, metadata: { ...written.metadata, labels: unmirrored } }));
  await cluster.wait();
};
