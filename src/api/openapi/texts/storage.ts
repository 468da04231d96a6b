/** Groups storage.k8s.io and mooring.dev: first the type, then one line per field. */
export const storageTexts: Readonly<Record<string, string>> = {
  StorageClass: `A class of storage that PersistentVolumeClaims request by name: its provisioner, and how volumes are provisioned. The annotation storageclass.kubernetes.io/is-default-class makes it the default.
provisioner The provisioner that creates and deletes the volumes.
parameters The parameters that the provisioner gets for each volume.
reclaimPolicy What happens to a volume after its claim is deleted: Delete (the default) or Retain.
mountOptions The mount options of its volumes. They are not checked.
allowVolumeExpansion Whether claims may be expanded.
volumeBindingMode When a claim gets its volume: at once (Immediate, the default), or when its first pod is scheduled (WaitForFirstConsumer).
allowedTopologies The topologies in which volumes may be provisioned. One term must match.`,
  TopologySelectorTerm: `A topology, by node labels. All requirements must hold.
matchLabelExpressions The requirements.`,
  TopologySelectorLabelRequirement: `A requirement on one label.
key The label.
values The values it may have. One must match.`,
  VolumeAttachment: `The intent to attach a volume to a node, and its result.
spec The volume, the node and the attacher.
status The result. Written by the attacher.`,
  VolumeAttachmentSpec: `The volume to attach, and the node.
attacher The driver that attaches.
source The volume.
nodeName The node.`,
  VolumeAttachmentSource: `The volume to attach: one of the two.
persistentVolumeName The name of a persistent volume.
inlineVolumeSpec The volume of a pod that named it in its own spec, as a persistent volume.`,
  VolumeAttachmentStatus: `The result of an attachment.
attached Whether the volume is attached.
attachmentMetadata Information from the driver that the node needs to mount the volume.
attachError The last error in attaching.
detachError The last error in detaching.`,
  VolumeError: `An error of a storage driver.
time When it happened.
message What the driver said. Do not put secrets there.
errorCode The driver's gRPC code.`,
  CSINode: `The CSI drivers of a node. It has the name of the node and is owned by it.
spec The drivers.`,
  CSINodeSpec: `The CSI drivers of a node.
drivers One entry for each driver that is registered on the node.`,
  CSINodeDriver: `A CSI driver on a node.
name The name of the driver.
nodeID The driver's own name for the node.
topologyKeys The keys of the node's topology labels that the driver uses.
allocatable How many volumes the driver can attach to the node.`,
  VolumeNodeResources: `How many volumes a node takes.
count The most volumes of this driver. Absent: no limit is known.`,
  CSIDriver: `What the cluster must know about a CSI driver. It has the name of the driver.
spec The driver's properties.`,
  CSIDriverSpec: `The properties of a CSI driver.
attachRequired Whether volumes must be attached before they are mounted. True by default.
podInfoOnMount Whether the driver gets information about the pod when it mounts.
volumeLifecycleModes Which volumes the driver serves: Persistent (the default), Ephemeral, or both.
storageCapacity Whether the scheduler considers the driver's CSIStorageCapacity objects.
fsGroupPolicy Whether the owner and the mode of the files follow a pod's fsGroup: ReadWriteOnceWithFSType (the default), File or None.
tokenRequests The service account tokens that the driver is given when it mounts.
requiresRepublish Whether NodePublishVolume is called periodically, so that the driver can renew mounted content.
seLinuxMount Whether the driver can mount with an SELinux context.
nodeAllocatableUpdatePeriodSeconds How often the kubelet updates the driver's volume limit of the node. At least 10; absent: never.
serviceAccountTokenInSecrets Whether tokens reach the driver among the secrets instead of in the volume context.
preventPodSchedulingIfMissing Whether pods that need the driver stay off nodes on which it is not registered.`,
  StorageTokenRequest: `A service account token that a driver wants.
audience The audience of the token. Empty: the API server.
expirationSeconds How long it is valid.`,
  CSIStorageCapacity: `The capacity that a driver has left for a StorageClass in a topology.
nodeTopology The nodes of the topology. Absent: none; empty: all.
storageClassName The StorageClass.
capacity The available capacity.
maximumVolumeSize The largest volume that can be provisioned.`,
  VolumeAttributesClass: `Properties of volumes that may be changed while these are in use.
driverName The driver that knows the parameters.
parameters The parameters for the driver. They are immutable: create another class instead.`,
  VolumeIntent: `What the system is about to do to storage outside of the cluster, noted before it is done so that a crash leaves nothing behind.
spec What is to be done.
status How far it is.`,
  VolumeIntentSpec: `What is to be done to storage.
operation Create, Delete or Scrub.
driver The driver that does it.
claimRef The claim that it is done for.
request What a new volume is to be like.
volume The volume that it is done to.
source Where that volume lies.
secret The Secret whose data the driver is given.`,
  VolumeIntentStatus: `How far an intent is.
phase Pending: nothing is known yet. Failing: the last attempt failed. Created: the asset exists. Refused: it exists, and its PersistentVolume was not accepted. Running: a pod scrubs it. Deleted: the asset is gone.
attempts How many attempts have failed.
message The driver's last message.
final Whether the failed attempt certainly left nothing behind.
inUse Whether it failed because the volume is still in use.
notBefore It is not tried again before this.
asset The asset that the driver created.
podUID The pod that scrubs the volume.
podSpec That pod's spec as it was created, as JSON without the node.
reschedule Whether the volume may be created for another node.`,
  VolumeBinding: `A volume and its claim, bound to each other in one write.
volume The volume as it is to be.
claim The claim as it is to be.
intent The VolumeIntent by which the volume was made: the volume is created, and the intent is deleted, in the same write.`,
  VolumeBindingIntent: `A VolumeIntent that is finished.
name Its name, which is the volume's.
uid Its uid.`,
};
