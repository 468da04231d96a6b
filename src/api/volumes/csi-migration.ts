/** In-tree plugins that Kubernetes has removed, and the CSI drivers that they migrated to. */
const csiDrivers: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com'],
  ['kubernetes.io/gce-pd', 'pd.csi.storage.gke.io'],
  ['kubernetes.io/azure-disk', 'disk.csi.azure.com'],
  ['kubernetes.io/azure-file', 'file.csi.azure.com'],
  ['kubernetes.io/cinder', 'cinder.csi.openstack.org'],
  ['kubernetes.io/vsphere-volume', 'csi.vsphere.vmware.com'],
  ['kubernetes.io/portworx-volume', 'pxd.portworx.com'],
]);

/** Plugins whose classes could name a zone in their parameters, before there was allowedTopologies. */
const zonal: ReadonlySet<string> = new Set(['kubernetes.io/aws-ebs', 'kubernetes.io/gce-pd', 'kubernetes.io/azure-disk']);

export const knowsZoneParameters = (provisioner: string): boolean => zonal.has(provisioner);

/** All of them, by name. */
export const migratedPlugins: readonly string[] = [...csiDrivers.keys()].sort();

/** The CSI driver of a migrated in-tree plugin. */
export const csiDriverOf = (provisioner: string): string | undefined => csiDrivers.get(provisioner);

/** Provisioners of this prefix are Kubernetes' own: no external provisioner answers for an unknown one. */
export const isInTree = (provisioner: string): boolean => provisioner.startsWith('kubernetes.io/');
