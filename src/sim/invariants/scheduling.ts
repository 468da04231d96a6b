import type { Pod } from '../../api/generated/types.ts';
import { quantityMilliValue } from '../../api/quantity.ts';
import type { Invariant } from './invariant.ts';

/** The scheduler says that its binding has failed. A refusal is certain: another scheduler has bound the pod. */
const failedBinding = ({ status }: Pod): string | undefined => {
  const condition = status.conditions?.find(({ type }) => type === 'PodScheduled');
  const { message = '' } = condition ?? {};
  return condition?.status === 'False' && message.includes('"DefaultBinder"') && !message.includes('already assigned') ? message : undefined;
};

/** A binding without an answer may have happened. The scheduler asks, before it says that it has failed and gives the pod's place to another. */
export const unansweredIsNotFailed: Invariant = {
  name: 'no binding is said to have failed that happened',
  check: (change) => {
    if (change.type !== 'pod' || change.after === undefined || change.before === undefined) return undefined;
    const { before, after } = change;
    const message = failedBinding(after);
    if (message === undefined || message === failedBinding(before) || (before.spec.nodeName ?? '') === '') return undefined;
    return `pod ${change.key} is on node ${after.spec.nodeName ?? ''}, and its status says: ${message}`;
  },
};

const isPreempted = ({ status }: Pod): boolean =>
  status.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'PreemptionByScheduler') ?? false;

/** The scheduler says of a victim that it is preempted, and then deletes that pod: not another one that has its name meanwhile. */
export function onlyVictimsAreDeleted(): Invariant {
  /** The uids of pods whose status has said it: a disruption controller whose clock is ahead takes it back at once. */
  const preempted = new Set<string>();
  return {
    name: 'the scheduler deletes only pods that it has said to preempt',
    check: (change) => {
      if (change.type === 'pod' && change.after !== undefined && isPreempted(change.after)) preempted.add(change.after.metadata.uid);
      if (change.type !== 'scheduler-delete' || isPreempted(change.pod) || preempted.has(change.pod.metadata.uid)) return undefined;
      return `pod ${change.key} (${change.pod.metadata.uid}) was deleted, and its status does not say that it was preempted`;
    },
  };
}

const cpuOf = ({ spec }: Pod): bigint =>
  (spec.containers ?? []).reduce((sum, { resources }) => sum + quantityMilliValue(resources?.requests?.['cpu'] ?? '0'), 0n);
const countsOn = (node: string, { spec, status }: Pod): boolean => spec.nodeName === node && status.phase !== 'Succeeded' && status.phase !== 'Failed';

/**
 * A scheduler that alone binds pods knows what it has bound, however old its caches are. `isAlone`: there is one, and it neither crashes nor pauses.
 */
export const podsFit = (isAlone: boolean): Invariant => ({
  name: 'the pods of a node fit in it',
  check: (change, facts) => {
    if (!isAlone || change.type !== 'pod' || change.after === undefined) return undefined;
    const node = change.after.spec.nodeName ?? '';
    if (node === '' || change.before?.spec.nodeName === node) return undefined;
    const allocatable = facts.nodes.get(node)?.status.allocatable?.['cpu'];
    if (allocatable === undefined) return undefined;
    const requested = Array.from(facts.pods.values()).reduce((sum, pod) => (countsOn(node, pod) ? sum + cpuOf(pod) : sum), 0n);
    return requested <= quantityMilliValue(allocatable) ? undefined : `pods of node ${node} request ${requested}m of cpu, and it has ${allocatable}`;
  },
});
