import type { Pod } from '../../api/generated/types.ts';
import { type Facts, isRunning } from './facts.ts';
import type { Invariant } from './invariant.ts';

/** The member of a StatefulSet: its name is its identity, so a second pod of that name is a second writer. */
const isMember = ({ metadata }: Pod): boolean =>
  metadata.ownerReferences?.some(({ kind, controller }) => kind === 'StatefulSet' && controller === true) ?? false;

/** The machine of a node that is gone, not ready or out of service has to be taken for dead. */
const isAlive = (facts: Facts, node: string): boolean =>
  facts.readySince.has(node) && facts.nodes.get(node)?.spec.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') !== true;

/**
 * The pod object of an ordinal goes when its node has stopped the containers. Without it the controller creates the next one, and two would run with one identity.
 * No user deletes such a pod by force here.
 */
export const oneOfEachOrdinal: Invariant = {
  name: 'never two running pods of one StatefulSet ordinal',
  check: (change, facts) => {
    if (change.type !== 'pod' || change.before === undefined || !isMember(change.before)) return undefined;
    const { before, after } = change;
    if (after !== undefined && after.metadata.uid === before.metadata.uid) return undefined;
    const node = before.spec.nodeName ?? '';
    return isRunning(before) && isAlive(facts, node) ? `pod ${change.key} is gone from the API, and node ${node} runs its containers` : undefined;
  },
};
