/** Since when an object is in its state, as far as the object records it. */
import type { KubeObject } from '../../api/object.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { Volume } from '../../storage/volumes/volume.ts';

export function claimSince(claim: Claim, volume: Volume | undefined): string | undefined {
  const { object, phase } = claim;
  if (object.metadata.deletionTimestamp !== undefined) return object.metadata.deletionTimestamp;
  if (phase === 'Bound' && volume?.phase === 'Bound') return volume.object.status.lastPhaseTransitionTime ?? statusWritten(object, 'phase');
  if (phase === 'Pending' || phase === '') return object.metadata.creationTimestamp;
  return statusWritten(object, 'phase');
}

export function volumeSince({ object, phase }: Volume): string | undefined {
  const { deletionTimestamp, creationTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return deletionTimestamp;
  return object.status.lastPhaseTransitionTime ?? statusWritten(object, 'phase') ?? (phase === 'Pending' || phase === '' ? creationTimestamp : undefined);
}

/** When a field of the status was last written, if the server keeps managedFields. */
export function statusWritten({ metadata }: KubeObject, field: string): string | undefined {
  const times = (metadata.managedFields ?? []).flatMap(({ fieldsV1, time }) => {
    const status = fieldsV1?.['f:status'];
    return time !== undefined && typeof status === 'object' && status !== null && `f:${field}` in status ? [time] : [];
  });
  return times.sort().at(-1);
}

/** Milliseconds since 1970; undefined: there is no time in it. */
export function timeOf(text: string | null | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** A time that Date cannot show becomes the first or last that it can. */
export const rfc3339 = (time: number): string => new Date(Math.min(Math.max(time, -lastMoment), lastMoment)).toISOString().replace(/\.\d+Z$/, 'Z');

const lastMoment = 8.64e15;
