import type { DownwardAPIVolumeFile, Pod } from '../../api/generated/types.ts';
import { type FieldValue, metadataField, resourceField } from '../../api/downward-api.ts';
import { type DriverAnswer, failed, type NodeDriver } from '../contract.ts';
import type { EmptyDirOptions } from '../empty-dir/node.ts';
import { apiFilesDriver } from '../api-files/api-files-driver.ts';
import type { Payload, FileProjection } from '../api-files/payload.ts';

export interface DownwardApiOptions extends EmptyDirOptions {
  /** What the node can give to pods, by resource. */
  readonly allocatable: () => Readonly<Record<string, string>>;
}

/** What a pod is told about itself, as files: kubernetes.io/downward-api. */
export function downwardApiNode(options: DownwardApiOptions): NodeDriver {
  return apiFilesDriver(
    {
      name: 'kubernetes.io/downward-api',
      medium: 'memory',
      payload: ({ volume: { source }, pod }) => {
        const { items = [], defaultMode = 0o644 } = source.downwardAPI ?? {};
        const made = downwardApiPayload(items, pod, { defaultMode, allocatable: options.allocatable() });
        return made.ok ? { ok: true, value: { payload: made.value } } : made;
      },
    },
    options,
  );
}

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
  return errors.length === 0 ? { ok: true, value: payload } : failed('InvalidArgument', aggregate(errors));
}

type Reference = { readonly [Key in 'fieldRef' | 'resourceFieldRef']: DownwardAPIVolumeFile[Key] | undefined };

function valueOf({ fieldRef, resourceFieldRef }: Reference, pod: Pod, allocatable: Readonly<Record<string, string>>): FieldValue {
  if (fieldRef !== undefined) return metadataField(pod, fieldRef.fieldPath);
  return resourceFieldRef === undefined ? { ok: true, value: '' } : resourceField(pod, resourceFieldRef, allocatable);
}

/** As Go prints a list of errors. */
export function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}
