import type { Node, Pod, PodDisruptionBudget } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import { labelSelectorOf, matchesLabels } from '../../api/selectors/label-selector.ts';
import type { Stored } from '../../api/stored.ts';
import type { ClusterState } from '../cluster-state.ts';
import { annotations, labels } from '../labels.ts';
import { isTrue } from '../node-claims.ts';
import { isReschedulable, mayNotBeDisrupted } from '../pods.ts';

/** A node that may be disrupted now. */
export interface Candidate {
  readonly claim: Stored<NodeClaim>;
  readonly node: Stored<Node>;
  readonly pool: Stored<NodePool>;
  /** Those that need another node. */
  readonly pods: readonly Stored<Pod>[];
  /** Dollars an hour; infinite: unknown. */
  readonly price: number;
}

/** Karpenter's text, as the message of DisruptionBlocked. */
export type Examined = { readonly type: 'candidate'; readonly candidate: Candidate } | { readonly type: 'blocked'; readonly why: string };

export interface CandidateContext {
  readonly state: ClusterState;
  readonly budgets: readonly Stored<PodDisruptionBudget>[];
  readonly now: number;
}

export function examine(claim: Stored<NodeClaim>, { state, budgets, now }: CandidateContext): Examined {
  const blocked = (why: string): Examined => ({ type: 'blocked', why });
  const node = state.nodeOf(claim);
  if (node === undefined) return blocked('Nodeclaim does not have an associated node');
  const { name, labels: known, annotations: noted } = node.metadata;
  if (known?.[labels.initialized] !== 'true') return blocked("Node isn't initialized");
  if (state.isLeaving(node)) return blocked('Node is deleting or marked for deletion');
  if (state.isNominated(name, now) || state.isNominated(claim.metadata.name, now)) return blocked('Node is nominated for a pending pod');
  if (noted?.[annotations.doNotDisrupt] === 'true') return blocked(`Disruption is blocked through the "${annotations.doNotDisrupt}" annotation`);
  const poolName = claim.metadata.labels?.[labels.nodePool] ?? '';
  const pool = state.pools.getKey(poolName);
  if (pool === undefined) return blocked(`NodePool not found (NodePool=${poolName})`);
  const all = state.podsOnNode.get(name);
  const kept = all.find((pod) => pod.metadata.deletionTimestamp === undefined && mayNotBeDisrupted(pod));
  if (kept !== undefined) return blocked(`Pod has "${annotations.doNotDisrupt}" annotation (Pod=${keyOf(kept)})`);
  const pods = all.filter(isReschedulable);
  const budget = pods.flatMap((pod) => budgets.filter((each) => forbids(each, pod)))[0];
  if (budget !== undefined) return blocked(`Pdb prevents pod evictions (PodDisruptionBudget=[${keyOf(budget)}])`);
  return { type: 'candidate', candidate: { claim, node, pool, pods, price: priceOf(claim, state) } };
}

const keyOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ''}/${metadata.name}`;

const forbids = ({ metadata, spec, status }: Stored<PodDisruptionBudget>, pod: Stored<Pod>): boolean =>
  metadata.namespace === pod.metadata.namespace &&
  status.disruptionsAllowed === 0 &&
  spec.selector !== undefined &&
  matchesLabels(labelSelectorOf(spec.selector), pod.metadata.labels);

function priceOf({ metadata, spec }: NodeClaim, { provider }: ClusterState): number {
  const { [labels.instanceType]: name, [labels.zone]: zone, [labels.capacityType]: capacityType } = metadata.labels ?? {};
  const type = provider.instanceTypes(spec.nodeClassRef)?.find((each) => each.name === name);
  const offering = type?.offerings.find((each) => each.zone === zone && each.capacityType === capacityType);
  return offering?.price ?? Number.POSITIVE_INFINITY;
}

export const isEmpty = ({ pods }: Candidate): boolean => pods.length === 0;
export const isConsolidatable = ({ claim }: Candidate): boolean => isTrue(claim, 'Consolidatable');
export const isDrifted = ({ claim }: Candidate): boolean => isTrue(claim, 'Drifted');
