import type { DisruptionBudget, NodePool } from '../../api/kinds/karpenter/node-pool.ts';

export type DisruptionReason = 'Empty' | 'Drifted' | 'Underutilized';

/** Karpenter's default. */
const usualBudgets: readonly DisruptionBudget[] = [{ nodes: '10%' }];

/** How many more nodes of the pool may be disrupted now for the reason; a percentage is rounded up. A budget with a schedule holds at all times. */
export function allowedDisruptions(
  { spec }: NodePool,
  reason: DisruptionReason,
  { nodes, disrupting }: { readonly nodes: number; readonly disrupting: number },
): number {
  const active = (spec.disruption?.budgets ?? usualBudgets).filter(({ reasons }) => reasons === undefined || reasons.includes(reason));
  const most = active.map(({ nodes: text }) => (text.endsWith('%') ? Math.ceil((nodes * Number(text.slice(0, -1))) / 100) : Number(text)));
  return Math.max(0, Math.min(...most, Number.MAX_SAFE_INTEGER) - disrupting);
}
