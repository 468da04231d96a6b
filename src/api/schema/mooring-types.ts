/**
 * The types of group mooring.dev, described by hand in the notation of `generated/schema.ts`: first the package and the name,
 * then a field a line with its type, its number in protobuf, and flags. Their TypeScript twins are in `kinds/mooring/`.
 */
export const mooringTypeLines: Readonly<Record<string, string>> = {
  PodAddress: `mooring.dev/v1 PodAddress
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec PodAddressSpec 2 omitempty optional
status PodAddressStatus 3 omitempty optional`,
  PodAddressList: `mooring.dev/v1 PodAddressList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []PodAddress 2`,
  PodAddressSpec: `mooring.dev/v1 PodAddressSpec
nodeName string 1 omitempty optional
hostNetwork bool 2 omitempty optional
containers []PodAddressContainer 3 omitempty optional list=atomic
initContainers []PodAddressContainer 4 omitempty optional list=atomic`,
  PodAddressContainer: `mooring.dev/v1 PodAddressContainer
name string 1
ports []ContainerPort 2 omitempty optional list=atomic`,
  PodAddressStatus: `mooring.dev/v1 PodAddressStatus
phase string 1 omitempty optional
podIP string 2 omitempty optional`,
  VolumeBinding: `mooring.dev/v1 VolumeBinding
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
volume PersistentVolume 2
claim PersistentVolumeClaim 3
intent *VolumeBindingIntent 4 omitempty optional`,
  VolumeBindingIntent: `mooring.dev/v1 VolumeBindingIntent
name string 1
uid string 2`,
  VolumeIntent: `mooring.dev/v1 VolumeIntent
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec VolumeIntentSpec 2
status VolumeIntentStatus 3 omitempty optional`,
  VolumeIntentList: `mooring.dev/v1 VolumeIntentList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []VolumeIntent 2`,
  VolumeIntentSpec: `mooring.dev/v1 VolumeIntentSpec
operation string 1
driver string 2 omitempty optional
claimRef *VolumeIntentClaim 3 omitempty optional
request *VolumeIntentRequest 4 omitempty optional
volume *VolumeIntentVolume 5 omitempty optional
source *PersistentVolumeSource 6 omitempty optional
secret *VolumeIntentSecret 7 omitempty optional`,
  VolumeIntentClaim: `mooring.dev/v1 VolumeIntentClaim
namespace string 1
name string 2
uid string 3
resourceVersion string 4 omitempty optional`,
  VolumeIntentRequest: `mooring.dev/v1 VolumeIntentRequest
capacity Quantity 1
accessModes []string 2 list=atomic
volumeMode string 3
storageClassName string 4
reclaimPolicy string 5
volumeAttributesClassName string 6 omitempty optional
parameters map[string]string 7 omitempty optional
mountOptions []string 8 omitempty optional list=atomic
allowedTopologies []TopologySelectorTerm 9 omitempty optional list=atomic
selectedNode string 10 omitempty optional
source *VolumeIntentContentSource 11 omitempty optional
csi *VolumeIntentCsi 12 omitempty optional`,
  VolumeIntentContentSource: `mooring.dev/v1 VolumeIntentContentSource
type string 1
handle string 2`,
  VolumeIntentCsi: `mooring.dev/v1 VolumeIntentCsi
fsType string 1
secrets VolumeIntentSecrets 2
accessibilityRequirements *VolumeIntentAccessibility 3 omitempty optional
mutableParameters map[string]string 4 omitempty optional
readOnly bool 5 omitempty optional`,
  VolumeIntentSecrets: `mooring.dev/v1 VolumeIntentSecrets
provisioner *VolumeIntentSecret 1 omitempty optional
controllerPublish *VolumeIntentSecret 2 omitempty optional
nodeStage *VolumeIntentSecret 3 omitempty optional
nodePublish *VolumeIntentSecret 4 omitempty optional
controllerExpand *VolumeIntentSecret 5 omitempty optional
nodeExpand *VolumeIntentSecret 6 omitempty optional
controllerModify *VolumeIntentSecret 7 omitempty optional`,
  VolumeIntentSecret: `mooring.dev/v1 VolumeIntentSecret
namespace string 1
name string 2`,
  VolumeIntentAccessibility: `mooring.dev/v1 VolumeIntentAccessibility
requisite []VolumeIntentTopology 1 list=atomic
preferred []VolumeIntentTopology 2 list=atomic`,
  VolumeIntentTopology: `mooring.dev/v1 VolumeIntentTopology
segments map[string]string 1`,
  VolumeIntentVolume: `mooring.dev/v1 VolumeIntentVolume
name string 1
uid string 2`,
  VolumeIntentStatus: `mooring.dev/v1 VolumeIntentStatus
phase string 1 omitempty optional
attempts int32 2 omitempty optional
message string 3 omitempty optional
final bool 4 omitempty optional
inUse bool 5 omitempty optional
notBefore *MicroTime 6 omitempty optional
asset *VolumeIntentAsset 7 omitempty optional
podUID string 8 omitempty optional
podSpec string 9 omitempty optional
reschedule *bool 10 omitempty optional`,
  VolumeIntentAsset: `mooring.dev/v1 VolumeIntentAsset
handle string 1
capacity Quantity 2
source PersistentVolumeSource 3
nodeAffinity *VolumeNodeAffinity 4 omitempty optional
annotations map[string]string 5 omitempty optional`,
};
