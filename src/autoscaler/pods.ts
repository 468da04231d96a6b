/** Which pods the autoscaler acts for. */
import type { Pod } from '../api/generated/types.ts';
import { hasEnded } from '../storage/volumes/pods.ts';
import { annotations } from './labels.ts';

export const isOwnedByDaemonSet = ({ metadata }: Pod): boolean => metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') ?? false;
export const isStatic = ({ metadata }: Pod): boolean => metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;

/** The scheduler found no node for it, and a new node may help. */
export function isProvisionable(pod: Pod): boolean {
  const { metadata, spec, status } = pod;
  if ((spec.nodeName ?? '') !== '' || (status.nominatedNodeName ?? '') !== '' || metadata.deletionTimestamp !== undefined) return false;
  if (hasEnded(pod) || isOwnedByDaemonSet(pod) || isStatic(pod)) return false;
  return status.conditions?.some(({ type, status: state, reason }) => type === 'PodScheduled' && state === 'False' && reason === 'Unschedulable') ?? false;
}

/** It comes back elsewhere if its node goes. */
export const isReschedulable = (pod: Pod): boolean =>
  !hasEnded(pod) &&
  !isOwnedByDaemonSet(pod) &&
  !isStatic(pod) &&
  (pod.metadata.deletionTimestamp === undefined || (pod.metadata.ownerReferences?.some(({ kind }) => kind === 'StatefulSet') ?? false));

/**
 * Whether a drain has to wait until it is gone. Pods that are long overdue on a node that no longer answers are not waited for. On a node that is ready they
 * are, which Karpenter does not do: the kubelet may just be back, and a pod that still runs would lose its volumes while it writes.
 */
export function isDrainable(pod: Pod, { now, isReady }: { readonly now: number; readonly isReady: boolean }): boolean {
  if (isStatic(pod) || hasEnded(pod) || (!isReady && isStuckTerminating(pod, now))) return false;
  return !toleratesDisruption(pod);
}

/** Terminating for a minute longer than its grace period. */
const isStuckTerminating = ({ metadata }: Pod, now: number): boolean =>
  metadata.deletionTimestamp !== undefined && Date.parse(metadata.deletionTimestamp) + 60_000 < now;

/** A pod that tolerates the taint of a disrupted node stays until the node goes, as those of DaemonSets. */
const toleratesDisruption = ({ spec }: Pod): boolean =>
  (spec.tolerations ?? []).some(
    ({ key = '', operator = '', effect = '' }) =>
      (key === 'karpenter.sh/disrupted' || (key === '' && operator === 'Exists')) && (effect === '' || effect === 'NoSchedule'),
  );

export const mayNotBeDisrupted = ({ metadata }: Pod): boolean => metadata.annotations?.[annotations.doNotDisrupt] === 'true';
