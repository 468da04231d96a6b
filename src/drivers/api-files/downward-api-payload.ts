/** The files of downwardAPI items. */
import { type FieldValue, metadataField, resourceField } from '../../api/downward-api.ts';
import type { DownwardAPIVolumeFile, Pod } from '../../api/generated/types.ts';
import { type DriverAnswer, failed, succeeded } from '../contract.ts';
import type { FileProjection, Payload } from './payload.ts';

export function downwardApiPayload(
  items: readonly DownwardAPIVolumeFile[],
  pod: Pod,
  { defaultMode, allocatable }: { readonly defaultMode: number; readonly allocatable: Readonly<Record<string, string>> },
): DriverAnswer<Payload> {
  const payload = new Map<string, FileProjection>();
  const errors: string[] = [];
  for (const { path, mode = defaultMode, fieldRef, resourceFieldRef } of items) {
    const found = valueOf({ fieldRef, resourceFieldRef }, pod, allocatable);
    if (found.ok) payload.set(path, { bytes: new TextEncoder().encode(found.value), mode });
    else errors.push(found.error);
  }
  return errors.length === 0 ? succeeded(payload) : failed('InvalidArgument', aggregate(errors));
}

type Reference = { readonly [Key in 'fieldRef' | 'resourceFieldRef']: DownwardAPIVolumeFile[Key] | undefined };

function valueOf({ fieldRef, resourceFieldRef }: Reference, pod: Pod, allocatable: Readonly<Record<string, string>>): FieldValue {
  if (fieldRef !== undefined) return metadataField(pod, fieldRef.fieldPath);
  return resourceFieldRef === undefined ? succeeded('') : resourceField(pod, resourceFieldRef, allocatable);
}

/** In the format of Kubernetes' utilerrors.Aggregate. */
export function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}
