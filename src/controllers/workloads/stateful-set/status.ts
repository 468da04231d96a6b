import type { Pod, StatefulSet, StatefulSetStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { isPodAvailable, isPodReady } from '../../pods/state.ts';
import { revisionOf } from './identity.ts';
import type { History } from './revisions.ts';

export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

export const isRunningAndReady = (pod: Pod): boolean => pod.status.phase === 'Running' && isPodReady(pod);

/** Terminating, or not ready for minReadySeconds. */
export const isUnavailable = (pod: Pod, { spec }: StatefulSet, now: number): boolean =>
  isTerminating(pod) || !isPodAvailable(pod, spec.minReadySeconds ?? 0, now);

export interface StatusSnapshot {
  readonly pods: readonly Stored<Pod>[];
  readonly history: Pick<History, 'current' | 'update' | 'collisionCount'>;
}

/** The status that follows from these pods. */
export function statusOf(set: StatefulSet, { pods, history }: StatusSnapshot, now: number): StatefulSetStatus {
  const { current, update, collisionCount } = history;
  const ready = pods.filter(isRunningAndReady);
  const staying = pods.filter((pod) => !isTerminating(pod));
  const status = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: ready.length,
    currentReplicas: staying.filter((pod) => revisionOf(pod) === current.revision).length,
    updatedReplicas: staying.filter((pod) => revisionOf(pod) === update.revision).length,
    currentRevision: current.revision,
    updateRevision: update.revision,
    collisionCount,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now)).length,
  };
  return isUpdated(set, status) ? { ...status, currentReplicas: status.updatedReplicas, currentRevision: status.updateRevision } : status;
}

/** All wanted pods exist, are ready and updated: the update revision becomes the current one. */
function isUpdated({ spec }: StatefulSet, { replicas, readyReplicas, updatedReplicas }: Pick<StatefulSetStatus, 'replicas'> & Counts): boolean {
  const wanted = spec.replicas ?? 1;
  return spec.updateStrategy.type === 'RollingUpdate' && replicas === wanted && readyReplicas === wanted && updatedReplicas === wanted;
}

interface Counts {
  readonly readyReplicas: number;
  readonly updatedReplicas: number;
}

/** Whether `next` has to be written. */
export function isStatusChanged(next: StatefulSetStatus, before: StatefulSetStatus): boolean {
  const countsChanged = (['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const).some(
    (count) => (next[count] ?? 0) !== (before[count] ?? 0),
  );
  const revisionsChanged = next.currentRevision !== before.currentRevision || next.updateRevision !== before.updateRevision;
  return countsChanged || revisionsChanged || (next.observedGeneration ?? 0) > (before.observedGeneration ?? 0);
}
