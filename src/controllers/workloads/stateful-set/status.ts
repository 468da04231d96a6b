import type { Pod, StatefulSet, StatefulSetStatus } from '../../../api/generated/types.ts';
import { isPodAvailable, isPodReady } from '../../pods/state.ts';
import type { History } from './revisions.ts';

export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

export const isRunningAndReady = (pod: Pod): boolean => pod.status.phase === 'Running' && isPodReady(pod);

/** Terminating, or not ready for minReadySeconds. */
export const isUnavailable = (pod: Pod, { spec }: StatefulSet, now: number): boolean =>
  isTerminating(pod) || !isPodAvailable(pod, spec.minReadySeconds ?? 0, now);

/** The pods as they are counted. */
export interface CountedMembers {
  readonly replicas: number;
  readonly readyReplicas: number;
  availableReplicas(now: number): number;
  /** Pods of a revision that are not being deleted. */
  stayingReplicas(revision: string): number;
}

export interface StatusSnapshot {
  readonly members: CountedMembers;
  readonly history: Pick<History, 'current' | 'update' | 'collisionCount'>;
}

/** The status that follows from these pods. */
export function statusOf(set: StatefulSet, { members, history }: StatusSnapshot, now: number): StatefulSetStatus {
  const { current, update, collisionCount } = history;
  const status = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: members.replicas,
    readyReplicas: members.readyReplicas,
    currentReplicas: members.stayingReplicas(current.revision),
    updatedReplicas: members.stayingReplicas(update.revision),
    currentRevision: current.revision,
    updateRevision: update.revision,
    collisionCount,
    availableReplicas: members.availableReplicas(now),
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
