import type { Node } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../client/decision.ts';
import type { DisruptionReason } from './budgets.ts';

/** Nodes to be removed, with the nodes that take their place. */
export interface Command {
  readonly reason: DisruptionReason;
  /** Names of NodeClaims. */
  readonly candidates: readonly string[];
  readonly replacements: readonly NodeClaim[];
}

/** The command is kept: it is examined again after the time of validation. */
export interface Consider {
  readonly do: 'consider';
  readonly command: Command;
}

/** It did not pass. */
export interface Drop {
  readonly do: 'drop';
}

/** Taints the nodes, and launches the replacements. */
export interface Execute {
  readonly do: 'execute';
  readonly command: Command;
}

/** The replacements are ready: the candidates are deleted. */
export interface Complete {
  readonly do: 'complete';
  readonly command: Command;
}

/** A replacement failed: the candidates stay, and the next pass releases them. */
export interface Undo {
  readonly do: 'undo';
  readonly command: Command;
}

export type DisruptionAction = Consider | Drop | Execute | Complete | Undo | ObjectWrite<Node | NodeClaim> | RecordEvent;
export type DisruptionDecision = Decision<DisruptionAction>;
