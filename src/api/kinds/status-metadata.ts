import type { ObjectMeta } from '../generated/types.ts';

/** A write to the status of some kinds leaves labels, annotations, finalizers and owners alone; who owns which field is written all the same. */
export function keepMetadata({ metadata }: { readonly metadata: ObjectMeta }, old: { readonly metadata: ObjectMeta }): void {
  for (const key of ['labels', 'annotations', 'finalizers', 'ownerReferences', 'deletionTimestamp'] as const) {
    const value = old.metadata[key];
    if (value === undefined) delete metadata[key];
    else Object.assign(metadata, { [key]: value });
  }
}
