import type { Pod } from '../../api/generated/types.ts';
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
