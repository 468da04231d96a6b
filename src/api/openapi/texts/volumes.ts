/** PersistentVolumes, PersistentVolumeClaims and volume sources: first the type, then one line per field. */
export const volumeTexts: Readonly<Record<string, string>> = {
  PersistentVolume: `A piece of storage in the cluster that outlives the pods that use it. Created by an administrator, or by a provisioner for a claim.
spec The properties of the volume.
status The current state of the volume. Written by the system.`,
  PersistentVolumeSpec: `The properties of a volume. Exactly one source (csi, hostPath, local, nfs, ...) says where it lies.
capacity How much the volume holds, under the key "storage".
accessModes The ways in which the volume can be mounted.
claimRef The claim that the volume is bound to, or is reserved for. A reference with a uid is a binding; one without waits for a claim of that name.
persistentVolumeReclaimPolicy What happens to the volume after its claim is deleted: it is kept (Retain), deleted with its storage (Delete), or scrubbed for the next claim (Recycle, deprecated).
storageClassName The class that the volume belongs to. Empty: none; only claims without a class match it.
mountOptions Options for mounting the volume, such as "ro" or "soft". They are not checked: a mount with a wrong one fails.
volumeMode Whether the volume is meant to carry a file system (Filesystem, the default) or to be used as a raw block device (Block).
nodeAffinity The nodes from which the volume can be reached. Pods that use it are scheduled onto these only.
volumeAttributesClassName The VolumeAttributesClass whose parameters the volume has.
csi A volume of a driver that speaks CSI.
hostPath A directory of a node, for clusters of a single node and for tests.
local A disk or a directory of one node. Needs a nodeAffinity that names this node.
nfs An export of an NFS server.
iscsi An iSCSI target.
fc A Fibre Channel target.
flexVolume A volume of a FlexVolume plugin. Deprecated: use CSI.
gcePersistentDisk A Compute Engine disk. Deprecated: served by its CSI driver.
awsElasticBlockStore An Elastic Block Store volume. Deprecated: served by its CSI driver.
azureDisk An Azure disk. Deprecated: served by its CSI driver.
azureFile An Azure file share. Deprecated: served by its CSI driver.
cinder A Cinder volume. Deprecated: served by its CSI driver.
vsphereVolume A vSphere disk. Deprecated: served by its CSI driver.
portworxVolume A Portworx volume. Deprecated: served by its CSI driver.
cephfs A CephFS file system. No longer supported.
rbd A Ceph block device. No longer supported.
glusterfs A Glusterfs volume. No longer supported.
flocker A Flocker dataset. No longer supported.
quobyte A Quobyte volume. No longer supported.
photonPersistentDisk A Photon disk. No longer supported.
scaleIO A ScaleIO volume. No longer supported.
storageos A StorageOS volume. No longer supported.`,
  PersistentVolumeStatus: `The current state of a volume.
phase Pending: not usable yet. Available: waits for a claim. Bound: bound to one. Released: its claim is deleted, the storage is not reclaimed. Failed: could not be reclaimed.
message Why the volume is in this phase, for people.
reason Why the volume is in this phase, in a word.
lastPhaseTransitionTime When the phase changed last.`,
  CSIPersistentVolumeSource: `A volume of a driver that speaks CSI.
driver The name of the driver.
volumeHandle The driver's own name for the volume. It never changes.
readOnly Whether the volume is only ever published for reading.
fsType The file system to mount, such as "ext4" or "xfs".
volumeAttributes The attributes that the driver gets when the volume is published.
controllerPublishSecretRef The secret that the driver needs for attaching and detaching.
nodeStageSecretRef The secret that the driver needs for staging the volume on a node.
nodePublishSecretRef The secret that the driver needs for publishing the volume to a pod.
controllerExpandSecretRef The secret that the driver needs for expanding the volume.
nodeExpandSecretRef The secret that the driver needs for expanding the volume on a node.`,
  HostPathVolumeSource: `A file or directory of the node itself.
path Where it is on the node.
type What is expected there, and whether it is made if it is missing. Empty: nothing is checked.`,
  LocalVolumeSource: `Storage that is attached to one node.
path The directory, or the block device, on the node.
fsType The file system of a block device. Detected if it is not given.`,
  NFSVolumeSource: `An export of an NFS server.
server The server's host name or address.
path The path that the server exports.
readOnly Whether the export is mounted for reading only.`,
  VolumeNodeAffinity: `The nodes from which a volume can be reached.
required What a node must fulfil.`,
  NodeSelector: `Selects nodes: those that fulfil at least one of the terms.
nodeSelectorTerms The terms. One is enough.`,
  NodeSelectorTerm: `Selects nodes that fulfil all of its requirements. An empty term selects none.
matchExpressions Requirements on the labels of a node.
matchFields Requirements on the fields of a node. The one field is metadata.name.`,
  NodeSelectorRequirement: `A requirement on one label or field.
key The label or field.
operator How the values are compared: In, NotIn, Exists, DoesNotExist, Gt or Lt.
values What to compare with: several for In and NotIn, one integer for Gt and Lt, none for the others.`,
  PersistentVolumeClaim: `A user's request for a PersistentVolume, and the claim to the one that it is bound to.
spec The requested volume.
status The bound volume. Written by the system.`,
  PersistentVolumeClaimSpec: `The volume that a claim requests.
accessModes The ways of mounting that the volume must allow.
selector The candidate volumes, by labels. No volume is provisioned for a claim with a selector.
resources The least that the volume must hold.
volumeName The volume that the claim is bound to, or is to be bound to.
storageClassName The class that the volume must have. Absent: the default class; empty: no class, and nothing is provisioned.
volumeMode Whether the volume carries a file system (Filesystem, the default) or is used as a raw block device (Block).
dataSource What a new volume is filled from: a VolumeSnapshot or a PersistentVolumeClaim of the same namespace.
dataSourceRef As dataSource, for objects of any kind that a populator knows.
volumeAttributesClassName The VolumeAttributesClass that the volume is to have. It may be changed while the volume is in use.`,
  PersistentVolumeClaimStatus: `The current state of a claim.
phase Pending: no volume yet. Bound: it has one. Lost: its volume was deleted.
accessModes The ways in which the bound volume can be mounted.
capacity The actual capacity of the bound volume.
conditions The conditions of the volume, such as an expansion.
allocatedResources What the volume is being expanded to, or was last.
allocatedResourceStatuses How far an expansion is, by resource.
currentVolumeAttributesClassName The VolumeAttributesClass that the volume has now.
modifyVolumeStatus How far a change of the VolumeAttributesClass is.`,
  PersistentVolumeClaimCondition: `A condition of a claim.
type The type: Resizing, FileSystemResizePending, ControllerResizeError, NodeResizeError, ModifyingVolume, ModifyVolumeError.
status True, False or Unknown.
lastProbeTime When the condition was last checked.
lastTransitionTime When the status changed last.
reason Why it changed, in a word.
message Why it changed, for people.`,
  ModifyVolumeStatus: `How far a change of the VolumeAttributesClass is.
targetVolumeAttributesClassName The class that the volume is being changed to.
status Pending: the class is missing or the driver cannot do it yet. InProgress: being changed. Infeasible: the driver refused; choose another class.`,
  VolumeResourceRequirements: `What a volume must hold.
requests The least, under the key "storage".
limits The most, under the key "storage".`,
  TypedLocalObjectReference: `An object of the same namespace.
apiGroup Its API group. Absent: the core group.
kind What it is.
name Its name.`,
  TypedObjectReference: `An object, maybe of another namespace.
apiGroup Its API group. Absent: the core group.
kind What it is.
name Its name.
namespace Its namespace. Absent: that of the claim.`,
  SecretReference: `A secret, by name and namespace.
name Its name.
namespace Its namespace.`,
};
