import type { Pod } from '../../../../api/generated/types.ts';
import { conditionOf, withCondition } from '../../../pods/conditions.ts';
import { isPodTerminal } from '../../../pods/state.ts';
import type { DisruptedPodDecision, DisruptedPodAction } from './actions.ts';

export interface DisruptedPodSnapshot {
  readonly pod: Pod;
  /** Names of the budgets that select it, sorted. */
  readonly budgets: readonly string[];
  /** It was told that there are several. */
  readonly isRecorded: boolean;
}

/** Whoever says that a pod is about to be disturbed has this long to do it. */
const timeoutMs = 2 * 60_000;

/** A pod that was to go, and does not, is no longer about to; and one that several budgets watch over cannot be evicted, and should know. */
export function decideDisruptedPod({ pod, budgets, isRecorded: isTold }: DisruptedPodSnapshot, now: number): DisruptedPodDecision {
  const warning = budgets.length > 1 && !isTold ? [tooManyBudgets(pod, budgets[0] ?? '')] : [];
  const due = staleAt(pod);
  if (due === undefined) return { actions: warning, reasons: [{ code: 'NotDisrupted', text: 'nobody said that the pod is about to be disturbed' }] };
  if (now < due) return { actions: warning, reasons: [{ code: 'Disrupted', text: 'the pod is about to be disturbed' }], again: due };
  return {
    actions: [...warning, { do: 'write-status', pod: withCondition(pod, { type: 'DisruptionTarget', status: 'False' }, now) }],
    reasons: [{ code: 'NeverDisrupted', text: 'the pod was about to be disturbed, and nothing came of it' }],
  };
}

/** When what a pod says of its end is no longer true. What its own kubelet says may take as long as it likes. */
function staleAt(pod: Pod): number | undefined {
  const condition = conditionOf(pod, 'DisruptionTarget');
  if (pod.metadata.deletionTimestamp !== undefined || isPodTerminal(pod)) return undefined;
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  return (condition.lastTransitionTime === null ? 0 : Date.parse(condition.lastTransitionTime)) + timeoutMs;
}

/** It says 'chose': a budget is counted as if it were alone, and evictions are refused. */
function tooManyBudgets(pod: Pod, chosen: string): DisruptedPodAction {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const quoted = JSON.stringify;
  const message = `Pod ${quoted(namespace)}/${quoted(name)} matches multiple PodDisruptionBudgets.  Chose ${quoted(chosen)} arbitrarily.`;
  return { do: 'tell', about: pod, report: { type: 'Warning', reason: 'MultiplePodDisruptionBudgets', message }, rememberAs: uid };
}
