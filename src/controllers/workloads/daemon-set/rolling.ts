/** RollingUpdate: replaces pods of an older template, a few at a time. */
import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { isPodAvailable } from '../../pods/state.ts';
import { isUpToDate } from './daemon-pod.ts';
import { type PodChanges, type PlacementSnapshot, limitsOf, noPodChanges } from './placement.ts';

/** Called when `placePods` has nothing to do: a node has at most one old and one new pod. */
export function rollPods(snapshot: PlacementSnapshot): PodChanges {
  if (snapshot.set.spec.updateStrategy.type !== 'RollingUpdate') return noPodChanges;
  const wanted = [...snapshot.eligibility.values()].filter((eligible) => eligible === 'run').length;
  const { surge, unavailable } = limitsOf(snapshot.set, wanted);
  return surge === 0 ? removeOld(snapshot, unavailable) : addNew(snapshot, surge, wanted);
}

interface PodPair {
  readonly node: string;
  readonly newPod: Stored<Pod> | undefined;
  readonly oldPod: Stored<Pod> | undefined;
}

/** One for each node that has a pod or should have one. */
function* pairs({ set, hash, podsOn, eligibility }: PlacementSnapshot): Iterable<PodPair & { readonly ok: boolean }> {
  for (const [node, pods] of podsOn) {
    const here = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const fresh = here.filter((pod) => isUpToDate(pod, set, hash));
    const stale = here.filter((pod) => !isUpToDate(pod, set, hash));
    yield { node, newPod: fresh[0], oldPod: stale[0], ok: fresh.length < 2 && stale.length < 2 };
  }
  for (const [node, eligible] of eligibility) if (eligible === 'run' && !podsOn.has(node)) yield { node, newPod: undefined, oldPod: undefined, ok: true };
}

/** maxUnavailable: old pods are deleted, and replaced once they are gone. Unavailable ones go at once, others within the limit. */
function removeOld(snapshot: PlacementSnapshot, mayBeMissing: number): PodChanges {
  const dispensable: Stored<Pod>[] = [];
  const candidates: Stored<Pod>[] = [];
  let missing = 0;
  for (const { newPod, oldPod, ok } of pairs(snapshot)) {
    if (!ok || (oldPod === undefined) === (newPod === undefined)) missing++;
    else if (newPod !== undefined) missing += isAvailable(newPod, snapshot) ? 0 : 1;
    else if (oldPod !== undefined && isAvailable(oldPod, snapshot)) candidates.push(oldPod);
    else if (oldPod !== undefined) {
      dispensable.push(oldPod);
      missing++;
    }
  }
  return { ...noPodChanges, remove: [...dispensable, ...candidates.slice(0, Math.max(0, mayBeMissing - missing))] };
}

const isAvailable = (pod: Pod, { set, now }: PlacementSnapshot): boolean => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);

/** maxSurge: new pods are created beside the old ones, which are deleted once the new ones are available. */
function addNew(snapshot: PlacementSnapshot, maySurge: number, wanted: number): PodChanges {
  const remove: Stored<Pod>[] = [];
  const misplaced: Stored<Pod>[] = [];
  const urgent: string[] = [];
  const candidates: string[] = [];
  let [surging, available] = [0, 0];
  for (const { node, newPod, oldPod, ok } of pairs(snapshot)) {
    const serving = oldPod ?? newPod;
    if (ok && serving !== undefined && isAvailable(serving, snapshot)) available++;
    if (!ok) surging++;
    else if (oldPod !== undefined && newPod !== undefined) {
      if (isAvailable(newPod, snapshot)) remove.push(oldPod);
      else surging++;
    } else if (oldPod !== undefined) {
      const belongs = snapshot.eligibility.get(node) === 'run';
      if (belongs) (isAvailable(oldPod, snapshot) ? candidates : urgent).push(node);
      else (isAvailable(oldPod, snapshot) ? misplaced : remove).push(oldPod);
    }
  }
  // A node that is no longer eligible keeps its old pod until the new pods elsewhere are available.
  remove.push(...misplaced.slice(0, Math.max(0, available - wanted)));
  return { ...noPodChanges, remove, create: [...urgent, ...candidates.slice(0, Math.max(0, maySurge - surging))] };
}
