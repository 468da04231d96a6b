/** The annotations and finalizers in which Kubernetes keeps the state of volumes and claims. Only the edge reads them raw. */

/** On claims and volumes. Only whether it is there matters, for the first three; for all others the value does. */
export const annotations = {
  /** Claim: it has been bound once, and never gets another volume. */
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  /** Claim or volume: its half of the link was filled in by the controller, not by a person. */
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  /** Claim: the node for which the scheduler wants the volume made. */
  selectedNode: 'volume.kubernetes.io/selected-node',
  /** Volume: the provisioner that created it. */
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  /** Volume or claim of a plugin that left the tree: the CSI driver that looks after it. */
  migratedTo: 'pv.kubernetes.io/migrated-to',
  /** Claim: the provisioner that has to create its volume. */
  storageProvisioner: 'volume.kubernetes.io/storage-provisioner',
  betaStorageProvisioner: 'volume.beta.kubernetes.io/storage-provisioner',
  /** Claim or volume: the class, as it was written before there was a field for it. It wins over the field. */
  betaStorageClass: 'volume.beta.kubernetes.io/storage-class',
  /** Volume that grew before its file system did: the size that pods see so far. */
  preResizeCapacity: 'volume.alpha.kubernetes.io/pre-resize-capacity',
  /** Claim: the resizer that expands its volume. */
  storageResizer: 'volume.kubernetes.io/storage-resizer',
  /** Claim whose volume grew: its file system has grown with it. */
  nodeExpansionNotRequired: 'volume.kubernetes.io/node-expansion-not-required',
  /** Class: claims without a class get this one. */
  defaultClass: 'storageclass.kubernetes.io/is-default-class',
  betaDefaultClass: 'storageclass.beta.kubernetes.io/is-default-class',
  /** Volume: a label selector; only claims with such labels may take it. Mooring's own, opt-in. */
  claimSelector: 'mooring.dev/claim-selector',
  /** Class: `true`: a driver of this process makes its volumes larger although Kubernetes' plugin of that name cannot. Mooring's own, opt-in. */
  expand: 'mooring.dev/expand',
} as const;

export const finalizers = {
  /** A volume of a provisioner in the tree, policy Delete: its asset is deleted first. */
  inTreeProvisioner: 'kubernetes.io/pv-controller',
  /** The same, of an external provisioner. */
  externalProvisioner: 'external-provisioner.volume.kubernetes.io/finalizer',
} as const;
