/** What happens to those who are reached through a service. */
import { podDisruptionBudgetKind } from '../../src/api/kinds/pod-disruption-budget.ts';
import { podKind } from '../../src/api/kinds/workloads/pod.ts';
import type { WholeCluster } from './whole-cluster.ts';

type Story = (cluster: WholeCluster) => Promise<void>;

const inDefault = (name: string) => ({ namespace: 'default', name });

/** A budget finds no pods, and says so again after a while; a pod was to be evicted, and nothing came of it. */
export const budgets: Story = async (cluster) => {
  await cluster.create(podDisruptionBudgetKind, { metadata: inDefault('web'), spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } } });
  await cluster.wait(31 * 60_000);
  await cluster.change(podDisruptionBudgetKind, inDefault('web'), (budget) => ({ ...budget, spec: { ...budget.spec, minAvailable: 2 } }));
  await cluster.pod('other', undefined, []);
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', lastProbeTime: null, lastTransitionTime: null }];
  await cluster.changeStatus(podKind, inDefault('other'), (pod) => ({ ...pod, status: { ...pod.status, conditions } }));
  await cluster.wait();
};
