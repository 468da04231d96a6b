/** The annotations and finalizers in which Kubernetes keeps the state of volumes and claims. Only `readVolume` and `readClaim` read them raw. */

/** Of the first two only the presence matters, of all others the value. */
export const annotations = {
  /** Claim: it was bound once, and never gets another volume. */
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  /** Claim or volume: the controller set volumeName or claimRef, not a user. */
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  /** Claim: the node for which the scheduler wants the volume provisioned. */
  selectedNode: 'volume.kubernetes.io/selected-node',
  /** Volume: the provisioner that created it. */
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  /** Volume or claim of a migrated in-tree plugin: its CSI driver. */
  migratedTo: 'pv.kubernetes.io/migrated-to',
  /** Claim: the provisioner that has to create its volume. */
  storageProvisioner: 'volume.kubernetes.io/storage-provisioner',
  betaStorageProvisioner: 'volume.beta.kubernetes.io/storage-provisioner',
  /** Claim or volume: the class, as it was written before there was a field for it. It wins over the field. */
  betaStorageClass: 'volume.beta.kubernetes.io/storage-class',
  /** Volume that is expanded before its file system: the size that pods have so far. */
  preResizeCapacity: 'volume.alpha.kubernetes.io/pre-resize-capacity',
  /** Claim: the resizer that expands its volume. */
  storageResizer: 'volume.kubernetes.io/storage-resizer',
  /** Claim whose volume was expanded: the file system needs no resize. */
  nodeExpansionNotRequired: 'volume.kubernetes.io/node-expansion-not-required',
  /** Volume of a CSI driver: the Secret with which it is deleted; '' for none. */
  deletionSecretName: 'volume.kubernetes.io/provisioner-deletion-secret-name',
  deletionSecretNamespace: 'volume.kubernetes.io/provisioner-deletion-secret-namespace',
  /** Volume of a CSI driver: the Secret with which it is modified. */
  modifySecretName: 'volume.kubernetes.io/controller-modify-secret-name',
  modifySecretNamespace: 'volume.kubernetes.io/controller-modify-secret-namespace',
  /** Class: claims without a class get this one. */
  defaultClass: 'storageclass.kubernetes.io/is-default-class',
  betaDefaultClass: 'storageclass.beta.kubernetes.io/is-default-class',
  /** Volume: a label selector; only claims with such labels may take it. Mooring's own, opt-in. */
  claimSelector: 'mooring.dev/claim-selector',
  /** Class: `true`: a driver of this process expands its volumes although Kubernetes' plugin of that name cannot. Mooring's own, opt-in. */
  expand: 'mooring.dev/expand',
  /** CSIDriver: `built-in`: the controllers of this process act for the driver, in the place of its sidecars. Mooring's own. */
  controller: 'mooring.dev/controller',
  /** CSIDriver with built-in controllers: 'unix:///run/csi.sock'. Absent: plugins/<driver>/csi.sock below the kubelet's directory. */
  endpoint: 'mooring.dev/endpoint',
  /** CSIDriver with built-in controllers: flags of external-provisioner, '--strict-topology --extra-create-metadata'. */
  provisionerFlags: 'mooring.dev/provisioner-flags',
  /** CSIDriver with built-in controllers: how long a call that changes something may take, '250s'. The sidecars' --timeout. */
  timeout: 'mooring.dev/timeout',
} as const;

export const finalizers = {
  /** A volume of an in-tree provisioner, policy Delete: its asset is deleted first. */
  inTreeProvisioner: 'kubernetes.io/pv-controller',
  /** The same, of an external provisioner. */
  externalProvisioner: 'external-provisioner.volume.kubernetes.io/finalizer',
  /** A claim whose volume is being cloned. */
  cloningProtection: 'provisioner.storage.kubernetes.io/cloning-protection',
} as const;
