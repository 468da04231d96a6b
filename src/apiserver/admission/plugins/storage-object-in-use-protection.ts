import type { Resource } from '../../objects/resources.ts';
import { type AdmissionPlugin, isResource } from '../chain.ts';

/** New PVCs, PVs and VolumeAttributesClasses get the finalizer that protects them while they are in use. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: (operation, resource, subresource) => operation === 'create' && subresource === '' && finalizerFor(resource) !== undefined,
  mutate: ({ object, resource }) => {
    const finalizer = finalizerFor(resource);
    const given = object.metadata.finalizers ?? [];
    if (finalizer !== undefined && !given.includes(finalizer)) object.metadata.finalizers = [...given, finalizer];
  },
};

function finalizerFor(resource: Resource): string | undefined {
  if (isResource(resource, '', 'persistentvolumeclaims')) return 'kubernetes.io/pvc-protection';
  if (isResource(resource, '', 'persistentvolumes')) return 'kubernetes.io/pv-protection';
  if (isResource(resource, 'storage.k8s.io', 'volumeattributesclasses')) return 'kubernetes.io/vac-protection';
  return undefined;
}
