import type { ContainerStatus, Pod } from '../../api/generated/types.ts';
import { claimKey } from './claim.ts';

/** 'namespace/name' of the claims that a pod uses, those of generic ephemeral volumes included. */
export function claimsOfPod({ metadata, spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return claimKey(metadata.namespace ?? '', persistentVolumeClaim.claimName);
    return ephemeral === undefined ? [] : claimKey(metadata.namespace ?? '', `${metadata.name ?? ''}-${name}`);
  });
}

/** The pod's containers have ended, and will not be started again. */
export function hasEnded({ metadata, status }: Pod): boolean {
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return true;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return metadata.deletionTimestamp !== undefined && ![...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].some(isRunning);
}

const isRunning = ({ state }: ContainerStatus): boolean => state.terminated === undefined && state.waiting === undefined;
