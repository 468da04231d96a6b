/** The resize fields and conditions of a claim's status, as with Kubernetes' RecoverVolumeExpansionFailure. The same claim if nothing changes. */
import type { PersistentVolumeClaim, PersistentVolumeClaimCondition, PersistentVolumeClaimStatus } from '../../api/generated/types.ts';
import { annotations } from '../../api/volumes/annotations.ts';
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

/** A driver is about to be asked for `size`. If it was asked for this size before, the conditions of that attempt stay. */
export function markControllerResizing(
  claim: PersistentVolumeClaim,
  size: string,
  { isNew, now }: { readonly isNew: boolean; readonly now: number },
): PersistentVolumeClaim {
  const marked = withConditions(claim, [condition('Resizing', now)], { keepOthers: !isNew });
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
  const marked = withConditions(claim, [condition('FileSystemResizePending', now, message)], { keepOthers: true });
  return withAnnotations(withResizeStatus(marked, 'NodeResizePending'), { [annotations.nodeExpansionNotRequired]: undefined });
}

interface ResizeFailure {
  readonly infeasible: boolean;
  readonly now: number;
}

const failedIn =
  (part: 'Controller' | 'Node') =>
  (claim: PersistentVolumeClaim, why: string, { infeasible, now }: ResizeFailure): PersistentVolumeClaim => {
    const marked = withConditions(claim, [condition(`${part}ResizeError`, now, `failed to expand pvc with ${why}`)], { keepOthers: true });
    return infeasible ? withResizeStatus(marked, `${part}ResizeInfeasible`) : marked;
  };

export const markControllerResizeFailed = failedIn('Controller');

/** The node is about to resize the file system. */
export const markNodeResizing = (claim: PersistentVolumeClaim): PersistentVolumeClaim => withResizeStatus(claim, 'NodeResizeInProgress');

/** The node's resize failed. */
export const markNodeResizeFailed = failedIn('Node');

/** Volume and file system have the size. */
export function markResizeFinished(claim: PersistentVolumeClaim, size: string): PersistentVolumeClaim {
  const cleared = withResizeStatus(withConditions(claim, [], { keepOthers: false }), '');
  const { capacity } = cleared.status;
  return capacity?.['storage'] === size ? cleared : { ...cleared, status: { ...cleared.status, capacity: { ...capacity, storage: size } } };
}

function condition(type: string, now: number, message?: string): PersistentVolumeClaimCondition {
  const lastTransitionTime = `${new Date(now).toISOString().slice(0, 19)}Z`;
  return { type, status: 'True', lastProbeTime: null, lastTransitionTime, ...(message === undefined ? {} : { message }) };
}

/** Other conditions stay. A condition that holds already keeps its times. */
function withConditions(
  claim: PersistentVolumeClaim,
  wanted: readonly PersistentVolumeClaimCondition[],
  { keepOthers }: { readonly keepOthers: boolean },
): PersistentVolumeClaim {
  const before = claim.status.conditions ?? [];
  const kept = before.flatMap((old) => {
    const next = wanted.find(({ type }) => type === old.type);
    if (next !== undefined) return [next.status === old.status && next.message === old.message ? old : next];
    return resizeConditions.has(old.type) && !keepOthers ? [] : [old];
  });
  const after = [...kept, ...wanted.filter(({ type }) => !before.some((old) => old.type === type))];
  const isSame = after.length === before.length && after.every((each, i) => each === before[i]);
  return isSame ? claim : { ...claim, status: withField(claim.status, 'conditions', after.length === 0 ? undefined : after) };
}

function withResizeStatus(claim: PersistentVolumeClaim, resizeStatus: ResizeStatus): PersistentVolumeClaim {
  const { storage: before, ...others } = claim.status.allocatedResourceStatuses ?? {};
  if ((before ?? '') === resizeStatus) return claim;
  const statuses = resizeStatus === '' ? others : { ...others, storage: resizeStatus };
  return { ...claim, status: withField(claim.status, 'allocatedResourceStatuses', Object.keys(statuses).length === 0 ? undefined : statuses) };
}

function withField<K extends 'conditions' | 'allocatedResourceStatuses'>(
  status: PersistentVolumeClaimStatus,
  field: K,
  value: PersistentVolumeClaimStatus[K],
): PersistentVolumeClaimStatus {
  const { [field]: _, ...rest } = status;
  return value === undefined ? rest : { ...rest, [field]: value };
}
