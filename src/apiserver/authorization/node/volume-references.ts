import type { PersistentVolume, SecretReference } from '../../../api/generated/types.ts';
import type { Reference } from './pod-references.ts';

/** The secrets that a node needs to mount a volume. Those that only controllers need are none of its business. */
export function volumeReferences({ spec }: PersistentVolume): readonly Reference[] {
  const ofClaim = spec.claimRef?.namespace ?? '';
  // Volumes from before there was a namespace in the reference mean the claim's.
  const within = (reference: SecretReference | undefined): SecretReference | undefined =>
    reference === undefined ? undefined : { ...reference, namespace: (reference.namespace ?? '') === '' ? ofClaim : (reference.namespace ?? '') };
  const file = spec.azureFile;
  const references: readonly (SecretReference | undefined)[] = [
    within(file === undefined ? undefined : { name: file.secretName, namespace: file.secretNamespace ?? '' }),
    within(spec.cephfs?.secretRef),
    spec.cinder?.secretRef,
    within(spec.flexVolume?.secretRef),
    within(spec.rbd?.secretRef),
    within(spec.scaleIO?.secretRef ?? undefined),
    within(spec.iscsi?.secretRef),
    spec.storageos?.secretRef,
    spec.csi?.nodePublishSecretRef,
    spec.csi?.nodeStageSecretRef,
    spec.csi?.nodeExpandSecretRef,
  ];
  return references.flatMap((reference): Reference[] =>
    (reference?.name ?? '') === '' ? [] : [{ kind: 'secrets', namespace: reference?.namespace ?? '', name: reference?.name ?? '' }],
  );
}
