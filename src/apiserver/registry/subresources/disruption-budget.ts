/** Whether a PodDisruptionBudget allows one more eviction, and its status afterwards. Pure (upstream: registry/core/pod/storage/eviction.go). */
import type { Condition, Pod, PodDisruptionBudget } from '../../../api/generated/types.ts';
import { cloneObject } from '../../../api/schema/index.ts';
import { ApiError, statusErrors } from '../../../api/status.ts';
import { labelSelectorOf, matchesLabels, SelectorError } from '../../../api/selectors/label-selector.ts';
import type { Stored } from '../../../api/stored.ts';
import { timestamp } from '../../objects/metadata.ts';

const CAUSE = 'DisruptionBudget';
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";
/** Evictions that were allowed and that the disruption controller has not confirmed yet. */
const MAX_DISRUPTED = 2_000;
const RETRY_SECONDS = 10;

export function budgetsOf(pod: Pod, budgets: readonly Stored<PodDisruptionBudget>[]): Stored<PodDisruptionBudget>[] {
  return budgets.filter(({ spec }) => {
    try {
      return matchesLabels(labelSelectorOf(spec.selector), pod.metadata.labels);
    } catch (error) {
      if (error instanceof SelectorError) return false;
      throw error;
    }
  });
}

/** The eviction of a pod that does not run is no disruption. */
export const canIgnoreBudget = ({ metadata, status }: Pod): boolean =>
  status.phase === 'Succeeded' || status.phase === 'Failed' || status.phase === 'Pending' || metadata.deletionTimestamp !== undefined;

const isReady = ({ status }: Pod): boolean => (status.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

/** An unhealthy pod may be evicted without the budget if enough others are healthy or the policy is AlwaysAllow. */
export function mayEvictUnhealthy(pod: Pod, { spec, status }: PodDisruptionBudget): boolean {
  if (isReady(pod)) return false;
  return spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (status.currentHealthy >= status.desiredHealthy && status.desiredHealthy > 0);
}

/** The budget with one allowed disruption less. @throws ApiError 429, 403 */
export function decrementBudget(budget: Stored<PodDisruptionBudget>, podName: string, now: number): PodDisruptionBudget {
  const name = budget.metadata.name;
  const { status } = budget;
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) throw beingProcessed(name);
  if (status.disruptionsAllowed < 0) throw forbidden(name, 'pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED) {
    throw forbidden(name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (status.disruptionsAllowed === 0) throw new ApiError(429, 'TooManyRequests', VIOLATION, { causes: [{ reason: CAUSE, message: exhausted(budget) }] });
  const next = cloneObject(budget);
  next.status.disruptionsAllowed--;
  if (next.status.disruptionsAllowed === 0) setInsufficient(next, now);
  next.status.disruptedPods = { ...next.status.disruptedPods, [podName]: timestamp(now) };
  return next;
}

export const beingProcessed = (name: string): ApiError =>
  new ApiError(429, 'TooManyRequests', VIOLATION, {
    causes: [{ reason: CAUSE, message: `The disruption budget ${name} is still being processed by the server.` }],
    retryAfterSeconds: RETRY_SECONDS,
  });

const forbidden = (name: string, why: string): ApiError =>
  statusErrors.forbidden({ group: 'policy', plural: 'poddisruptionbudget', kind: 'PodDisruptionBudget' }, name, why);

function exhausted({ metadata, status }: Stored<PodDisruptionBudget>): string {
  const { name } = metadata;
  const condition = (status.conditions ?? []).find((one) => one.type === 'DisruptionAllowed');
  const explained = condition !== undefined && condition.status === 'False' && condition.message !== '';
  if (explained && condition.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`;
  }
  if (status.currentHealthy <= status.desiredHealthy) {
    return `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`;
  }
  if (explained) return `The disruption budget ${name} does not allow evicting pods currently (${condition.reason}): ${condition.message}`;
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

function setInsufficient({ status }: PodDisruptionBudget, now: number): void {
  const conditions = status.conditions ?? [];
  const old = conditions.find((one) => one.type === 'DisruptionAllowed');
  const lastTransitionTime = old?.status === 'False' ? old.lastTransitionTime : timestamp(now);
  const generation = status.observedGeneration ?? 0;
  const next: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(generation === 0 ? {} : { observedGeneration: generation }),
    lastTransitionTime,
    reason: 'InsufficientPods',
    message: '',
  };
  status.conditions = old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one));
}
