import type { Node } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { isZeroQuantity } from '../../api/quantity.ts';
import { isSameTaint } from '../../api/taints.ts';
import { ephemeralTaints, labels } from '../labels.ts';
import type { ConditionDraft } from '../node-claims.ts';

export interface Initialization {
  readonly condition: ConditionDraft;
  /** With its label, once it is initialized. */
  readonly node?: Node;
}

const waiting = (reason: string, message: string): Initialization => ({ condition: { type: 'Initialized', status: 'Unknown', reason, message } });

/** Ready, without the taints of its start, and with every resource that its claim asks for. */
export function initializationOf({ spec }: NodeClaim, node: Node | undefined): Initialization {
  if (node === undefined) return waiting('NodeNotFound', 'Node not registered with cluster');
  if (!isReady(node)) return waiting('NodeNotReady', 'Node status is NotReady');
  const taints = node.spec.taints ?? [];
  const startup = (spec.startupTaints ?? []).find((taint) => taints.some((each) => isSameTaint(each, taint)));
  if (startup !== undefined) return waiting('StartupTaintsExist', `StartupTaint "${startup.key}:${startup.effect}" still exists`);
  const ephemeral = ephemeralTaints.find((taint) => taints.some((each) => isSameTaint(each, taint)));
  if (ephemeral !== undefined) return waiting('KnownEphemeralTaintsExist', `KnownEphemeralTaint "${ephemeral.key}:${ephemeral.effect}" still exists`);
  const missing = Object.entries(spec.resources?.requests ?? {}).find(
    ([name, amount]) => !isZeroQuantity(amount) && node.status.allocatable?.[name] === undefined,
  );
  if (missing !== undefined) return waiting('ResourceNotRegistered', `Resource "${missing[0]}" was requested but not registered`);
  const initialized = { ...node, metadata: { ...node.metadata, labels: { ...node.metadata.labels, [labels.initialized]: 'true' } } };
  return { condition: { type: 'Initialized', status: 'True' }, node: initialized };
}

export const isReady = ({ status }: Node): boolean => status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;
