import type { DaemonSetStatus, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { isPodAvailable, isPodReady } from '../../pods/state.ts';
import { isUpToDate } from './daemon-pod.ts';
import { type PlacementSnapshot, oldestFirst } from './placement.ts';

/** Of several pods on a node the oldest counts. */
export function statusOf(snapshot: PlacementSnapshot, collisionCount: number | undefined): DaemonSetStatus {
  const { set, hash, eligibility, podsOn, now } = snapshot;
  const counted: Stored<Pod>[] = [];
  let [desired, misscheduled] = [0, 0];
  for (const [node, eligible] of eligibility) {
    const [pod] = [...(podsOn.get(node) ?? [])].sort(oldestFirst);
    if (eligible === 'run') desired++;
    if (pod === undefined) continue;
    if (eligible === 'run') counted.push(pod);
    else misscheduled++;
  }
  const available = counted.filter((pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now)).length;
  const { generation } = set.metadata;
  const { conditions } = set.status;
  return {
    currentNumberScheduled: counted.length,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: counted.filter(isPodReady).length,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...unlessZero('updatedNumberScheduled', counted.filter((pod) => isUpToDate(pod, set, hash)).length),
    ...unlessZero('numberAvailable', available),
    ...unlessZero('numberUnavailable', desired - available),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions === undefined ? {} : { conditions }),
  };
}

const unlessZero = (field: string, count: number): object => (count === 0 ? {} : { [field]: count });
