import type { Deployment } from '../../../api/generated/types.ts';
import { amountOf } from '../../../api/kinds/apps/rolling-update.ts';
import { replicasOf } from './replica-sets.ts';

export const isRolling = ({ spec }: Deployment): boolean => spec.strategy.type === 'RollingUpdate';

/**
 * maxSurge and maxUnavailable as numbers. Percentages of maxSurge are rounded up, of maxUnavailable down; if both become zero,
 * one pod may be unavailable, or the rollout would never progress.
 */
function limitsOf(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge = 0, maxUnavailable = 0 } = deployment.spec.strategy.rollingUpdate ?? {};
  const surge = Math.ceil(share(maxSurge, replicasOf(deployment)));
  const unavailable = Math.floor(share(maxUnavailable, replicasOf(deployment)));
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

const share = (value: number | string, total: number): number => (typeof value === 'number' ? value : (amountOf(value) * total) / 100);

export const surgeOf = (deployment: Deployment): number => (isRolling(deployment) ? limitsOf(deployment).surge : 0);

/** At most the number of replicas. */
export const unavailableOf = (deployment: Deployment): number =>
  isRolling(deployment) ? Math.min(limitsOf(deployment).unavailable, replicasOf(deployment)) : 0;
