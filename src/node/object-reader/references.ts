/** The objects that pods refer to, as far as the Node authorizer lets a node read them. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import { attachmentNameOf } from '../../storage/volumes/attachable.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { configOfContainer, configOfVolume } from '../volumes/config-references.ts';

export type ReferredKind = 'secrets' | 'configmaps' | 'persistentvolumeclaims' | 'persistentvolumes' | 'volumeattachments';

export interface Reference {
  readonly kind: ReferredKind;
  /** 'namespace/name', or 'name' of a cluster-scoped object. */
  readonly key: string;
}

/** By key; undefined: not there, or not read yet. */
export interface ReadObjects {
  claim(key: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
}

/** All that are known so far: a claim's volume is known once the claim has been read. */
export function referencesOf(
  pod: Pod,
  { node, sha256, known }: { readonly node: string; readonly sha256: (text: string) => string; readonly known: ReadObjects },
) {
  const { namespace = '' } = pod.metadata;
  const { volumes = [], containers, initContainers = [], imagePullSecrets = [] } = pod.spec;
  const files = [...volumes.flatMap(configOfVolume), ...[...initContainers, ...(containers ?? [])].flatMap(configOfContainer)];
  const references: Reference[] = files.map(({ kind, name }) => ({ kind: kind === 'secret' ? 'secrets' : 'configmaps', key: `${namespace}/${name}` }));
  for (const { name } of imagePullSecrets) addSecret(references, { namespace, name });
  for (const { secretRef } of volumes.flatMap(({ flexVolume, iscsi }) => flexVolume ?? iscsi ?? []))
    addSecret(references, { namespace, name: secretRef?.name });
  for (const { csi } of volumes) addSecret(references, { namespace, name: csi?.nodePublishSecretRef?.name });
  for (const claim of claimsOfPod(pod)) {
    references.push({ kind: 'persistentvolumeclaims', key: claim });
    const name = known.claim(claim)?.spec.volumeName ?? '';
    if (name === '') continue;
    references.push({ kind: 'persistentvolumes', key: name });
    const volume = known.volume(name);
    if (volume === undefined) continue;
    references.push(...referencesOfVolume(volume, node, sha256));
    // Without a namespace, it is in the claim's.
    const { secretRef } = volume.spec.iscsi ?? {};
    if (secretRef !== undefined) addSecret(references, { namespace, ...secretRef });
  }
  return references;
}

function referencesOfVolume(volume: PersistentVolume, node: string, sha256: (text: string) => string): readonly Reference[] {
  const references: Reference[] = [];
  const { csi, flexVolume } = volume.spec;
  for (const secret of [csi?.nodeStageSecretRef, csi?.nodePublishSecretRef, csi?.nodeExpandSecretRef, flexVolume?.secretRef]) addSecret(references, secret);
  const source = csiSourceOf(volume);
  if (source !== undefined) references.push({ kind: 'volumeattachments', key: attachmentNameOf(source, node, sha256) });
  return references;
}

function addSecret(references: Reference[], secret: { readonly namespace?: string; readonly name?: string | undefined } | undefined): void {
  const { namespace = '', name = '' } = secret ?? {};
  if (namespace !== '' && name !== '') references.push({ kind: 'secrets', key: `${namespace}/${name}` });
}
