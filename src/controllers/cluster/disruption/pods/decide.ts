import type { Pod } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { updateStatus } from '../../../../client/decision.ts';
import { conditionOf, withCondition } from '../../../pods/conditions.ts';
import { isPodTerminal } from '../../../pods/state.ts';
import type { DisruptedPodDecision, DisruptedPodAction } from './actions.ts';

export interface DisruptedPodSnapshot {
  readonly pod: Stored<Pod>;
  /** Names of the budgets that select the pod, sorted. */
  readonly budgets: readonly string[];
  /** The event about several budgets was recorded. */
  readonly isRecorded: boolean;
}

/** A DisruptionTarget condition is stale after this time without deletion. */
const timeoutMs = 2 * 60_000;

/** Clears a stale DisruptionTarget condition; warns about a pod that several budgets select, which cannot be evicted. */
export function decideDisruptedPod({ pod, budgets, isRecorded }: DisruptedPodSnapshot, now: number): DisruptedPodDecision {
  const warning = budgets.length > 1 && !isRecorded ? [tooManyBudgets(pod, budgets[0] ?? '')] : [];
  const due = staleAt(pod);
  if (due === undefined) return { actions: warning, reasons: [{ code: 'NotDisrupted', text: 'the pod has no DisruptionTarget condition' }] };
  if (now < due) return { actions: warning, reasons: [{ code: 'Disrupted', text: 'the pod is to be disrupted' }], again: due };
  return {
    actions: [...warning, ...updateStatus(pod, withCondition(pod, { type: 'DisruptionTarget', status: 'False' }, now))],
    reasons: [{ code: 'NeverDisrupted', text: 'the pod was to be disrupted and was not deleted in time' }],
  };
}

/** When the DisruptionTarget condition becomes stale. The kubelet's own condition never does. */
function staleAt(pod: Pod): number | undefined {
  const condition = conditionOf(pod, 'DisruptionTarget');
  if (pod.metadata.deletionTimestamp !== undefined || isPodTerminal(pod)) return undefined;
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  return (condition.lastTransitionTime === null ? 0 : Date.parse(condition.lastTransitionTime)) + timeoutMs;
}

/** 'Chose' is Kubernetes' word; the eviction subresource in fact refuses such pods. */
function tooManyBudgets(pod: Stored<Pod>, chosen: string): DisruptedPodAction {
  const { namespace = '', name, uid } = pod.metadata;
  const quoted = JSON.stringify;
  const message = `Pod ${quoted(namespace)}/${quoted(name)} matches multiple PodDisruptionBudgets.  Chose ${quoted(chosen)} arbitrarily.`;
  return { do: 'recordEvent', event: { about: pod, type: 'Warning', reason: 'MultiplePodDisruptionBudgets', message }, rememberAs: uid };
}
