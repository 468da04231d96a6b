/** The state of a pod as the workload controllers count it. */
import type { Pod, PodCondition } from '../../api/generated/types.ts';

/** All containers have ended and are not restarted. */
export const isPodTerminal = ({ status }: Pod): boolean => status.phase === 'Failed' || status.phase === 'Succeeded';

/** Neither ended nor being deleted. */
export const isPodActive = (pod: Pod): boolean => !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined;

/** Being deleted, and not ended yet. */
export const isPodTerminating = (pod: Pod): boolean => !isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;

const readyCondition = ({ status }: Pod): PodCondition | undefined => status.conditions?.find(({ type }) => type === 'Ready');

export const isPodReady = (pod: Pod): boolean => readyCondition(pod)?.status === 'True';

/** Since when the pod is ready, in milliseconds since 1970. Undefined: it is not ready, or the condition has no time. */
export function readySince(pod: Pod): number | undefined {
  const condition = readyCondition(pod);
  if (condition?.status !== 'True' || condition.lastTransitionTime === null) return undefined;
  return Date.parse(condition.lastTransitionTime);
}

/** Ready for at least minReadySeconds. `now`: milliseconds since 1970. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = readySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 <= now;
}

/** When the next of these pods becomes available if it stays ready. Undefined: none will. */
export function nextAvailability(pods: Iterable<Pod>, minReadySeconds: number, now: number): number | undefined {
  let next: number | undefined;
  if (minReadySeconds <= 0) return next;
  for (const pod of pods) {
    const since = readySince(pod);
    if (since === undefined) continue;
    const at = since + minReadySeconds * 1000;
    if (at > now && (next === undefined || at < next)) next = at;
  }
  return next;
}
