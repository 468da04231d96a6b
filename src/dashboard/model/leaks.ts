import type { StorageView } from './storage-view.ts';

/** Storage that costs and serves no pod. */
export interface Leaks {
  readonly released: readonly LeakedVolume[];
  /** Available: no claim was ever bound to them. */
  readonly available: readonly LeakedVolume[];
  readonly unused: readonly UnusedClaim[];
  readonly lost: readonly UnusedClaim[];
  readonly attachments: readonly StrayAttachment[];
}

export interface LeakedVolume {
  readonly name: string;
  readonly phase: string;
  readonly size: string;
  readonly reclaimPolicy: string;
  /** The claim it was bound to: 'shop/data'; '': none. */
  readonly claim: string;
  readonly created: string;
}

export interface UnusedClaim {
  readonly namespace: string;
  readonly name: string;
  readonly size: string;
  readonly volumeName: string;
  readonly created: string;
}

/** A VolumeAttachment whose node or volume is gone. */
export interface StrayAttachment {
  readonly name: string;
  readonly volumeName: string;
  readonly node: string;
  readonly missing: 'node' | 'volume';
}

export function leaksOf(view: StorageView): Leaks {
  const { claims, volumes, attachments } = view.lists;
  const of = (phases: readonly string[]) => volumes.filter(({ status }) => phases.includes(status.phase ?? '')).map(leakedVolume);
  return {
    released: of(['Released', 'Failed']),
    available: of(['Available']),
    unused: claims
      .filter(({ status, metadata }) => status.phase === 'Bound' && view.podsOf(metadata.namespace ?? '', metadata.name).length === 0)
      .map(unusedClaim),
    lost: claims.filter(({ status }) => status.phase === 'Lost').map(unusedClaim),
    attachments: attachments.flatMap(({ metadata: { name }, spec }) => {
      const volumeName = spec.source.persistentVolumeName ?? '';
      const missing = view.node(spec.nodeName) === undefined ? 'node' : volumeName !== '' && view.volume(volumeName) === undefined ? 'volume' : undefined;
      return missing === undefined ? [] : [{ name, volumeName, node: spec.nodeName, missing }];
    }),
  };
}

function leakedVolume({ metadata, spec, status }: StorageView['lists']['volumes'][number]): LeakedVolume {
  const { claimRef } = spec;
  return {
    name: metadata.name,
    phase: status.phase ?? '',
    size: spec.capacity?.['storage'] ?? '',
    reclaimPolicy: spec.persistentVolumeReclaimPolicy ?? '',
    claim: claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`,
    created: metadata.creationTimestamp ?? '',
  };
}

const unusedClaim = ({ metadata, spec, status }: StorageView['lists']['claims'][number]): UnusedClaim => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  size: status.capacity?.['storage'] ?? spec.resources.requests?.['storage'] ?? '',
  volumeName: spec.volumeName ?? '',
  created: metadata.creationTimestamp ?? '',
});
