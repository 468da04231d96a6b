/** How many pods a budget expects, and how many of them have to be healthy. */
import type { OwnerReference, Pod, PodDisruptionBudget } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { controllerOf } from '../../pods/ownership.ts';

/**
 * - `found`: the controller that sets the number of replicas; for a Deployment's ReplicaSet that is the Deployment
 * - `missing`: it does not exist, or has another uid
 * - `unscalable`: it has no scale, for this reason
 */
export type Scale =
  | { readonly state: 'found'; readonly uid: string; readonly replicas: number }
  | { readonly state: 'missing' }
  | { readonly state: 'unscalable'; readonly why: string };

export type ScaleOf = (owner: OwnerReference) => Scale;

export type Expected =
  | { readonly state: 'known'; readonly pods: number; readonly healthy: number; readonly unmanaged: readonly Stored<Pod>[] }
  | { readonly state: 'failed'; readonly why: string };

export function expectedOf({ spec }: PodDisruptionBudget, pods: readonly Stored<Pod>[], scaleOf: ScaleOf): Expected {
  const { maxUnavailable, minAvailable } = spec;
  if (maxUnavailable === undefined && typeof minAvailable !== 'string') {
    return { state: 'known', pods: minAvailable === undefined ? 0 : pods.length, healthy: minAvailable ?? 0, unmanaged: [] };
  }
  const scale = totalScale(pods, scaleOf);
  if (scale.state === 'failed') return scale;
  const { total, unmanaged } = scale;
  const healthy = maxUnavailable === undefined ? share(minAvailable ?? 0, total) : Math.max(0, total - share(maxUnavailable, total));
  return { state: 'known', pods: total, healthy, unmanaged };
}

/** A number, or a percentage of `total`, rounded up. */
const share = (amount: number | string, total: number): number =>
  typeof amount === 'number' ? amount : Math.ceil((Number.parseInt(amount, 10) * total) / 100);

type Total =
  | { readonly state: 'known'; readonly total: number; readonly unmanaged: readonly Stored<Pod>[] }
  | { readonly state: 'failed'; readonly why: string };

/** The replicas of all controllers of these pods together. */
function totalScale(pods: readonly Stored<Pod>[], scaleOf: ScaleOf): Total {
  const replicas = new Map<string, number>();
  const unmanaged: Stored<Pod>[] = [];
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner === undefined) {
      unmanaged.push(pod);
      continue;
    }
    if (replicas.has(owner.uid)) continue;
    const scale = scaleOf(owner);
    if (scale.state === 'unscalable') return { state: 'failed', why: scale.why };
    if (scale.state === 'missing') return { state: 'failed', why: `found no controllers for pod ${JSON.stringify(pod.metadata.name)}` };
    replicas.set(scale.uid, scale.replicas);
  }
  return { state: 'known', total: [...replicas.values()].reduce((sum, each) => sum + each, 0), unmanaged };
}
