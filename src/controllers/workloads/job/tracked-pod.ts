/** What the Job controller reads from pods. */
import type { ContainerStatus, Job, Pod } from '../../../api/generated/types.ts';

/** Keeps a pod until it is counted. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';
export const INDEX_IGNORED_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === 'Indexed';

export const isSuspended = ({ spec }: Job): boolean => spec.suspend === true;

/** Such a Job waits for terminating pods before it counts and replaces them. */
export const replacesOnlyEnded = ({ spec }: Job): boolean => spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;

/** The completion index of a pod. Undefined: missing or invalid. */
export function completionIndex({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX] ?? '';
  return /^\+?\d+$/.test(text) ? Number(text) : undefined;
}

/** The completion index, if it is below the Job's completions. */
export function validIndex(pod: Pod, { spec }: Job): number | undefined {
  const index = completionIndex(pod);
  return index !== undefined && index < (spec.completions ?? 0) ? index : undefined;
}

/** A terminating pod counts as failed, unless the Job waits for its end: its phase may never become Failed. */
export function hasFailed({ metadata, status }: Pod, job: Job): boolean {
  if (status.phase === 'Failed') return true;
  return !replacesOnlyEnded(job) && metadata.deletionTimestamp !== undefined && status.phase !== 'Succeeded';
}

export const hasSucceeded = ({ status }: Pod): boolean => status.phase === 'Succeeded';

/** How many counted failures the index had before this pod. */
export const failuresBefore = (pod: Pod): number => countIn(pod, INDEX_FAILURES);

/** How many failures the policy ignored. */
export const ignoredFailuresBefore = (pod: Pod): number => countIn(pod, INDEX_IGNORED_FAILURES);

function countIn({ metadata }: Pod, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? '';
  return /^\+?\d+$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : 0;
}

/** When a pod ended, as far as its status shows; milliseconds since 1970. */
export function endOf(pod: Pod): number {
  const { metadata, status } = pod;
  const inContainers = endOfContainers(pod);
  if (inContainers !== undefined) return inContainers;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'False' && ready.lastTransitionTime !== null) return Date.parse(ready.lastTransitionTime);
  if (metadata.deletionTimestamp !== undefined) return Date.parse(metadata.deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return Date.parse(metadata.creationTimestamp ?? '');
}

/** When the last of its containers ended; sidecars end after the others. Undefined: not all have ended. */
function endOfContainers({ spec, status }: Pod): number | undefined {
  const sidecars = new Set((spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name))];
  const ends = all.map(endOfContainer);
  return ends.length === 0 || ends.includes(undefined) ? undefined : Math.max(...ends.filter((end) => end !== undefined));
}

function endOfContainer({ state }: ContainerStatus): number | undefined {
  const end = state?.terminated?.finishedAt ?? null;
  return end === null ? undefined : Date.parse(end);
}
