/** Kubernetes' messages. */
import type { StorageClass } from '../../api/generated/types.ts';
import { snapshotGroup } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { IntentClaim } from '../../api/volumes/intent.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { isInTree } from '../../api/volumes/csi-migration.ts';
import { type DataSource, showDataSource } from '../volumes/data-source.ts';

const nameOf = ({ metadata }: StorageClass): string => metadata.name ?? '';

/** external-provisioner's messages for the sources that a driver does not report the capability for (v6, `prepareProvision`). */
function unsupported({ kind, group }: DataSource): string {
  if (kind === 'PersistentVolumeClaim' && group === '')
    return 'CSI driver does not support clone operations: controller CLONE_VOLUME capability is not reported';
  if (kind !== 'VolumeSnapshot') return `data source (${kind}) is not handled by the provisioner, and no volume populator has provided a volume`;
  return group === snapshotGroup
    ? 'CSI driver does not support snapshot restore: controller CREATE_DELETE_SNAPSHOT capability is not reported'
    : `the PVC source does not belong to the right APIGroup. Expected ${snapshotGroup}, Got ${group}`;
}

export const messages = {
  /** Upstream does not say how it is enabled. */
  crossNamespaceDisabled: (source: DataSource) =>
    `dataSourceRef namespace specified but the CrossNamespaceVolumeDataSource feature is disabled: ${showDataSource(source)}; ` +
    `annotation ${annotations.provisionerFlags} of the CSIDriver with --feature-gates=CrossNamespaceVolumeDataSource=true enables it, where the controllers are built-in`,
  /** Upstream does not say what would be right. */
  notGranted: ({ namespace, name, kind }: DataSource, claim: IntentClaim) =>
    `accessing ${namespace}/${name} of ${kind} dataSource from ${claim.namespace}/${claim.name} isn't allowed: no ReferenceGrant in namespace ${namespace} allows it`,
  populated: 'Assuming an external populator will provision the volume',
  classNotFound: (name: string) => `storageclass.storage.k8s.io "${name}" not found`,
  noPlugin: (provisioner: string) =>
    provisioner === 'kubernetes.io/nfs' ? 'no provisionable volume plugin matched' : `no volume plugin matched name: ${provisioner}`,
  externalProvisioning: (provisioner: string) =>
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
    'If volume creation is delayed, please verify that the provisioner is running and correctly registered.',
  dataSource: (driver: string, className: string, source: DataSource) => {
    const fix = `${showDataSource(source)}; create the claim again without it, or with a StorageClass whose provisioner supports it`;
    const why = isInTree(driver)
      ? `plugin "${driver}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`
      : `failed to provision volume with StorageClass "${className}": ${unsupported(source)}`;
    return `${why}: ${fix}`;
  },
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
