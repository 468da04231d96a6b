/** Snapshots and contents with one thing changed; the same object if nothing changes. */
import { timestamp } from '../../api/kinds/timestamps.ts';
import type {
  SnapshotError,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotContentStatus,
  VolumeSnapshotStatus,
} from '../../api/kinds/snapshot/volume-snapshot.ts';
import { formatQuantity, quantityOf } from '../../api/quantity.ts';
import type { KubeObject } from '../../api/object.ts';
import type { DriverSnapshot } from '../../drivers/contract.ts';
import { withFinalizers } from '../volumes/edits.ts';

export const isReady = ({ status }: { readonly status?: { readonly readyToUse?: boolean } }): boolean => status?.readyToUse === true;
export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
export const hasFinalizer = ({ metadata }: KubeObject, finalizer: string): boolean => metadata.finalizers?.includes(finalizer) === true;
export const hasAnnotation = ({ metadata }: KubeObject, key: string): boolean => Object.hasOwn(metadata.annotations ?? {}, key);

export const addFinalizers = <T extends KubeObject>(object: T, wanted: readonly string[]): T => {
  const had = object.metadata.finalizers ?? [];
  return withFinalizers(object, [...had, ...wanted.filter((finalizer) => !had.includes(finalizer))]);
};

export const removeFinalizers = <T extends KubeObject>(object: T, unwanted: readonly string[]): T =>
  withFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((finalizer) => !unwanted.includes(finalizer)),
  );

interface Failing {
  readonly error?: SnapshotError;
  readonly readyToUse?: boolean;
}

/** The error of a status; unchanged if it is the same already. `ready`: whether readyToUse is left as it is. */
export function withError<T extends KubeObject & { status?: Failing }>(
  object: T,
  message: string,
  { now, keepReady = false }: { now: number; keepReady?: boolean },
): T {
  if (object.status?.error?.message === message) return object;
  return { ...object, status: { ...object.status, ...(keepReady ? {} : { readyToUse: false }), error: { message, time: timestamp(now) } } };
}

const MS = 1_000_000;

/** The status of a content after an answer of its driver. What was known stays. */
export function contentStatusAfter(status: VolumeSnapshotContentStatus | undefined, answer: DriverSnapshot, now: number): VolumeSnapshotContentStatus {
  const { error, ...known } = status ?? {};
  const groupHandle = known.volumeGroupSnapshotHandle ?? answer.groupHandle;
  const restoreSize = known.restoreSize ?? (answer.sizeBytes > 0 ? answer.sizeBytes : undefined);
  return {
    ...known,
    snapshotHandle: known.snapshotHandle ?? answer.handle,
    readyToUse: answer.readyToUse,
    creationTime: known.creationTime ?? (answer.creationTime > 0 ? answer.creationTime : now) * MS,
    ...(restoreSize === undefined ? {} : { restoreSize }),
    ...(groupHandle === undefined || groupHandle === '' ? {} : { volumeGroupSnapshotHandle: groupHandle }),
    // An error is over once the snapshot is ready.
    ...(error === undefined || answer.readyToUse ? {} : { error }),
  };
}

/** Nothing of the snapshot is left in the storage system. */
export function withoutSnapshot(content: VolumeSnapshotContent): VolumeSnapshotContent {
  const { snapshotHandle: _handle, readyToUse: _ready, creationTime: _time, restoreSize: _size, ...rest } = content.status ?? {};
  return { ...content, status: rest };
}

/** The status of a snapshot that is bound to the content. The same status if nothing changes. */
export function snapshotStatusFrom({ status = {} }: VolumeSnapshot, content: VolumeSnapshotContent, groupName: string | undefined): VolumeSnapshotStatus {
  const of = content.status ?? {};
  const { error: oldError, ...known } = status;
  const readyToUse = of.readyToUse ?? false;
  const restoreSize =
    hasSize(known.restoreSize) || of.restoreSize === undefined ? known.restoreSize : formatQuantity(quantityOf(BigInt(of.restoreSize), 'BinarySI'));
  const creationTime = known.creationTime ?? (of.creationTime === undefined ? undefined : timestamp(of.creationTime / MS));
  const volumeGroupSnapshotName = known.volumeGroupSnapshotName ?? groupName;
  const next: VolumeSnapshotStatus = {
    ...known,
    boundVolumeSnapshotContentName: known.boundVolumeSnapshotContentName ?? content.metadata.name ?? '',
    readyToUse,
    ...(creationTime === undefined ? {} : { creationTime }),
    ...(restoreSize === undefined ? {} : { restoreSize }),
    ...(volumeGroupSnapshotName === undefined ? {} : { volumeGroupSnapshotName }),
    ...(of.error === undefined ? {} : { error: of.error }),
  };
  return sameStatus(next, { ...known, ...(oldError === undefined ? {} : { error: oldError }) }) ? status : next;
}

const hasSize = (size: string | number | undefined): boolean => size !== undefined && size !== 0 && size !== '0';

const sameStatus = (a: VolumeSnapshotStatus, b: VolumeSnapshotStatus): boolean =>
  a.boundVolumeSnapshotContentName === b.boundVolumeSnapshotContentName &&
  a.readyToUse === b.readyToUse &&
  a.creationTime === b.creationTime &&
  a.restoreSize === b.restoreSize &&
  a.volumeGroupSnapshotName === b.volumeGroupSnapshotName &&
  a.error?.message === b.error?.message;
