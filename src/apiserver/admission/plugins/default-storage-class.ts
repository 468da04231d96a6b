import type { PersistentVolumeClaim, StorageClass } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Resources } from '../../objects/resources.ts';
import { type AdmissionPlugin, isResource } from '../chain.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
const DEFAULT_CLASS_BETA = 'storageclass.beta.kubernetes.io/is-default-class';
const CLASS_OF_CLAIM_BETA = 'volume.beta.kubernetes.io/storage-class';

/** A PVC without storageClassName gets the default StorageClass; "" is none. */
export function defaultStorageClass(resources: Resources, reader: ClusterReader): AdmissionPlugin {
  const classes = resources.require('storage.k8s.io/v1', 'storageclasses');
  return {
    name: 'DefaultStorageClass',
    handles: (operation, resource, subresource) => operation === 'create' && subresource === '' && isResource(resource, '', 'persistentvolumeclaims'),
    mutate: async ({ object }) => {
      const claim = object as PersistentVolumeClaim;
      if (claim.spec.storageClassName !== undefined || claim.metadata.annotations?.[CLASS_OF_CLAIM_BETA] !== undefined) return;
      const chosen = newestDefault(await reader.list<StorageClass>(classes, ''))?.metadata.name;
      if (chosen !== undefined) claim.spec.storageClassName = chosen;
    },
  };
}

/** Of several default classes the newest wins; of equally old ones the first by name. */
export function newestDefault(classes: readonly Stored<StorageClass>[]): Stored<StorageClass> | undefined {
  const age = ({ metadata }: StorageClass): string => metadata.creationTimestamp ?? '';
  return classes.filter(isDefault).sort((a, b) => (age(a) === age(b) ? (a.metadata.name < b.metadata.name ? -1 : 1) : age(a) < age(b) ? 1 : -1))[0];
}

const isDefault = ({ metadata: { annotations = {} } }: StorageClass): boolean =>
  annotations[DEFAULT_CLASS] === 'true' || annotations[DEFAULT_CLASS_BETA] === 'true';
