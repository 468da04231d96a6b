import type { PersistentVolumeClaim, StorageClass } from '../../../api/generated/types.ts';
import { compareQuantities } from '../../../api/quantity.ts';
import type { Resources } from '../../objects/resources.ts';
import { type AdmissionPlugin, isResource } from '../chain.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import { admissionForbidden } from '../forbidden.ts';

/** A PVC may be expanded once it is bound, if its class has allowVolumeExpansion. */
export function persistentVolumeClaimResize(resources: Resources, reader: ClusterReader): AdmissionPlugin {
  const classes = resources.require('storage.k8s.io/v1', 'storageclasses');
  return {
    name: 'PersistentVolumeClaimResize',
    handles: (operation, resource, subresource) => operation === 'update' && subresource === '' && isResource(resource, '', 'persistentvolumeclaims'),
    validate: async (request) => {
      const claim = request.object as PersistentVolumeClaim;
      const old = request.old as PersistentVolumeClaim;
      if (compareQuantities(requestOf(claim), requestOf(old)) <= 0) return;
      if (old.status.phase !== 'Bound') throw admissionForbidden(request, 'Only bound persistent volume claims can be expanded');
      const name = classOf(claim);
      const allowed = name !== '' && name === classOf(old) && (await reader.get<StorageClass>(classes, '', name))?.allowVolumeExpansion === true;
      if (allowed) return;
      throw admissionForbidden(request, 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize');
    },
  };
}

const requestOf = ({ spec }: PersistentVolumeClaim): string => spec.resources.requests?.['storage'] ?? '0';

/** The beta annotation takes precedence over the field. */
export const classOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName ?? '';
