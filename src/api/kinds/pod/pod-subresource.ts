import type { Pod } from '../../generated/types.ts';

/** How Kubernetes prints the path of what concerns a pod as a whole. */
export const wholePod = '[]';

const ownedByOthers = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'deletionTimestamp'] as const;

/** A subresource that writes some of the spec writes nothing of the metadata. */
export function keepMetadata({ metadata }: Pod, { metadata: old }: Pod): void {
  for (const field of ownedByOthers) {
    if (old[field] === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: old[field] });
  }
}
