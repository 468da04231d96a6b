/** The annotations and finalizers of snapshots (external-snapshotter, pkg/utils/util.go). */

export const snapshotAnnotations = {
  /** Class: snapshots without a class get this one, if its driver is that of the volume. */
  defaultClass: 'snapshot.storage.kubernetes.io/is-default-class',
  /** Content: the driver was asked, and it is not certain what came of it. */
  beingCreated: 'snapshot.storage.kubernetes.io/volumesnapshot-being-created',
  /** Content: its VolumeSnapshot is being deleted. */
  beingDeleted: 'snapshot.storage.kubernetes.io/volumesnapshot-being-deleted',
  /** Content: the Secret of the calls that take and delete it. */
  secretName: 'snapshot.storage.kubernetes.io/deletion-secret-name',
  secretNamespace: 'snapshot.storage.kubernetes.io/deletion-secret-namespace',
  /** Content: `true`: a volume of the other mode may be restored from it. */
  allowVolumeModeChange: 'snapshot.storage.kubernetes.io/allow-volume-mode-change',
  /** Content of a member of a group: the driver's own id of the group. */
  groupHandle: 'groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle',
} as const;

export const groupSnapshotAnnotations = {
  defaultClass: 'groupsnapshot.storage.kubernetes.io/is-default-class',
  beingCreated: 'groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-being-created',
  beingDeleted: 'groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-being-deleted',
  secretName: 'groupsnapshot.storage.kubernetes.io/deletion-secret-name',
  secretNamespace: 'groupsnapshot.storage.kubernetes.io/deletion-secret-namespace',
} as const;

export const snapshotFinalizers = {
  /** Content: the snapshot in the storage system is deleted first. */
  content: 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection',
  /** Snapshot: its content is deleted first. */
  bound: 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
  /** Snapshot: no volume is being restored from it. */
  asSource: 'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection',
  /** Snapshot: its group is deleted first. */
  inGroup: 'snapshot.storage.kubernetes.io/volumesnapshot-in-group-protection',
  /** Claim: no snapshot of it is being taken. */
  claimAsSource: 'snapshot.storage.kubernetes.io/pvc-as-source-protection',
  /** Snapshot: the provisioner restores a volume from it. */
  provisioning: 'provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection',
  groupContent: 'groupsnapshot.storage.kubernetes.io/volumegroupsnapshotcontent-bound-protection',
  groupBound: 'groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-bound-protection',
} as const;
