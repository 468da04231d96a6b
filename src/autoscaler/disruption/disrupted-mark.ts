/** The mark of nodes that a command disrupts: a taint of the Node, and a condition of its NodeClaim. */
import type { Node } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { isSameTaint } from '../../api/taints.ts';
import { type ObjectWrite, update, updateStatus } from '../../client/decision.ts';
import { disruptedTaint } from '../labels.ts';
import { conditionOf, withConditions, withoutCondition } from '../node-claims.ts';
import type { DisruptionReason } from './budgets.ts';

const conditionType = 'DisruptionReason';

const hasTaint = ({ spec }: Node): boolean => spec.taints?.some((taint) => isSameTaint(taint, disruptedTaint)) ?? false;

export const withTaint = <T extends Node>(node: T): T =>
  hasTaint(node) ? node : { ...node, spec: { ...node.spec, taints: [...(node.spec.taints ?? []), disruptedTaint] } };

const withoutTaint = (node: Node): Node =>
  hasTaint(node) ? { ...node, spec: { ...node.spec, taints: (node.spec.taints ?? []).filter((taint) => !isSameTaint(taint, disruptedTaint)) } } : node;

export const withReason = (claim: NodeClaim, reason: DisruptionReason, now: number): NodeClaim =>
  withConditions(claim, [{ type: conditionType, status: 'True', reason, message: reason }], now);

export interface MarkedNode {
  readonly node: Node;
  readonly claim: NodeClaim;
}

export const isMarked = ({ node, claim }: MarkedNode): boolean => hasTaint(node) || conditionOf(claim, conditionType) !== undefined;

/** The node takes pods again. */
export const release = ({ node, claim }: MarkedNode): readonly ObjectWrite<Node | NodeClaim>[] => [
  ...update(node, withoutTaint(node)),
  ...updateStatus(claim, withoutCondition(claim, conditionType)),
];
