/** Kubernetes' messages. */
import type { StorageClass } from '../../api/generated/types.ts';
import type { IntentClaim } from '../../api/volumes/intent.ts';
import { isInTree } from '../../api/volumes/csi-migration.ts';

const nameOf = ({ metadata }: StorageClass): string => metadata.name ?? '';

export const messages = {
  classNotFound: (name: string) => `storageclass.storage.k8s.io "${name}" not found`,
  noPlugin: (provisioner: string) =>
    provisioner === 'kubernetes.io/nfs' ? 'no provisionable volume plugin matched' : `no volume plugin matched name: ${provisioner}`,
  externalProvisioning: (provisioner: string) =>
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
    'If volume creation is delayed, please verify that the provisioner is running and correctly registered.',
  dataSource: (plugin: string) => `plugin "${plugin}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`,
  mountOptions: (storageClass: StorageClass) =>
    `Mount options are not supported by the provisioner but StorageClass "${nameOf(storageClass)}" has mount options [${(storageClass.mountOptions ?? []).join(' ')}]`,
  nodeNotFound: (driver: string, node: string) => `${isInTree(driver) ? 'Failed to get target node: ' : ''}node "${node}" not found`,
  failed: (driver: string, className: string, why: string) =>
    `${isInTree(driver) ? 'Failed' : 'failed'} to provision volume with StorageClass "${className}": ${why}`,
  noBlock: (plugin: string) => `${plugin} does not support block volume provisioning`,
  zones:
    'zone[s] cannot be specified in StorageClass if VolumeBindingMode is set to WaitForFirstConsumer. Please specify allowedTopologies in StorageClass for constraining zones',
  succeeded: (volume: string, driver: string) =>
    isInTree(driver) ? `Successfully provisioned volume ${volume} using ${driver}` : `Successfully provisioned volume ${volume}`,
  refused: ({ namespace, name }: IntentClaim, why: string) =>
    `Error creating provisioned PV object for claim ${namespace}/${name}: ${why}. Deleting the volume.`,
  cleanupFailed: ({ namespace, name }: IntentClaim, why: string) =>
    `Error cleaning provisioned volume for claim ${namespace}/${name}: ${why}. Please delete manually.`,
} as const;
