/** The resize fields and conditions of a claim's status, as with Kubernetes' RecoverVolumeExpansionFailure. The same claim if nothing changes. */
import type { PersistentVolumeClaim, PersistentVolumeClaimCondition } from '../../api/generated/types.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { conditionTime, withConditions } from './claim-conditions.ts';
import { withAnnotations } from './edits.ts';

/** status.allocatedResourceStatuses of a claim; '': none. */
export type ResizeStatus =
  | ''
  | 'ControllerResizeInProgress'
  | 'ControllerResizeInfeasible'
  | 'NodeResizePending'
  | 'NodeResizeInProgress'
  | 'NodeResizeInfeasible';

const resizeStatuses: ReadonlySet<string> = new Set<ResizeStatus>([
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizePending',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
]);

const isResizeStatus = (text: string): text is ResizeStatus => resizeStatuses.has(text);

/** An unknown status counts as none. */
export function resizeStatusOf({ status }: PersistentVolumeClaim): ResizeStatus {
  const resizeStatus = status.allocatedResourceStatuses?.['storage'] ?? '';
  return isResizeStatus(resizeStatus) ? resizeStatus : '';
}

const resizeConditions: ReadonlySet<string> = new Set(['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError']);
const none: ReadonlySet<string> = new Set();

/** A driver is about to be asked for `size`. If it was asked for this size before, the conditions of that attempt stay. */
export function markControllerResizing(
  claim: PersistentVolumeClaim,
  size: string,
  { isNew, now }: { readonly isNew: boolean; readonly now: number },
): PersistentVolumeClaim {
  const marked = withConditions(claim, [condition('Resizing', now)], isNew ? resizeConditions : none);
  const resizing = isNew ? withResizeStatus(marked, 'ControllerResizeInProgress') : marked;
  const { allocatedResources } = resizing.status;
  const sized =
    allocatedResources?.['storage'] === size
      ? resizing
      : { ...resizing, status: { ...resizing.status, allocatedResources: { ...allocatedResources, storage: size } } };
  return withAnnotations(sized, { [annotations.nodeExpansionNotRequired]: undefined });
}

/** The volume is expanded; the node has to resize the file system. */
export function markNodeResizePending(claim: PersistentVolumeClaim, now: number): PersistentVolumeClaim {
  const message = 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.';
  const marked = withConditions(claim, [condition('FileSystemResizePending', now, message)], none);
  return withAnnotations(withResizeStatus(marked, 'NodeResizePending'), { [annotations.nodeExpansionNotRequired]: undefined });
}

interface ResizeFailure {
  readonly infeasible: boolean;
  readonly now: number;
}

const failedIn =
  (part: 'Controller' | 'Node') =>
  (claim: PersistentVolumeClaim, why: string, { infeasible, now }: ResizeFailure): PersistentVolumeClaim => {
    const marked = withConditions(claim, [condition(`${part}ResizeError`, now, `failed to expand pvc with ${why}`)], none);
    return infeasible ? withResizeStatus(marked, `${part}ResizeInfeasible`) : marked;
  };

export const markControllerResizeFailed = failedIn('Controller');

/** The node is about to resize the file system. */
export const markNodeResizing = (claim: PersistentVolumeClaim): PersistentVolumeClaim => withResizeStatus(claim, 'NodeResizeInProgress');

/** The node's resize failed. */
export const markNodeResizeFailed = failedIn('Node');

/** Volume and file system have the size. */
export function markResizeFinished(claim: PersistentVolumeClaim, size: string): PersistentVolumeClaim {
  const cleared = withResizeStatus(withConditions(claim, [], resizeConditions), '');
  const { capacity } = cleared.status;
  return capacity?.['storage'] === size ? cleared : { ...cleared, status: { ...cleared.status, capacity: { ...capacity, storage: size } } };
}

function condition(type: string, now: number, message?: string): PersistentVolumeClaimCondition {
  return { type, status: 'True', lastProbeTime: null, lastTransitionTime: conditionTime(now), ...(message === undefined ? {} : { message }) };
}

function withResizeStatus(claim: PersistentVolumeClaim, resizeStatus: ResizeStatus): PersistentVolumeClaim {
  const { storage: before, ...others } = claim.status.allocatedResourceStatuses ?? {};
  if ((before ?? '') === resizeStatus) return claim;
  const statuses = resizeStatus === '' ? others : { ...others, storage: resizeStatus };
  const { allocatedResourceStatuses: _, ...rest } = claim.status;
  return { ...claim, status: Object.keys(statuses).length === 0 ? rest : { ...rest, allocatedResourceStatuses: statuses } };
}
