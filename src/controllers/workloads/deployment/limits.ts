import type { Deployment } from '../../../api/generated/types.ts';
import { amountOf } from '../../../api/kinds/apps/rolling-update.ts';
import { replicasOf } from './replica-sets.ts';

export const isRolling = ({ spec }: Deployment): boolean => spec.strategy.type === 'RollingUpdate';

/**
 * By how much a rolling update may exceed the wanted number of pods, and fall short of it. Shares of the excess are rounded up,
 * of the shortage down; if that leaves neither, one pod may be missing, or nothing would ever move.
 */
function limitsOf(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge = 0, maxUnavailable = 0 } = deployment.spec.strategy.rollingUpdate ?? {};
  const surge = Math.ceil(share(maxSurge, replicasOf(deployment)));
  const unavailable = Math.floor(share(maxUnavailable, replicasOf(deployment)));
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

const share = (value: number | string, total: number): number => (typeof value === 'number' ? value : (amountOf(value) * total) / 100);

export const surgeOf = (deployment: Deployment): number => (isRolling(deployment) ? limitsOf(deployment).surge : 0);

/** Never more than there are to be. */
export const unavailableOf = (deployment: Deployment): number =>
  isRolling(deployment) ? Math.min(limitsOf(deployment).unavailable, replicasOf(deployment)) : 0;
