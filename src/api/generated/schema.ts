// Written by scripts/generate/generate.mjs from facts.json. Do not edit: change the generator, then `npm run generate`.

/**
 * The schema as text, a line per field, so that loading costs next to nothing: a type is parsed when it is first used
 * (src/api/schema/type-schema.ts). A line: JSON name, type, protobuf number, then flags.
 */
export const typeLines: Readonly<Record<string, string>> = {
  APIGroup: `k8s.io/apimachinery/pkg/apis/meta/v1 APIGroup
- TypeMeta 0 inline
name string 1
versions []GroupVersionForDiscovery 2 list=atomic
preferredVersion GroupVersionForDiscovery 3 omitempty optional
serverAddressByClientCIDRs []ServerAddressByClientCIDR 4 omitempty optional list=atomic`,
  APIGroupList: `k8s.io/apimachinery/pkg/apis/meta/v1 APIGroupList
- TypeMeta 0 inline
groups []APIGroup 1 list=atomic`,
  APIResource: `k8s.io/apimachinery/pkg/apis/meta/v1 APIResource
name string 1
singularName string 6
namespaced bool 2
group string 8 omitempty
version string 9 omitempty
kind string 3
verbs Verbs 4
shortNames []string 5 omitempty list=atomic
categories []string 7 omitempty list=atomic
storageVersionHash string 10 omitempty optional`,
  APIResourceList: `k8s.io/apimachinery/pkg/apis/meta/v1 APIResourceList
- TypeMeta 0 inline
groupVersion string 1
resources []APIResource 2 list=atomic`,
  APIService: `k8s.io/kube-aggregator/pkg/apis/apiregistration/v1 APIService
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec APIServiceSpec 2 omitempty
status APIServiceStatus 3 omitempty`,
  APIServiceCondition: `k8s.io/kube-aggregator/pkg/apis/apiregistration/v1 APIServiceCondition
type APIServiceConditionType 1
status ApiregistrationConditionStatus 2
lastTransitionTime Time 3 omitempty optional
reason string 4 omitempty optional
message string 5 omitempty optional`,
  APIServiceList: `k8s.io/kube-aggregator/pkg/apis/apiregistration/v1 APIServiceList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []APIService 2`,
  APIServiceSpec: `k8s.io/kube-aggregator/pkg/apis/apiregistration/v1 APIServiceSpec
service *ApiregistrationServiceReference 1 omitempty optional
group string 2 omitempty
version string 3 omitempty
insecureSkipTLSVerify bool 4 omitempty
caBundle []byte 5 omitempty optional list=atomic
groupPriorityMinimum int32 7
versionPriority int32 8`,
  APIServiceStatus: `k8s.io/kube-aggregator/pkg/apis/apiregistration/v1 APIServiceStatus
conditions []APIServiceCondition 1 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  APIVersions: `k8s.io/apimachinery/pkg/apis/meta/v1 APIVersions
- TypeMeta 0 inline
versions []string 1 list=atomic
serverAddressByClientCIDRs []ServerAddressByClientCIDR 2 list=atomic`,
  AWSElasticBlockStoreVolumeSource: `k8s.io/api/core/v1 AWSElasticBlockStoreVolumeSource
volumeID string 1
fsType string 2 omitempty optional
partition int32 3 omitempty optional
readOnly bool 4 omitempty optional`,
  Affinity: `k8s.io/api/core/v1 Affinity
nodeAffinity *NodeAffinity 1 omitempty optional
podAffinity *PodAffinity 2 omitempty optional
podAntiAffinity *PodAntiAffinity 3 omitempty optional`,
  AggregationRule: `k8s.io/api/rbac/v1 AggregationRule
clusterRoleSelectors []LabelSelector 1 omitempty optional list=atomic`,
  AllocatedDeviceStatus: `k8s.io/api/resource/v1 AllocatedDeviceStatus
driver string 1 required
pool string 2 required
device string 3 required
shareID *string 7 omitempty optional
conditions []Condition 4 optional list=map keys=type
data *RawExtension 5 omitempty optional
networkData *NetworkDeviceData 6 omitempty optional`,
  AllocationResult: `k8s.io/api/resource/v1 AllocationResult
devices DeviceAllocationResult 1 omitempty optional
nodeSelector *NodeSelector 3 omitempty optional
allocationTimestamp *Time 5 omitempty optional`,
  ApiregistrationServiceReference: `k8s.io/kube-aggregator/pkg/apis/apiregistration/v1 ServiceReference
namespace string 1 omitempty
name string 2 omitempty
port *int32 3 omitempty optional`,
  AppArmorProfile: `k8s.io/api/core/v1 AppArmorProfile union
type AppArmorProfileType 1 discriminator
localhostProfile *string 2 omitempty optional`,
  ApplyConfiguration: `k8s.io/api/admissionregistration/v1 ApplyConfiguration
expression string 1 omitempty`,
  ApplyOptions: `k8s.io/apimachinery/pkg/apis/meta/v1 ApplyOptions
- TypeMeta 0 inline
dryRun []string 1 omitempty optional list=atomic
force bool 2
fieldManager string 3`,
  AttachedVolume: `k8s.io/api/core/v1 AttachedVolume
name UniqueVolumeName 1
devicePath string 2`,
  AuditAnnotation: `k8s.io/api/admissionregistration/v1 AuditAnnotation
key string 1
valueExpression string 2`,
  AutoscalingCrossVersionObjectReference: `k8s.io/api/autoscaling/v1 CrossVersionObjectReference atomic
kind string 1
name string 2
apiVersion string 3 omitempty optional`,
  AutoscalingHorizontalPodAutoscaler: `k8s.io/api/autoscaling/v1 HorizontalPodAutoscaler
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec AutoscalingHorizontalPodAutoscalerSpec 2 omitempty required
status AutoscalingHorizontalPodAutoscalerStatus 3 omitempty optional`,
  AutoscalingHorizontalPodAutoscalerList: `k8s.io/api/autoscaling/v1 HorizontalPodAutoscalerList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []AutoscalingHorizontalPodAutoscaler 2`,
  AutoscalingHorizontalPodAutoscalerSpec: `k8s.io/api/autoscaling/v1 HorizontalPodAutoscalerSpec
scaleTargetRef AutoscalingCrossVersionObjectReference 1
minReplicas *int32 2 omitempty optional
maxReplicas int32 3 required
targetCPUUtilizationPercentage *int32 4 omitempty optional`,
  AutoscalingHorizontalPodAutoscalerStatus: `k8s.io/api/autoscaling/v1 HorizontalPodAutoscalerStatus
observedGeneration *int64 1 omitempty optional
lastScaleTime *Time 2 omitempty optional
currentReplicas int32 3
desiredReplicas int32 4
currentCPUUtilizationPercentage *int32 5 omitempty optional`,
  AzureDiskVolumeSource: `k8s.io/api/core/v1 AzureDiskVolumeSource
diskName string 1
diskURI string 2
cachingMode *AzureDataDiskCachingMode 3 omitempty optional default="ReadWrite"
fsType *string 4 omitempty optional default="ext4"
readOnly *bool 5 omitempty optional default=false
kind *AzureDataDiskKind 6 omitempty default="Shared"`,
  AzureFilePersistentVolumeSource: `k8s.io/api/core/v1 AzureFilePersistentVolumeSource
secretName string 1
shareName string 2
readOnly bool 3 omitempty optional
secretNamespace *string 4 optional`,
  AzureFileVolumeSource: `k8s.io/api/core/v1 AzureFileVolumeSource
secretName string 1
shareName string 2
readOnly bool 3 omitempty optional`,
  Binding: `k8s.io/api/core/v1 Binding
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
target ObjectReference 2`,
  BoundObjectReference: `k8s.io/api/authentication/v1 BoundObjectReference
kind string 1 omitempty optional
apiVersion string 2 omitempty optional
name string 3 omitempty optional
uid UID 4 omitempty optional`,
  CELDeviceSelector: `k8s.io/api/resource/v1 CELDeviceSelector
expression string 1 required`,
  CSIDriver: `k8s.io/api/storage/v1 CSIDriver
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty
spec CSIDriverSpec 2`,
  CSIDriverList: `k8s.io/api/storage/v1 CSIDriverList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []CSIDriver 2`,
  CSIDriverSpec: `k8s.io/api/storage/v1 CSIDriverSpec
attachRequired *bool 1 omitempty optional
podInfoOnMount *bool 2 omitempty optional
volumeLifecycleModes []VolumeLifecycleMode 3 omitempty optional list=set
storageCapacity *bool 4 omitempty optional
fsGroupPolicy *FSGroupPolicy 5 omitempty optional
tokenRequests []StorageTokenRequest 6 omitempty optional list=atomic
requiresRepublish *bool 7 omitempty optional
seLinuxMount *bool 8 omitempty optional
nodeAllocatableUpdatePeriodSeconds *int64 9 omitempty optional
serviceAccountTokenInSecrets *bool 10 omitempty optional
preventPodSchedulingIfMissing *bool 11 omitempty optional`,
  CSINode: `k8s.io/api/storage/v1 CSINode
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty
spec CSINodeSpec 2`,
  CSINodeDriver: `k8s.io/api/storage/v1 CSINodeDriver
name string 1
nodeID string 2
topologyKeys []string 3 optional list=atomic
allocatable *VolumeNodeResources 4 omitempty optional`,
  CSINodeList: `k8s.io/api/storage/v1 CSINodeList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []CSINode 2`,
  CSINodeSpec: `k8s.io/api/storage/v1 CSINodeSpec
drivers []CSINodeDriver 1 patch=merge mergeKey=name list=map keys=name`,
  CSIPersistentVolumeSource: `k8s.io/api/core/v1 CSIPersistentVolumeSource
driver string 1
volumeHandle string 2
readOnly bool 3 omitempty optional
fsType string 4 omitempty optional
volumeAttributes map[string]string 5 omitempty optional
controllerPublishSecretRef *SecretReference 6 omitempty optional
nodeStageSecretRef *SecretReference 7 omitempty optional
nodePublishSecretRef *SecretReference 8 omitempty optional
controllerExpandSecretRef *SecretReference 9 omitempty optional
nodeExpandSecretRef *SecretReference 10 omitempty optional`,
  CSIStorageCapacity: `k8s.io/api/storage/v1 CSIStorageCapacity
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
nodeTopology *LabelSelector 2 omitempty optional
storageClassName string 3
capacity *Quantity 4 omitempty optional
maximumVolumeSize *Quantity 5 omitempty optional`,
  CSIStorageCapacityList: `k8s.io/api/storage/v1 CSIStorageCapacityList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []CSIStorageCapacity 2`,
  CSIVolumeSource: `k8s.io/api/core/v1 CSIVolumeSource
driver string 1
readOnly *bool 2 omitempty optional
fsType *string 3 omitempty optional
volumeAttributes map[string]string 4 omitempty optional
nodePublishSecretRef *LocalObjectReference 5 omitempty optional`,
  Capabilities: `k8s.io/api/core/v1 Capabilities
add []Capability 1 omitempty optional list=atomic
drop []Capability 2 omitempty optional list=atomic`,
  CapacityRequestPolicy: `k8s.io/api/resource/v1 CapacityRequestPolicy
default *Quantity 1 optional
validValues []Quantity 3 omitempty optional list=atomic
validRange *CapacityRequestPolicyRange 4 omitempty optional`,
  CapacityRequestPolicyRange: `k8s.io/api/resource/v1 CapacityRequestPolicyRange
min *Quantity 1 omitempty required
max *Quantity 2 omitempty optional
step *Quantity 3 omitempty optional`,
  CapacityRequirements: `k8s.io/api/resource/v1 CapacityRequirements
requests map[QualifiedName]Quantity 1 omitempty optional`,
  CephFSPersistentVolumeSource: `k8s.io/api/core/v1 CephFSPersistentVolumeSource
monitors []string 1 list=atomic
path string 2 omitempty optional
user string 3 omitempty optional
secretFile string 4 omitempty optional
secretRef *SecretReference 5 omitempty optional
readOnly bool 6 omitempty optional`,
  CephFSVolumeSource: `k8s.io/api/core/v1 CephFSVolumeSource
monitors []string 1 list=atomic
path string 2 omitempty optional
user string 3 omitempty optional
secretFile string 4 omitempty optional
secretRef *LocalObjectReference 5 omitempty optional
readOnly bool 6 omitempty optional`,
  CertificateSigningRequest: `k8s.io/api/certificates/v1 CertificateSigningRequest
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec CertificateSigningRequestSpec 2
status CertificateSigningRequestStatus 3 omitempty optional`,
  CertificateSigningRequestCondition: `k8s.io/api/certificates/v1 CertificateSigningRequestCondition
type RequestConditionType 1
status ConditionStatus 6
reason string 2 omitempty optional
message string 3 omitempty optional
lastUpdateTime Time 4 omitempty optional
lastTransitionTime Time 5 omitempty optional`,
  CertificateSigningRequestList: `k8s.io/api/certificates/v1 CertificateSigningRequestList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []CertificateSigningRequest 2`,
  CertificateSigningRequestSpec: `k8s.io/api/certificates/v1 CertificateSigningRequestSpec
request []byte 1
signerName string 7
expirationSeconds *int32 8 omitempty optional
usages []KeyUsage 5 omitempty list=atomic
username string 2 omitempty optional
uid string 3 omitempty optional
groups []string 4 omitempty optional list=atomic
extra map[string]CertificatesExtraValue 6 omitempty optional`,
  CertificateSigningRequestStatus: `k8s.io/api/certificates/v1 CertificateSigningRequestStatus
conditions []CertificateSigningRequestCondition 1 omitempty optional list=map keys=type
certificate []byte 2 omitempty optional`,
  CinderPersistentVolumeSource: `k8s.io/api/core/v1 CinderPersistentVolumeSource
volumeID string 1
fsType string 2 omitempty optional
readOnly bool 3 omitempty optional
secretRef *SecretReference 4 omitempty optional`,
  CinderVolumeSource: `k8s.io/api/core/v1 CinderVolumeSource
volumeID string 1
fsType string 2 omitempty optional
readOnly bool 3 omitempty optional
secretRef *LocalObjectReference 4 omitempty optional`,
  ClientIPConfig: `k8s.io/api/core/v1 ClientIPConfig
timeoutSeconds *int32 1 omitempty optional`,
  ClusterRole: `k8s.io/api/rbac/v1 ClusterRole
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
rules []PolicyRule 2 optional list=atomic
aggregationRule *AggregationRule 3 omitempty optional`,
  ClusterRoleBinding: `k8s.io/api/rbac/v1 ClusterRoleBinding
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
subjects []Subject 2 omitempty optional list=atomic
roleRef RoleRef 3 required`,
  ClusterRoleBindingList: `k8s.io/api/rbac/v1 ClusterRoleBindingList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ClusterRoleBinding 2`,
  ClusterRoleList: `k8s.io/api/rbac/v1 ClusterRoleList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ClusterRole 2`,
  ClusterTrustBundleProjection: `k8s.io/api/core/v1 ClusterTrustBundleProjection
name *string 1 omitempty optional
signerName *string 2 omitempty optional
labelSelector *LabelSelector 3 omitempty optional
optional *bool 5 omitempty optional
path string 4`,
  Condition: `k8s.io/apimachinery/pkg/apis/meta/v1 Condition
type string 1 required
status MetaConditionStatus 2 required
observedGeneration int64 3 omitempty optional
lastTransitionTime Time 4 required
reason string 5 required
message string 6 required`,
  ConfigMap: `k8s.io/api/core/v1 ConfigMap
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
immutable *bool 4 omitempty optional
data map[string]string 2 omitempty optional
binaryData map[string][]byte 3 omitempty optional`,
  ConfigMapEnvSource: `k8s.io/api/core/v1 ConfigMapEnvSource
- LocalObjectReference 1 inline
optional *bool 2 omitempty optional`,
  ConfigMapKeySelector: `k8s.io/api/core/v1 ConfigMapKeySelector atomic
- LocalObjectReference 1 inline
key string 2
optional *bool 3 omitempty optional`,
  ConfigMapList: `k8s.io/api/core/v1 ConfigMapList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ConfigMap 2`,
  ConfigMapNodeConfigSource: `k8s.io/api/core/v1 ConfigMapNodeConfigSource
namespace string 1
name string 2
uid UID 3 omitempty optional
resourceVersion string 4 omitempty optional
kubeletConfigKey string 5`,
  ConfigMapProjection: `k8s.io/api/core/v1 ConfigMapProjection
- LocalObjectReference 1 inline
items []KeyToPath 2 omitempty optional list=atomic
optional *bool 4 omitempty optional`,
  ConfigMapVolumeSource: `k8s.io/api/core/v1 ConfigMapVolumeSource
- LocalObjectReference 1 inline
items []KeyToPath 2 omitempty optional list=atomic
defaultMode *int32 3 omitempty optional
optional *bool 4 omitempty optional`,
  Container: `k8s.io/api/core/v1 Container
name string 1
image string 2 omitempty optional
command []string 3 omitempty optional list=atomic
args []string 4 omitempty optional list=atomic
workingDir string 5 omitempty optional
ports []ContainerPort 6 omitempty optional patch=merge mergeKey=containerPort list=map keys=containerPort,protocol
envFrom []EnvFromSource 19 omitempty optional list=atomic
env []EnvVar 7 omitempty optional patch=merge mergeKey=name list=map keys=name
resources ResourceRequirements 8 omitempty optional
resizePolicy []ContainerResizePolicy 23 omitempty optional list=atomic
restartPolicy *ContainerRestartPolicy 24 omitempty optional
restartPolicyRules []ContainerRestartRule 25 omitempty optional list=atomic
volumeMounts []VolumeMount 9 omitempty optional patch=merge mergeKey=mountPath list=map keys=mountPath
volumeDevices []VolumeDevice 21 omitempty optional patch=merge mergeKey=devicePath list=map keys=devicePath
livenessProbe *Probe 10 omitempty optional
readinessProbe *Probe 11 omitempty optional
startupProbe *Probe 22 omitempty optional
lifecycle *Lifecycle 12 omitempty optional
terminationMessagePath string 13 omitempty optional
terminationMessagePolicy TerminationMessagePolicy 20 omitempty optional
imagePullPolicy PullPolicy 14 omitempty optional
securityContext *SecurityContext 15 omitempty optional
stdin bool 16 omitempty optional
stdinOnce bool 17 omitempty optional
tty bool 18 omitempty optional`,
  ContainerExtendedResourceRequest: `k8s.io/api/core/v1 ContainerExtendedResourceRequest
containerName string 1
resourceName string 2
requestName string 3`,
  ContainerImage: `k8s.io/api/core/v1 ContainerImage
names []string 1 optional list=atomic
sizeBytes int64 2 omitempty optional`,
  ContainerPort: `k8s.io/api/core/v1 ContainerPort
name string 1 omitempty optional
hostPort int32 2 omitempty optional
containerPort int32 3
protocol Protocol 4 omitempty optional default="TCP"
hostIP string 5 omitempty optional`,
  ContainerResizePolicy: `k8s.io/api/core/v1 ContainerResizePolicy
resourceName ResourceName 1
restartPolicy ResourceResizeRestartPolicy 2`,
  ContainerResourceMetricSource: `k8s.io/api/autoscaling/v2 ContainerResourceMetricSource
name ResourceName 1
target MetricTarget 2
container string 3`,
  ContainerResourceMetricStatus: `k8s.io/api/autoscaling/v2 ContainerResourceMetricStatus
name ResourceName 1
current MetricValueStatus 2
container string 3`,
  ContainerRestartRule: `k8s.io/api/core/v1 ContainerRestartRule
action ContainerRestartRuleAction 1 omitempty required
exitCodes *ContainerRestartRuleOnExitCodes 2 omitempty optional`,
  ContainerRestartRuleOnExitCodes: `k8s.io/api/core/v1 ContainerRestartRuleOnExitCodes
operator ContainerRestartRuleOnExitCodesOperator 1 omitempty required
values []int32 2 omitempty optional list=set`,
  ContainerState: `k8s.io/api/core/v1 ContainerState
waiting *ContainerStateWaiting 1 omitempty optional
running *ContainerStateRunning 2 omitempty optional
terminated *ContainerStateTerminated 3 omitempty optional`,
  ContainerStateRunning: `k8s.io/api/core/v1 ContainerStateRunning
startedAt Time 1 omitempty optional`,
  ContainerStateTerminated: `k8s.io/api/core/v1 ContainerStateTerminated
exitCode int32 1
signal int32 2 omitempty optional
reason string 3 omitempty optional
message string 4 omitempty optional
startedAt Time 5 omitempty optional
finishedAt Time 6 omitempty optional
containerID string 7 omitempty optional`,
  ContainerStateWaiting: `k8s.io/api/core/v1 ContainerStateWaiting
reason string 1 omitempty optional
message string 2 omitempty optional`,
  ContainerStatus: `k8s.io/api/core/v1 ContainerStatus
name string 1
state ContainerState 2 omitempty optional
lastState ContainerState 3 omitempty optional
ready bool 4
restartCount int32 5
image string 6
imageID string 7
containerID string 8 omitempty optional
started *bool 9 omitempty optional
allocatedResources ResourceList 10 omitempty optional
resources *ResourceRequirements 11 omitempty optional
volumeMounts []VolumeMountStatus 12 omitempty optional patch=merge mergeKey=mountPath list=map keys=mountPath
user *ContainerUser 13 omitempty optional
allocatedResourcesStatus []ResourceStatus 14 omitempty optional patch=merge mergeKey=name list=map keys=name
stopSignal *Signal 15 omitempty optional`,
  ContainerUser: `k8s.io/api/core/v1 ContainerUser
linux *LinuxContainerUser 1 omitempty optional`,
  ControllerRevision: `k8s.io/api/apps/v1 ControllerRevision
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
data RawExtension 2 omitempty
revision int64 3`,
  ControllerRevisionList: `k8s.io/api/apps/v1 ControllerRevisionList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ControllerRevision 2`,
  Counter: `k8s.io/api/resource/v1 Counter
value Quantity 1 required`,
  CounterSet: `k8s.io/api/resource/v1 CounterSet
name string 1 required
counters map[string]Counter 2 omitempty required`,
  CreateOptions: `k8s.io/apimachinery/pkg/apis/meta/v1 CreateOptions
- TypeMeta 0 inline
dryRun []string 1 omitempty optional list=atomic
fieldManager string 3 omitempty optional
fieldValidation string 4 omitempty optional`,
  CronJob: `k8s.io/api/batch/v1 CronJob
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec CronJobSpec 2 omitempty required
status CronJobStatus 3 omitempty optional`,
  CronJobList: `k8s.io/api/batch/v1 CronJobList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []CronJob 2`,
  CronJobSpec: `k8s.io/api/batch/v1 CronJobSpec
schedule string 1 required
timeZone *string 8 omitempty optional
startingDeadlineSeconds *int64 2 omitempty optional
concurrencyPolicy ConcurrencyPolicy 3 omitempty optional
suspend *bool 4 omitempty optional
jobTemplate JobTemplateSpec 5
successfulJobsHistoryLimit *int32 6 omitempty optional
failedJobsHistoryLimit *int32 7 omitempty optional`,
  CronJobStatus: `k8s.io/api/batch/v1 CronJobStatus
active []ObjectReference 1 omitempty optional list=atomic
lastScheduleTime *Time 4 omitempty optional
lastSuccessfulTime *Time 5 omitempty optional`,
  CrossVersionObjectReference: `k8s.io/api/autoscaling/v2 CrossVersionObjectReference
kind string 1
name string 2
apiVersion string 3 omitempty optional`,
  DaemonEndpoint: `k8s.io/api/core/v1 DaemonEndpoint
Port int32 1`,
  DaemonSet: `k8s.io/api/apps/v1 DaemonSet
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec DaemonSetSpec 2 omitempty optional
status DaemonSetStatus 3 omitempty optional`,
  DaemonSetCondition: `k8s.io/api/apps/v1 DaemonSetCondition
type DaemonSetConditionType 1
status ConditionStatus 2
lastTransitionTime Time 3 omitempty optional
reason string 4 omitempty optional
message string 5 omitempty optional`,
  DaemonSetList: `k8s.io/api/apps/v1 DaemonSetList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []DaemonSet 2`,
  DaemonSetSpec: `k8s.io/api/apps/v1 DaemonSetSpec
selector *LabelSelector 1
template PodTemplateSpec 2
updateStrategy DaemonSetUpdateStrategy 3 omitempty optional
minReadySeconds int32 4 omitempty optional
revisionHistoryLimit *int32 6 omitempty optional`,
  DaemonSetStatus: `k8s.io/api/apps/v1 DaemonSetStatus
currentNumberScheduled int32 1
numberMisscheduled int32 2
desiredNumberScheduled int32 3
numberReady int32 4
observedGeneration int64 5 omitempty optional
updatedNumberScheduled int32 6 omitempty optional
numberAvailable int32 7 omitempty optional
numberUnavailable int32 8 omitempty optional
collisionCount *int32 9 omitempty optional
conditions []DaemonSetCondition 10 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  DaemonSetUpdateStrategy: `k8s.io/api/apps/v1 DaemonSetUpdateStrategy
type DaemonSetUpdateStrategyType 1 omitempty optional
rollingUpdate *RollingUpdateDaemonSet 2 omitempty optional`,
  DeleteOptions: `k8s.io/apimachinery/pkg/apis/meta/v1 DeleteOptions
- TypeMeta 0 inline
gracePeriodSeconds *int64 1 omitempty optional
preconditions *Preconditions 2 omitempty optional
orphanDependents *bool 3 omitempty optional
propagationPolicy *DeletionPropagation 4 omitempty optional
dryRun []string 5 omitempty optional list=atomic
ignoreStoreReadErrorWithClusterBreakingPotential *bool 6 omitempty optional`,
  Deployment: `k8s.io/api/apps/v1 Deployment
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec DeploymentSpec 2 omitempty optional
status DeploymentStatus 3 omitempty optional`,
  DeploymentCondition: `k8s.io/api/apps/v1 DeploymentCondition
type DeploymentConditionType 1
status ConditionStatus 2
lastUpdateTime Time 6 omitempty
lastTransitionTime Time 7 omitempty
reason string 4 omitempty
message string 5 omitempty`,
  DeploymentList: `k8s.io/api/apps/v1 DeploymentList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Deployment 2`,
  DeploymentSpec: `k8s.io/api/apps/v1 DeploymentSpec
replicas *int32 1 omitempty optional
selector *LabelSelector 2
template PodTemplateSpec 3
strategy DeploymentStrategy 4 omitempty optional patch=retainKeys
minReadySeconds int32 5 omitempty optional
revisionHistoryLimit *int32 6 omitempty optional
paused bool 7 omitempty optional
progressDeadlineSeconds *int32 9 omitempty`,
  DeploymentStatus: `k8s.io/api/apps/v1 DeploymentStatus
observedGeneration int64 1 omitempty optional
replicas int32 2 omitempty optional
updatedReplicas int32 3 omitempty optional
readyReplicas int32 7 omitempty optional
availableReplicas int32 4 omitempty optional
unavailableReplicas int32 5 omitempty optional
terminatingReplicas *int32 9 omitempty optional
conditions []DeploymentCondition 6 omitempty patch=merge mergeKey=type list=map keys=type
collisionCount *int32 8 omitempty optional`,
  DeploymentStrategy: `k8s.io/api/apps/v1 DeploymentStrategy
type DeploymentStrategyType 1 omitempty optional
rollingUpdate *RollingUpdateDeployment 2 omitempty optional`,
  Device: `k8s.io/api/resource/v1 Device
name string 1 required
attributes map[QualifiedName]DeviceAttribute 2 omitempty optional
capacity map[QualifiedName]DeviceCapacity 3 omitempty optional
consumesCounters []DeviceCounterConsumption 4 omitempty optional list=atomic
nodeName *string 5 omitempty optional
nodeSelector *NodeSelector 6 omitempty optional
allNodes *bool 7 omitempty optional
taints []DeviceTaint 8 omitempty optional list=atomic
bindsToNode *bool 9 omitempty optional
bindingConditions []string 10 omitempty optional list=atomic
bindingFailureConditions []string 11 omitempty optional list=atomic
allowMultipleAllocations *bool 12 omitempty optional
nodeAllocatableResourceMappings map[ResourceName]NodeAllocatableResourceMapping 13 omitempty optional`,
  DeviceAllocationConfiguration: `k8s.io/api/resource/v1 DeviceAllocationConfiguration
source AllocationConfigSource 1 required
requests []string 2 omitempty optional list=atomic
- DeviceConfiguration 3 inline`,
  DeviceAllocationResult: `k8s.io/api/resource/v1 DeviceAllocationResult
results []DeviceRequestAllocationResult 1 omitempty optional list=atomic
config []DeviceAllocationConfiguration 2 omitempty optional list=atomic`,
  DeviceAttribute: `k8s.io/api/resource/v1 DeviceAttribute
int *int64 2 omitempty optional
bool *bool 3 omitempty optional
string *string 4 omitempty optional
version *string 5 omitempty optional
ints []int64 6 omitempty optional list=atomic
bools []bool 7 omitempty optional list=atomic
strings []string 8 omitempty optional list=atomic
versions []string 9 omitempty optional list=atomic`,
  DeviceCapacity: `k8s.io/api/resource/v1 DeviceCapacity
value Quantity 1 required
requestPolicy *CapacityRequestPolicy 2 omitempty optional`,
  DeviceClaim: `k8s.io/api/resource/v1 DeviceClaim
requests []DeviceRequest 1 optional list=atomic
constraints []DeviceConstraint 2 omitempty optional list=atomic
config []DeviceClaimConfiguration 3 omitempty optional list=atomic`,
  DeviceClaimConfiguration: `k8s.io/api/resource/v1 DeviceClaimConfiguration
requests []string 1 omitempty optional list=atomic
- DeviceConfiguration 2 inline`,
  DeviceClass: `k8s.io/api/resource/v1 DeviceClass
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec DeviceClassSpec 2`,
  DeviceClassConfiguration: `k8s.io/api/resource/v1 DeviceClassConfiguration
- DeviceConfiguration 1 inline`,
  DeviceClassList: `k8s.io/api/resource/v1 DeviceClassList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []DeviceClass 2`,
  DeviceClassSpec: `k8s.io/api/resource/v1 DeviceClassSpec
selectors []DeviceSelector 1 omitempty optional list=atomic
config []DeviceClassConfiguration 2 omitempty optional list=atomic
extendedResourceName *string 4 omitempty optional`,
  DeviceConfiguration: `k8s.io/api/resource/v1 DeviceConfiguration
opaque *OpaqueDeviceConfiguration 1 omitempty optional`,
  DeviceConstraint: `k8s.io/api/resource/v1 DeviceConstraint
requests []string 1 omitempty optional list=atomic
matchAttribute *FullyQualifiedName 2 omitempty optional
distinctAttribute *FullyQualifiedName 3 omitempty optional`,
  DeviceCounterConsumption: `k8s.io/api/resource/v1 DeviceCounterConsumption
counterSet string 1 required
counters map[string]Counter 2 omitempty required`,
  DeviceRequest: `k8s.io/api/resource/v1 DeviceRequest
name string 1 required
exactly *ExactDeviceRequest 2 omitempty optional
firstAvailable []DeviceSubRequest 3 omitempty optional list=atomic`,
  DeviceRequestAllocationResult: `k8s.io/api/resource/v1 DeviceRequestAllocationResult
request string 1 required
driver string 2 required
pool string 3 required
device string 4 required
adminAccess *bool 5 omitempty optional
tolerations []DeviceToleration 6 omitempty optional list=atomic
bindingConditions []string 7 omitempty optional list=atomic
bindingFailureConditions []string 8 omitempty optional list=atomic
shareID *UID 9 omitempty optional
consumedCapacity map[QualifiedName]Quantity 10 omitempty optional`,
  DeviceSelector: `k8s.io/api/resource/v1 DeviceSelector
cel *CELDeviceSelector 1 omitempty optional`,
  DeviceSubRequest: `k8s.io/api/resource/v1 DeviceSubRequest
name string 1 required
deviceClassName string 2 required
selectors []DeviceSelector 3 omitempty optional list=atomic
allocationMode DeviceAllocationMode 4 omitempty optional
count int64 5 omitempty optional
tolerations []DeviceToleration 6 omitempty optional list=atomic
capacity *CapacityRequirements 7 omitempty optional`,
  DeviceTaint: `k8s.io/api/resource/v1 DeviceTaint
key string 1 required
value string 2 omitempty optional
effect DeviceTaintEffect 3 required
timeAdded *Time 4 omitempty optional`,
  DeviceToleration: `k8s.io/api/resource/v1 DeviceToleration
key string 1 omitempty optional
operator DeviceTolerationOperator 2 omitempty optional default="Equal"
value string 3 omitempty optional
effect DeviceTaintEffect 4 omitempty optional
tolerationSeconds *int64 5 omitempty optional`,
  DiscoveryEndpointPort: `k8s.io/api/discovery/v1 EndpointPort atomic
name *string 1 omitempty
protocol *Protocol 2 omitempty
port *int32 3 omitempty
appProtocol *string 4 omitempty optional`,
  DownwardAPIProjection: `k8s.io/api/core/v1 DownwardAPIProjection
items []DownwardAPIVolumeFile 1 omitempty optional list=atomic`,
  DownwardAPIVolumeFile: `k8s.io/api/core/v1 DownwardAPIVolumeFile
path string 1
fieldRef *ObjectFieldSelector 2 omitempty optional
resourceFieldRef *ResourceFieldSelector 3 omitempty optional
mode *int32 4 omitempty optional`,
  DownwardAPIVolumeSource: `k8s.io/api/core/v1 DownwardAPIVolumeSource
items []DownwardAPIVolumeFile 1 omitempty optional list=atomic
defaultMode *int32 2 omitempty optional`,
  EmptyDirVolumeSource: `k8s.io/api/core/v1 EmptyDirVolumeSource
medium StorageMedium 1 omitempty optional
sizeLimit *Quantity 2 omitempty optional`,
  Endpoint: `k8s.io/api/discovery/v1 Endpoint
addresses []string 1 required list=set
conditions EndpointConditions 2 omitempty
hostname *string 3 omitempty optional
targetRef *ObjectReference 4 omitempty optional
deprecatedTopology map[string]string 5 omitempty optional
nodeName *string 6 omitempty optional
zone *string 7 omitempty optional
hints *EndpointHints 8 omitempty optional`,
  EndpointAddress: `k8s.io/api/core/v1 EndpointAddress atomic
ip string 1
hostname string 3 omitempty optional
nodeName *string 4 omitempty optional
targetRef *ObjectReference 2 omitempty optional`,
  EndpointConditions: `k8s.io/api/discovery/v1 EndpointConditions
ready *bool 1 omitempty optional
serving *bool 2 omitempty optional
terminating *bool 3 omitempty optional`,
  EndpointHints: `k8s.io/api/discovery/v1 EndpointHints
forZones []ForZone 1 omitempty list=atomic
forNodes []ForNode 2 omitempty list=atomic`,
  EndpointPort: `k8s.io/api/core/v1 EndpointPort atomic
name string 1 omitempty optional
port int32 2
protocol Protocol 3 omitempty optional
appProtocol *string 4 omitempty optional`,
  EndpointSlice: `k8s.io/api/discovery/v1 EndpointSlice
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
addressType AddressType 4 required
endpoints []Endpoint 2 optional list=atomic
ports []DiscoveryEndpointPort 3 optional list=atomic`,
  EndpointSliceList: `k8s.io/api/discovery/v1 EndpointSliceList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []EndpointSlice 2`,
  EndpointSubset: `k8s.io/api/core/v1 EndpointSubset
addresses []EndpointAddress 1 omitempty optional list=atomic
notReadyAddresses []EndpointAddress 2 omitempty optional list=atomic
ports []EndpointPort 3 omitempty optional list=atomic`,
  Endpoints: `k8s.io/api/core/v1 Endpoints
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
subsets []EndpointSubset 2 omitempty optional list=atomic`,
  EndpointsList: `k8s.io/api/core/v1 EndpointsList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Endpoints 2`,
  EnvFromSource: `k8s.io/api/core/v1 EnvFromSource
prefix string 1 omitempty optional
configMapRef *ConfigMapEnvSource 2 omitempty optional
secretRef *SecretEnvSource 3 omitempty optional`,
  EnvVar: `k8s.io/api/core/v1 EnvVar
name string 1
value string 2 omitempty optional
valueFrom *EnvVarSource 3 omitempty optional`,
  EnvVarSource: `k8s.io/api/core/v1 EnvVarSource
fieldRef *ObjectFieldSelector 1 omitempty optional
resourceFieldRef *ResourceFieldSelector 2 omitempty optional
configMapKeyRef *ConfigMapKeySelector 3 omitempty optional
secretKeyRef *SecretKeySelector 4 omitempty optional
fileKeyRef *FileKeySelector 5 omitempty optional`,
  EphemeralContainer: `k8s.io/api/core/v1 EphemeralContainer
- EphemeralContainerCommon 1 inline
targetContainerName string 2 omitempty optional`,
  EphemeralContainerCommon: `k8s.io/api/core/v1 EphemeralContainerCommon
name string 1
image string 2 omitempty
command []string 3 omitempty optional list=atomic
args []string 4 omitempty optional list=atomic
workingDir string 5 omitempty optional
ports []ContainerPort 6 omitempty optional patch=merge mergeKey=containerPort list=map keys=containerPort,protocol
envFrom []EnvFromSource 19 omitempty optional list=atomic
env []EnvVar 7 omitempty optional patch=merge mergeKey=name list=map keys=name
resources ResourceRequirements 8 omitempty optional
resizePolicy []ContainerResizePolicy 23 omitempty optional list=atomic
restartPolicy *ContainerRestartPolicy 24 omitempty optional
restartPolicyRules []ContainerRestartRule 25 omitempty optional list=atomic
volumeMounts []VolumeMount 9 omitempty optional patch=merge mergeKey=mountPath list=map keys=mountPath
volumeDevices []VolumeDevice 21 omitempty optional patch=merge mergeKey=devicePath list=map keys=devicePath
livenessProbe *Probe 10 omitempty optional
readinessProbe *Probe 11 omitempty optional
startupProbe *Probe 22 omitempty optional
lifecycle *Lifecycle 12 omitempty optional
terminationMessagePath string 13 omitempty optional
terminationMessagePolicy TerminationMessagePolicy 20 omitempty optional
imagePullPolicy PullPolicy 14 omitempty optional
securityContext *SecurityContext 15 omitempty optional
stdin bool 16 omitempty optional
stdinOnce bool 17 omitempty optional
tty bool 18 omitempty optional`,
  EphemeralVolumeSource: `k8s.io/api/core/v1 EphemeralVolumeSource
volumeClaimTemplate *PersistentVolumeClaimTemplate 1 omitempty`,
  Event: `k8s.io/api/core/v1 Event
- TypeMeta 0 inline
metadata ObjectMeta 1
involvedObject ObjectReference 2
reason string 3 omitempty optional
message string 4 omitempty optional
source EventSource 5 omitempty optional
firstTimestamp Time 6 omitempty optional
lastTimestamp Time 7 omitempty optional
count int32 8 omitempty optional
type string 9 omitempty optional
eventTime MicroTime 10 omitempty optional
series *EventSeries 11 omitempty optional
action string 12 omitempty optional
related *ObjectReference 13 omitempty optional
reportingComponent string 14 optional
reportingInstance string 15 optional`,
  EventList: `k8s.io/api/core/v1 EventList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Event 2`,
  EventSeries: `k8s.io/api/core/v1 EventSeries
count int32 1 omitempty
lastObservedTime MicroTime 2 omitempty`,
  EventSource: `k8s.io/api/core/v1 EventSource
component string 1 omitempty optional
host string 2 omitempty optional`,
  EventsEvent: `k8s.io/api/events/v1 Event
- TypeMeta 0 inline
metadata ObjectMeta 1 optional
eventTime MicroTime 2
series *EventsEventSeries 3 omitempty optional
reportingController string 4 omitempty
reportingInstance string 5 omitempty
action string 6 omitempty
reason string 7 omitempty
regarding ObjectReference 8 omitempty optional
related *ObjectReference 9 omitempty optional
note string 10 omitempty optional
type string 11 omitempty
deprecatedSource EventSource 12 omitempty optional
deprecatedFirstTimestamp Time 13 omitempty optional
deprecatedLastTimestamp Time 14 omitempty optional
deprecatedCount int32 15 omitempty optional`,
  EventsEventList: `k8s.io/api/events/v1 EventList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []EventsEvent 2`,
  EventsEventSeries: `k8s.io/api/events/v1 EventSeries
count int32 1
lastObservedTime MicroTime 2`,
  Eviction: `k8s.io/api/policy/v1 Eviction
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
deleteOptions *DeleteOptions 2 omitempty optional`,
  ExactDeviceRequest: `k8s.io/api/resource/v1 ExactDeviceRequest
deviceClassName string 1 required
selectors []DeviceSelector 2 omitempty optional list=atomic
allocationMode DeviceAllocationMode 3 omitempty optional
count int64 4 omitempty optional
adminAccess *bool 5 omitempty optional
tolerations []DeviceToleration 6 omitempty optional list=atomic
capacity *CapacityRequirements 7 omitempty optional`,
  ExecAction: `k8s.io/api/core/v1 ExecAction
command []string 1 omitempty optional list=atomic`,
  ExemptPriorityLevelConfiguration: `k8s.io/api/flowcontrol/v1 ExemptPriorityLevelConfiguration
nominalConcurrencyShares *int32 1 omitempty optional
lendablePercent *int32 2 omitempty optional`,
  ExpressionWarning: `k8s.io/api/admissionregistration/v1 ExpressionWarning
fieldRef string 2
warning string 3`,
  ExternalMetricSource: `k8s.io/api/autoscaling/v2 ExternalMetricSource
metric MetricIdentifier 1
target MetricTarget 2`,
  ExternalMetricStatus: `k8s.io/api/autoscaling/v2 ExternalMetricStatus
metric MetricIdentifier 1
current MetricValueStatus 2`,
  FCVolumeSource: `k8s.io/api/core/v1 FCVolumeSource
targetWWNs []string 1 omitempty optional list=atomic
lun *int32 2 omitempty optional
fsType string 3 omitempty optional
readOnly bool 4 omitempty optional
wwids []string 5 omitempty optional list=atomic`,
  FieldSelectorAttributes: `k8s.io/api/authorization/v1 FieldSelectorAttributes
rawSelector string 1 omitempty optional
requirements []FieldSelectorRequirement 2 omitempty optional list=atomic`,
  FieldSelectorRequirement: `k8s.io/apimachinery/pkg/apis/meta/v1 FieldSelectorRequirement
key string 1
operator FieldSelectorOperator 2
values []string 3 omitempty optional list=atomic`,
  FileKeySelector: `k8s.io/api/core/v1 FileKeySelector atomic
volumeName string 1 required
path string 2 required
key string 3 required
optional *bool 4 omitempty optional default=false`,
  FlexPersistentVolumeSource: `k8s.io/api/core/v1 FlexPersistentVolumeSource
driver string 1
fsType string 2 omitempty optional
secretRef *SecretReference 3 omitempty optional
readOnly bool 4 omitempty optional
options map[string]string 5 omitempty optional`,
  FlexVolumeSource: `k8s.io/api/core/v1 FlexVolumeSource
driver string 1
fsType string 2 omitempty optional
secretRef *LocalObjectReference 3 omitempty optional
readOnly bool 4 omitempty optional
options map[string]string 5 omitempty optional`,
  FlockerVolumeSource: `k8s.io/api/core/v1 FlockerVolumeSource
datasetName string 1 omitempty optional
datasetUUID string 2 omitempty optional`,
  FlowDistinguisherMethod: `k8s.io/api/flowcontrol/v1 FlowDistinguisherMethod
type FlowDistinguisherMethodType 1`,
  FlowSchema: `k8s.io/api/flowcontrol/v1 FlowSchema
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec FlowSchemaSpec 2 omitempty optional
status FlowSchemaStatus 3 omitempty optional`,
  FlowSchemaCondition: `k8s.io/api/flowcontrol/v1 FlowSchemaCondition
type FlowSchemaConditionType 1 omitempty
status FlowcontrolConditionStatus 2 omitempty
lastTransitionTime Time 3 omitempty
reason string 4 omitempty
message string 5 omitempty`,
  FlowSchemaList: `k8s.io/api/flowcontrol/v1 FlowSchemaList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []FlowSchema 2`,
  FlowSchemaSpec: `k8s.io/api/flowcontrol/v1 FlowSchemaSpec
priorityLevelConfiguration PriorityLevelConfigurationReference 1
matchingPrecedence int32 2 optional
distinguisherMethod *FlowDistinguisherMethod 3 omitempty optional
rules []PolicyRulesWithSubjects 4 omitempty optional list=atomic`,
  FlowSchemaStatus: `k8s.io/api/flowcontrol/v1 FlowSchemaStatus
conditions []FlowSchemaCondition 1 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  FlowcontrolSubject: `k8s.io/api/flowcontrol/v1 Subject union
kind SubjectKind 1 discriminator
user *UserSubject 2 omitempty optional
group *GroupSubject 3 omitempty optional
serviceAccount *ServiceAccountSubject 4 omitempty optional`,
  ForNode: `k8s.io/api/discovery/v1 ForNode
name string 1`,
  ForZone: `k8s.io/api/discovery/v1 ForZone
name string 1`,
  GCEPersistentDiskVolumeSource: `k8s.io/api/core/v1 GCEPersistentDiskVolumeSource
pdName string 1
fsType string 2 omitempty optional
partition int32 3 omitempty optional
readOnly bool 4 omitempty optional`,
  GRPCAction: `k8s.io/api/core/v1 GRPCAction
port int32 1
service *string 2 optional default=""`,
  GetOptions: `k8s.io/apimachinery/pkg/apis/meta/v1 GetOptions
- TypeMeta 0 inline
resourceVersion string 1 omitempty optional`,
  GitRepoVolumeSource: `k8s.io/api/core/v1 GitRepoVolumeSource
repository string 1
revision string 2 omitempty optional
directory string 3 omitempty optional`,
  GlusterfsPersistentVolumeSource: `k8s.io/api/core/v1 GlusterfsPersistentVolumeSource
endpoints string 1
path string 2
readOnly bool 3 omitempty optional
endpointsNamespace *string 4 omitempty optional`,
  GlusterfsVolumeSource: `k8s.io/api/core/v1 GlusterfsVolumeSource
endpoints string 1
path string 2
readOnly bool 3 omitempty optional`,
  GroupSubject: `k8s.io/api/flowcontrol/v1 GroupSubject
name string 1`,
  GroupVersionForDiscovery: `k8s.io/apimachinery/pkg/apis/meta/v1 GroupVersionForDiscovery
groupVersion string 1
version string 2`,
  HPAScalingPolicy: `k8s.io/api/autoscaling/v2 HPAScalingPolicy
type HPAScalingPolicyType 1
value int32 2
periodSeconds int32 3`,
  HPAScalingRules: `k8s.io/api/autoscaling/v2 HPAScalingRules
stabilizationWindowSeconds *int32 3 omitempty optional
selectPolicy *ScalingPolicySelect 1 omitempty optional
policies []HPAScalingPolicy 2 omitempty optional list=atomic
tolerance *Quantity 4 omitempty optional`,
  HTTPGetAction: `k8s.io/api/core/v1 HTTPGetAction
path string 1 omitempty optional
port IntOrString 2
host string 3 omitempty optional
scheme URIScheme 4 omitempty optional
httpHeaders []HTTPHeader 5 omitempty optional list=atomic`,
  HTTPHeader: `k8s.io/api/core/v1 HTTPHeader
name string 1
value string 2`,
  HTTPIngressPath: `k8s.io/api/networking/v1 HTTPIngressPath
path string 1 omitempty optional
pathType *PathType 3
backend IngressBackend 2`,
  HTTPIngressRuleValue: `k8s.io/api/networking/v1 HTTPIngressRuleValue
paths []HTTPIngressPath 1 list=atomic`,
  HorizontalPodAutoscaler: `k8s.io/api/autoscaling/v2 HorizontalPodAutoscaler
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec HorizontalPodAutoscalerSpec 2 omitempty required
status HorizontalPodAutoscalerStatus 3 omitempty optional`,
  HorizontalPodAutoscalerBehavior: `k8s.io/api/autoscaling/v2 HorizontalPodAutoscalerBehavior
scaleUp *HPAScalingRules 1 omitempty optional
scaleDown *HPAScalingRules 2 omitempty optional`,
  HorizontalPodAutoscalerCondition: `k8s.io/api/autoscaling/v2 HorizontalPodAutoscalerCondition
type HorizontalPodAutoscalerConditionType 1
status ConditionStatus 2
lastTransitionTime Time 3 omitempty optional
reason string 4 omitempty optional
message string 5 omitempty optional`,
  HorizontalPodAutoscalerList: `k8s.io/api/autoscaling/v2 HorizontalPodAutoscalerList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []HorizontalPodAutoscaler 2`,
  HorizontalPodAutoscalerSpec: `k8s.io/api/autoscaling/v2 HorizontalPodAutoscalerSpec
scaleTargetRef CrossVersionObjectReference 1
minReplicas *int32 2 omitempty optional
maxReplicas int32 3 required
metrics []MetricSpec 4 omitempty optional list=atomic
behavior *HorizontalPodAutoscalerBehavior 5 omitempty optional`,
  HorizontalPodAutoscalerStatus: `k8s.io/api/autoscaling/v2 HorizontalPodAutoscalerStatus
observedGeneration *int64 1 omitempty optional
lastScaleTime *Time 2 omitempty optional
currentReplicas int32 3 omitempty optional
desiredReplicas int32 4
currentMetrics []MetricStatus 5 optional list=atomic
conditions []HorizontalPodAutoscalerCondition 6 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  HostAlias: `k8s.io/api/core/v1 HostAlias
ip string 1 required
hostnames []string 2 omitempty list=atomic`,
  HostIP: `k8s.io/api/core/v1 HostIP
ip string 1 required`,
  HostPathVolumeSource: `k8s.io/api/core/v1 HostPathVolumeSource
path string 1
type *HostPathType 2 omitempty optional`,
  IPAddress: `k8s.io/api/networking/v1 IPAddress
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec IPAddressSpec 2 omitempty required`,
  IPAddressList: `k8s.io/api/networking/v1 IPAddressList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []IPAddress 2`,
  IPAddressSpec: `k8s.io/api/networking/v1 IPAddressSpec
parentRef *ParentReference 1 omitempty required`,
  IPBlock: `k8s.io/api/networking/v1 IPBlock
cidr string 1 required
except []string 2 omitempty optional list=atomic`,
  ISCSIPersistentVolumeSource: `k8s.io/api/core/v1 ISCSIPersistentVolumeSource
targetPortal string 1
iqn string 2
lun int32 3
iscsiInterface string 4 omitempty optional default="default"
fsType string 5 omitempty optional
readOnly bool 6 omitempty optional
portals []string 7 omitempty optional list=atomic
chapAuthDiscovery bool 8 omitempty optional
chapAuthSession bool 11 omitempty optional
secretRef *SecretReference 10 omitempty optional
initiatorName *string 12 omitempty optional`,
  ISCSIVolumeSource: `k8s.io/api/core/v1 ISCSIVolumeSource
targetPortal string 1
iqn string 2
lun int32 3
iscsiInterface string 4 omitempty optional default="default"
fsType string 5 omitempty optional
readOnly bool 6 omitempty optional
portals []string 7 omitempty optional list=atomic
chapAuthDiscovery bool 8 omitempty optional
chapAuthSession bool 11 omitempty optional
secretRef *LocalObjectReference 10 omitempty optional
initiatorName *string 12 omitempty optional`,
  ImageVolumeSource: `k8s.io/api/core/v1 ImageVolumeSource
reference string 1 omitempty optional
pullPolicy PullPolicy 2 omitempty optional`,
  ImageVolumeStatus: `k8s.io/api/core/v1 ImageVolumeStatus
imageRef string 1 omitempty required`,
  Ingress: `k8s.io/api/networking/v1 Ingress
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec IngressSpec 2 omitempty optional
status IngressStatus 3 omitempty optional`,
  IngressBackend: `k8s.io/api/networking/v1 IngressBackend
service *IngressServiceBackend 4 omitempty optional
resource *TypedLocalObjectReference 3 omitempty optional`,
  IngressClass: `k8s.io/api/networking/v1 IngressClass
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec IngressClassSpec 2 omitempty optional`,
  IngressClassList: `k8s.io/api/networking/v1 IngressClassList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []IngressClass 2`,
  IngressClassParametersReference: `k8s.io/api/networking/v1 IngressClassParametersReference
apiGroup *string 1 omitempty optional
kind string 2 required
name string 3 required
scope *string 4 optional
namespace *string 5 omitempty optional`,
  IngressClassSpec: `k8s.io/api/networking/v1 IngressClassSpec
controller string 1 omitempty
parameters *IngressClassParametersReference 2 omitempty optional`,
  IngressList: `k8s.io/api/networking/v1 IngressList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Ingress 2`,
  IngressLoadBalancerIngress: `k8s.io/api/networking/v1 IngressLoadBalancerIngress
ip string 1 omitempty optional
hostname string 2 omitempty optional
ports []IngressPortStatus 4 omitempty optional list=atomic`,
  IngressLoadBalancerStatus: `k8s.io/api/networking/v1 IngressLoadBalancerStatus
ingress []IngressLoadBalancerIngress 1 omitempty optional list=atomic`,
  IngressPortStatus: `k8s.io/api/networking/v1 IngressPortStatus
port int32 1
protocol Protocol 2
error *string 3 omitempty optional`,
  IngressRule: `k8s.io/api/networking/v1 IngressRule
host string 1 omitempty optional
- IngressRuleValue 2 inline optional`,
  IngressRuleValue: `k8s.io/api/networking/v1 IngressRuleValue
http *HTTPIngressRuleValue 1 omitempty optional`,
  IngressServiceBackend: `k8s.io/api/networking/v1 IngressServiceBackend
name string 1
port ServiceBackendPort 2 omitempty`,
  IngressSpec: `k8s.io/api/networking/v1 IngressSpec
ingressClassName *string 4 omitempty optional
defaultBackend *IngressBackend 1 omitempty optional
tls []IngressTLS 2 omitempty optional list=atomic
rules []IngressRule 3 omitempty optional list=atomic`,
  IngressStatus: `k8s.io/api/networking/v1 IngressStatus
loadBalancer IngressLoadBalancerStatus 1 omitempty optional`,
  IngressTLS: `k8s.io/api/networking/v1 IngressTLS
hosts []string 1 omitempty optional list=atomic
secretName string 2 omitempty optional`,
  JSONPatch: `k8s.io/api/admissionregistration/v1 JSONPatch
expression string 1 omitempty`,
  Job: `k8s.io/api/batch/v1 Job
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec JobSpec 2 omitempty optional
status JobStatus 3 omitempty optional`,
  JobCondition: `k8s.io/api/batch/v1 JobCondition
type JobConditionType 1
status ConditionStatus 2
lastProbeTime Time 3 omitempty optional
lastTransitionTime Time 4 omitempty optional
reason string 5 omitempty optional
message string 6 omitempty optional`,
  JobList: `k8s.io/api/batch/v1 JobList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Job 2`,
  JobSpec: `k8s.io/api/batch/v1 JobSpec
parallelism *int32 1 omitempty optional
completions *int32 2 omitempty optional
activeDeadlineSeconds *int64 3 omitempty optional
podFailurePolicy *PodFailurePolicy 11 omitempty optional
successPolicy *SuccessPolicy 16 omitempty optional
backoffLimit *int32 7 omitempty optional
backoffLimitPerIndex *int32 12 omitempty optional
maxFailedIndexes *int32 13 omitempty optional
selector *LabelSelector 4 omitempty optional
manualSelector *bool 5 omitempty optional
template PodTemplateSpec 6
ttlSecondsAfterFinished *int32 8 omitempty optional
completionMode *CompletionMode 9 omitempty optional
suspend *bool 10 omitempty optional
podReplacementPolicy *PodReplacementPolicy 14 omitempty optional
managedBy *string 15 omitempty optional`,
  JobStatus: `k8s.io/api/batch/v1 JobStatus
conditions []JobCondition 1 omitempty optional patch=merge mergeKey=type list=atomic
startTime *Time 2 omitempty optional
completionTime *Time 3 omitempty optional
active int32 4 omitempty optional
succeeded int32 5 omitempty optional
failed int32 6 omitempty optional
terminating *int32 11 omitempty optional
completedIndexes string 7 omitempty optional
failedIndexes *string 10 omitempty optional
uncountedTerminatedPods *UncountedTerminatedPods 8 omitempty optional
ready *int32 9 omitempty`,
  JobTemplateSpec: `k8s.io/api/batch/v1 JobTemplateSpec
metadata ObjectMeta 1 omitempty optional
spec JobSpec 2 omitempty optional`,
  KeyToPath: `k8s.io/api/core/v1 KeyToPath
key string 1
path string 2
mode *int32 3 omitempty optional`,
  LabelSelector: `k8s.io/apimachinery/pkg/apis/meta/v1 LabelSelector atomic
matchLabels map[string]string 1 omitempty optional
matchExpressions []LabelSelectorRequirement 2 omitempty optional list=atomic`,
  LabelSelectorAttributes: `k8s.io/api/authorization/v1 LabelSelectorAttributes
rawSelector string 1 omitempty optional
requirements []LabelSelectorRequirement 2 omitempty optional list=atomic`,
  LabelSelectorRequirement: `k8s.io/apimachinery/pkg/apis/meta/v1 LabelSelectorRequirement
key string 1
operator LabelSelectorOperator 2
values []string 3 omitempty optional list=atomic`,
  Lease: `k8s.io/api/coordination/v1 Lease
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec LeaseSpec 2 omitempty optional`,
  LeaseList: `k8s.io/api/coordination/v1 LeaseList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Lease 2`,
  LeaseSpec: `k8s.io/api/coordination/v1 LeaseSpec
holderIdentity *string 1 omitempty optional
leaseDurationSeconds *int32 2 omitempty optional
acquireTime *MicroTime 3 omitempty optional
renewTime *MicroTime 4 omitempty optional
leaseTransitions *int32 5 omitempty optional
strategy *CoordinatedLeaseStrategy 6 omitempty optional
preferredHolder *string 7 omitempty optional`,
  Lifecycle: `k8s.io/api/core/v1 Lifecycle
postStart *LifecycleHandler 1 omitempty optional
preStop *LifecycleHandler 2 omitempty optional
stopSignal *Signal 3 omitempty optional`,
  LifecycleHandler: `k8s.io/api/core/v1 LifecycleHandler
exec *ExecAction 1 omitempty optional
httpGet *HTTPGetAction 2 omitempty optional
tcpSocket *TCPSocketAction 3 omitempty optional
sleep *SleepAction 4 omitempty optional`,
  LimitRange: `k8s.io/api/core/v1 LimitRange
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec LimitRangeSpec 2 omitempty optional`,
  LimitRangeItem: `k8s.io/api/core/v1 LimitRangeItem
type LimitType 1
max ResourceList 2 omitempty optional
min ResourceList 3 omitempty optional
default ResourceList 4 omitempty optional
defaultRequest ResourceList 5 omitempty optional
maxLimitRequestRatio ResourceList 6 omitempty optional`,
  LimitRangeList: `k8s.io/api/core/v1 LimitRangeList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []LimitRange 2`,
  LimitRangeSpec: `k8s.io/api/core/v1 LimitRangeSpec
limits []LimitRangeItem 1 list=atomic`,
  LimitResponse: `k8s.io/api/flowcontrol/v1 LimitResponse union
type LimitResponseType 1 discriminator
queuing *QueuingConfiguration 2 omitempty optional`,
  LimitedPriorityLevelConfiguration: `k8s.io/api/flowcontrol/v1 LimitedPriorityLevelConfiguration
nominalConcurrencyShares *int32 1 optional
limitResponse LimitResponse 2 omitempty
lendablePercent *int32 3 omitempty optional
borrowingLimitPercent *int32 4 omitempty optional`,
  LinuxContainerUser: `k8s.io/api/core/v1 LinuxContainerUser
uid int64 1
gid int64 2
supplementalGroups []int64 3 omitempty optional list=atomic`,
  List: `k8s.io/apimachinery/pkg/apis/meta/v1 List
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []RawExtension 2`,
  ListMeta: `k8s.io/apimachinery/pkg/apis/meta/v1 ListMeta
selfLink string 1 omitempty optional
resourceVersion string 2 omitempty optional
continue string 3 omitempty
remainingItemCount *int64 4 omitempty optional
shardInfo *ShardInfo 5 omitempty optional`,
  ListOptions: `k8s.io/apimachinery/pkg/apis/meta/v1 ListOptions
- TypeMeta 0 inline
labelSelector string 1 omitempty optional
fieldSelector string 2 omitempty optional
watch bool 3 omitempty optional
allowWatchBookmarks bool 9 omitempty optional
resourceVersion string 4 omitempty optional
resourceVersionMatch ResourceVersionMatch 10 omitempty optional
timeoutSeconds *int64 5 omitempty optional
limit int64 7 omitempty
continue string 8 omitempty
sendInitialEvents *bool 11 omitempty optional
shardSelector string 15 omitempty optional`,
  LoadBalancerIngress: `k8s.io/api/core/v1 LoadBalancerIngress
ip string 1 omitempty optional
hostname string 2 omitempty optional
ipMode *LoadBalancerIPMode 3 omitempty optional
ports []PortStatus 4 omitempty optional list=atomic`,
  LoadBalancerStatus: `k8s.io/api/core/v1 LoadBalancerStatus
ingress []LoadBalancerIngress 1 omitempty optional list=atomic`,
  LocalObjectReference: `k8s.io/api/core/v1 LocalObjectReference atomic
name string 1 omitempty optional default=""`,
  LocalSubjectAccessReview: `k8s.io/api/authorization/v1 LocalSubjectAccessReview
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec SubjectAccessReviewSpec 2
status SubjectAccessReviewStatus 3 omitempty optional`,
  LocalVolumeSource: `k8s.io/api/core/v1 LocalVolumeSource
path string 1
fsType *string 2 omitempty optional`,
  ManagedFieldsEntry: `k8s.io/apimachinery/pkg/apis/meta/v1 ManagedFieldsEntry
manager string 1 omitempty
operation ManagedFieldsOperationType 2 omitempty
apiVersion string 3 omitempty
time *Time 4 omitempty optional
fieldsType string 6 omitempty
fieldsV1 *FieldsV1 7 omitempty optional
subresource string 8 omitempty`,
  MatchCondition: `k8s.io/api/admissionregistration/v1 MatchCondition
name string 1
expression string 2`,
  MatchResources: `k8s.io/api/admissionregistration/v1 MatchResources atomic
namespaceSelector *LabelSelector 1 omitempty optional
objectSelector *LabelSelector 2 omitempty optional
resourceRules []NamedRuleWithOperations 3 omitempty optional list=atomic
excludeResourceRules []NamedRuleWithOperations 4 omitempty optional list=atomic
matchPolicy *MatchPolicyType 7 omitempty optional`,
  MetricIdentifier: `k8s.io/api/autoscaling/v2 MetricIdentifier
name string 1
selector *LabelSelector 2 omitempty optional`,
  MetricSpec: `k8s.io/api/autoscaling/v2 MetricSpec
type MetricSourceType 1
object *ObjectMetricSource 2 omitempty optional
pods *PodsMetricSource 3 omitempty optional
resource *ResourceMetricSource 4 omitempty optional
containerResource *ContainerResourceMetricSource 7 omitempty optional
external *ExternalMetricSource 5 omitempty optional`,
  MetricStatus: `k8s.io/api/autoscaling/v2 MetricStatus
type MetricSourceType 1
object *ObjectMetricStatus 2 omitempty optional
pods *PodsMetricStatus 3 omitempty optional
resource *ResourceMetricStatus 4 omitempty optional
containerResource *ContainerResourceMetricStatus 7 omitempty optional
external *ExternalMetricStatus 5 omitempty optional`,
  MetricTarget: `k8s.io/api/autoscaling/v2 MetricTarget
type MetricTargetType 1
value *Quantity 2 omitempty optional
averageValue *Quantity 3 omitempty optional
averageUtilization *int32 4 omitempty optional`,
  MetricValueStatus: `k8s.io/api/autoscaling/v2 MetricValueStatus
value *Quantity 1 omitempty optional
averageValue *Quantity 2 omitempty optional
averageUtilization *int32 3 omitempty optional`,
  ModifyVolumeStatus: `k8s.io/api/core/v1 ModifyVolumeStatus
targetVolumeAttributesClassName string 1 omitempty
status PersistentVolumeClaimModifyVolumeStatus 2`,
  MutatingAdmissionPolicy: `k8s.io/api/admissionregistration/v1 MutatingAdmissionPolicy
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec MutatingAdmissionPolicySpec 2 omitempty`,
  MutatingAdmissionPolicyBinding: `k8s.io/api/admissionregistration/v1 MutatingAdmissionPolicyBinding
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec MutatingAdmissionPolicyBindingSpec 2 omitempty`,
  MutatingAdmissionPolicyBindingList: `k8s.io/api/admissionregistration/v1 MutatingAdmissionPolicyBindingList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []MutatingAdmissionPolicyBinding 2`,
  MutatingAdmissionPolicyBindingSpec: `k8s.io/api/admissionregistration/v1 MutatingAdmissionPolicyBindingSpec
policyName string 1 omitempty
paramRef *ParamRef 2 omitempty optional
matchResources *MatchResources 3 omitempty optional`,
  MutatingAdmissionPolicyList: `k8s.io/api/admissionregistration/v1 MutatingAdmissionPolicyList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []MutatingAdmissionPolicy 2`,
  MutatingAdmissionPolicySpec: `k8s.io/api/admissionregistration/v1 MutatingAdmissionPolicySpec
paramKind *ParamKind 1 omitempty optional
matchConstraints *MatchResources 2 omitempty
variables []Variable 3 omitempty optional list=atomic
mutations []Mutation 4 omitempty optional list=atomic
failurePolicy *FailurePolicyType 5 omitempty optional
matchConditions []MatchCondition 6 omitempty optional patch=merge mergeKey=name list=map keys=name
reinvocationPolicy ReinvocationPolicyType 7 omitempty`,
  MutatingWebhook: `k8s.io/api/admissionregistration/v1 MutatingWebhook
name string 1
clientConfig WebhookClientConfig 2
rules []RuleWithOperations 3 omitempty list=atomic
failurePolicy *FailurePolicyType 4 omitempty optional
matchPolicy *MatchPolicyType 9 omitempty optional
namespaceSelector *LabelSelector 5 omitempty optional
objectSelector *LabelSelector 11 omitempty optional
sideEffects *SideEffectClass 6
timeoutSeconds *int32 7 omitempty optional
admissionReviewVersions []string 8 list=atomic
reinvocationPolicy *ReinvocationPolicyType 10 omitempty optional
matchConditions []MatchCondition 12 omitempty optional patch=merge mergeKey=name list=map keys=name`,
  MutatingWebhookConfiguration: `k8s.io/api/admissionregistration/v1 MutatingWebhookConfiguration
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
webhooks []MutatingWebhook 2 omitempty optional patch=merge mergeKey=name list=map keys=name`,
  MutatingWebhookConfigurationList: `k8s.io/api/admissionregistration/v1 MutatingWebhookConfigurationList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []MutatingWebhookConfiguration 2`,
  Mutation: `k8s.io/api/admissionregistration/v1 Mutation
patchType PatchType 2 discriminator
applyConfiguration *ApplyConfiguration 3 omitempty
jsonPatch *JSONPatch 4 omitempty`,
  NFSVolumeSource: `k8s.io/api/core/v1 NFSVolumeSource
server string 1
path string 2
readOnly bool 3 omitempty optional`,
  NamedRuleWithOperations: `k8s.io/api/admissionregistration/v1 NamedRuleWithOperations atomic
resourceNames []string 1 omitempty optional list=atomic
- RuleWithOperations 2 inline`,
  Namespace: `k8s.io/api/core/v1 Namespace
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec NamespaceSpec 2 omitempty optional
status NamespaceStatus 3 omitempty optional`,
  NamespaceCondition: `k8s.io/api/core/v1 NamespaceCondition
type NamespaceConditionType 1
status ConditionStatus 2
lastTransitionTime Time 4 omitempty optional
reason string 5 omitempty optional
message string 6 omitempty optional`,
  NamespaceList: `k8s.io/api/core/v1 NamespaceList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Namespace 2`,
  NamespaceSpec: `k8s.io/api/core/v1 NamespaceSpec
finalizers []FinalizerName 1 omitempty optional list=atomic`,
  NamespaceStatus: `k8s.io/api/core/v1 NamespaceStatus
phase NamespacePhase 1 omitempty optional
conditions []NamespaceCondition 2 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  NetworkDeviceData: `k8s.io/api/resource/v1 NetworkDeviceData
interfaceName string 1 omitempty optional
ips []string 2 omitempty optional list=atomic
hardwareAddress string 3 omitempty optional`,
  NetworkPolicy: `k8s.io/api/networking/v1 NetworkPolicy
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec NetworkPolicySpec 2 omitempty optional`,
  NetworkPolicyEgressRule: `k8s.io/api/networking/v1 NetworkPolicyEgressRule
ports []NetworkPolicyPort 1 omitempty optional list=atomic
to []NetworkPolicyPeer 2 omitempty optional list=atomic`,
  NetworkPolicyIngressRule: `k8s.io/api/networking/v1 NetworkPolicyIngressRule
ports []NetworkPolicyPort 1 omitempty optional list=atomic
from []NetworkPolicyPeer 2 omitempty optional list=atomic`,
  NetworkPolicyList: `k8s.io/api/networking/v1 NetworkPolicyList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []NetworkPolicy 2`,
  NetworkPolicyPeer: `k8s.io/api/networking/v1 NetworkPolicyPeer
podSelector *LabelSelector 1 omitempty optional
namespaceSelector *LabelSelector 2 omitempty optional
ipBlock *IPBlock 3 omitempty optional`,
  NetworkPolicyPort: `k8s.io/api/networking/v1 NetworkPolicyPort
protocol *Protocol 1 omitempty optional
port *IntOrString 2 omitempty optional
endPort *int32 3 omitempty optional`,
  NetworkPolicySpec: `k8s.io/api/networking/v1 NetworkPolicySpec
podSelector LabelSelector 1 optional
ingress []NetworkPolicyIngressRule 2 omitempty optional list=atomic
egress []NetworkPolicyEgressRule 3 omitempty optional list=atomic
policyTypes []PolicyType 4 omitempty optional list=atomic`,
  Node: `k8s.io/api/core/v1 Node
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec NodeSpec 2 omitempty optional
status NodeStatus 3 omitempty optional`,
  NodeAddress: `k8s.io/api/core/v1 NodeAddress
type NodeAddressType 1
address string 2`,
  NodeAffinity: `k8s.io/api/core/v1 NodeAffinity
requiredDuringSchedulingIgnoredDuringExecution *NodeSelector 1 omitempty optional
preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm 2 omitempty optional list=atomic`,
  NodeAllocatableResourceClaimStatus: `k8s.io/api/core/v1 NodeAllocatableResourceClaimStatus
resourceClaimName string 1 required
containers []string 2 omitempty optional list=set
resources map[ResourceName]Quantity 3 required`,
  NodeAllocatableResourceMapping: `k8s.io/api/resource/v1 NodeAllocatableResourceMapping
capacityKey *QualifiedName 1 omitempty optional
allocationMultiplier *Quantity 2 omitempty optional`,
  NodeCondition: `k8s.io/api/core/v1 NodeCondition
type NodeConditionType 1
status ConditionStatus 2
lastHeartbeatTime Time 3 omitempty optional
lastTransitionTime Time 4 omitempty optional
reason string 5 omitempty optional
message string 6 omitempty optional`,
  NodeConfigSource: `k8s.io/api/core/v1 NodeConfigSource
configMap *ConfigMapNodeConfigSource 2 omitempty`,
  NodeConfigStatus: `k8s.io/api/core/v1 NodeConfigStatus
assigned *NodeConfigSource 1 omitempty optional
active *NodeConfigSource 2 omitempty optional
lastKnownGood *NodeConfigSource 3 omitempty optional
error string 4 omitempty optional`,
  NodeDaemonEndpoints: `k8s.io/api/core/v1 NodeDaemonEndpoints
kubeletEndpoint DaemonEndpoint 1 omitempty optional`,
  NodeFeatures: `k8s.io/api/core/v1 NodeFeatures
supplementalGroupsPolicy *bool 1 omitempty optional`,
  NodeList: `k8s.io/api/core/v1 NodeList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Node 2`,
  NodeProxyOptions: `k8s.io/api/core/v1 NodeProxyOptions
- TypeMeta 0 inline
path string 1 omitempty optional`,
  NodeRuntimeHandler: `k8s.io/api/core/v1 NodeRuntimeHandler
name string 1 optional
features *NodeRuntimeHandlerFeatures 2 omitempty optional`,
  NodeRuntimeHandlerFeatures: `k8s.io/api/core/v1 NodeRuntimeHandlerFeatures
recursiveReadOnlyMounts *bool 1 omitempty optional
userNamespaces *bool 2 omitempty optional`,
  NodeSelector: `k8s.io/api/core/v1 NodeSelector atomic
nodeSelectorTerms []NodeSelectorTerm 1 list=atomic`,
  NodeSelectorRequirement: `k8s.io/api/core/v1 NodeSelectorRequirement
key string 1
operator NodeSelectorOperator 2
values []string 3 omitempty optional list=atomic`,
  NodeSelectorTerm: `k8s.io/api/core/v1 NodeSelectorTerm atomic
matchExpressions []NodeSelectorRequirement 1 omitempty optional list=atomic
matchFields []NodeSelectorRequirement 2 omitempty optional list=atomic`,
  NodeSpec: `k8s.io/api/core/v1 NodeSpec
podCIDR string 1 omitempty optional
podCIDRs []string 7 omitempty optional patch=merge list=set
providerID string 3 omitempty optional
unschedulable bool 4 omitempty optional
taints []Taint 5 omitempty optional list=atomic
configSource *NodeConfigSource 6 omitempty optional
externalID string 2 omitempty optional`,
  NodeStatus: `k8s.io/api/core/v1 NodeStatus
capacity ResourceList 1 omitempty optional
allocatable ResourceList 2 omitempty optional
phase NodePhase 3 omitempty optional
conditions []NodeCondition 4 omitempty optional patch=merge mergeKey=type list=map keys=type
addresses []NodeAddress 5 omitempty optional patch=merge mergeKey=type list=map keys=type
daemonEndpoints NodeDaemonEndpoints 6 omitempty optional
nodeInfo NodeSystemInfo 7 omitempty optional
images []ContainerImage 8 omitempty optional list=atomic
volumesInUse []UniqueVolumeName 9 omitempty optional list=atomic
volumesAttached []AttachedVolume 10 omitempty optional list=atomic
config *NodeConfigStatus 11 omitempty optional
runtimeHandlers []NodeRuntimeHandler 12 omitempty optional list=atomic
features *NodeFeatures 13 omitempty optional
declaredFeatures []string 14 omitempty optional list=atomic`,
  NodeSwapStatus: `k8s.io/api/core/v1 NodeSwapStatus
capacity *int64 1 omitempty optional`,
  NodeSystemInfo: `k8s.io/api/core/v1 NodeSystemInfo
machineID string 1
systemUUID string 2
bootID string 3
kernelVersion string 4
osImage string 5
containerRuntimeVersion string 6
kubeletVersion string 7
kubeProxyVersion string 8
operatingSystem string 9
architecture string 10
swap *NodeSwapStatus 11 omitempty`,
  NonResourceAttributes: `k8s.io/api/authorization/v1 NonResourceAttributes
path string 1 omitempty optional
verb string 2 omitempty optional`,
  NonResourcePolicyRule: `k8s.io/api/flowcontrol/v1 NonResourcePolicyRule
verbs []string 1 list=set
nonResourceURLs []string 6 list=set`,
  NonResourceRule: `k8s.io/api/authorization/v1 NonResourceRule
verbs []string 1 list=atomic
nonResourceURLs []string 2 omitempty optional list=atomic`,
  ObjectFieldSelector: `k8s.io/api/core/v1 ObjectFieldSelector atomic
apiVersion string 1 omitempty optional
fieldPath string 2`,
  ObjectMeta: `k8s.io/apimachinery/pkg/apis/meta/v1 ObjectMeta
name string 1 omitempty optional
generateName string 2 omitempty optional
namespace string 3 omitempty optional
selfLink string 4 omitempty optional
uid UID 5 omitempty optional
resourceVersion string 6 omitempty optional
generation int64 7 omitempty optional
creationTimestamp Time 8 omitempty omitzero optional
deletionTimestamp *Time 9 omitempty optional
deletionGracePeriodSeconds *int64 10 omitempty optional
labels map[string]string 11 omitempty optional
annotations map[string]string 12 omitempty optional
ownerReferences []OwnerReference 13 omitempty optional patch=merge mergeKey=uid list=map keys=uid
finalizers []string 14 omitempty optional patch=merge list=set
managedFields []ManagedFieldsEntry 17 omitempty optional list=atomic`,
  ObjectMetricSource: `k8s.io/api/autoscaling/v2 ObjectMetricSource
describedObject CrossVersionObjectReference 1
target MetricTarget 2
metric MetricIdentifier 3`,
  ObjectMetricStatus: `k8s.io/api/autoscaling/v2 ObjectMetricStatus
metric MetricIdentifier 1
current MetricValueStatus 2
describedObject CrossVersionObjectReference 3`,
  ObjectReference: `k8s.io/api/core/v1 ObjectReference atomic
kind string 1 omitempty optional
namespace string 2 omitempty optional
name string 3 omitempty optional
uid UID 4 omitempty optional
apiVersion string 5 omitempty optional
resourceVersion string 6 omitempty optional
fieldPath string 7 omitempty optional`,
  OpaqueDeviceConfiguration: `k8s.io/api/resource/v1 OpaqueDeviceConfiguration
driver string 1 required
parameters RawExtension 2 required`,
  Overhead: `k8s.io/api/node/v1 Overhead
podFixed ResourceList 1 omitempty optional`,
  OwnerReference: `k8s.io/apimachinery/pkg/apis/meta/v1 OwnerReference atomic
apiVersion string 5
kind string 1
name string 3
uid UID 4
controller *bool 6 omitempty optional
blockOwnerDeletion *bool 7 omitempty optional`,
  ParamKind: `k8s.io/api/admissionregistration/v1 ParamKind atomic
apiVersion string 1 omitempty
kind string 2 omitempty`,
  ParamRef: `k8s.io/api/admissionregistration/v1 ParamRef atomic
name string 1 omitempty
namespace string 2 omitempty optional
selector *LabelSelector 3 omitempty optional
parameterNotFoundAction *ParameterNotFoundActionType 4 omitempty`,
  ParentReference: `k8s.io/api/networking/v1 ParentReference
group string 1 omitempty optional
resource string 2 omitempty required
namespace string 3 omitempty optional
name string 4 omitempty required`,
  PartialObjectMetadata: `k8s.io/apimachinery/pkg/apis/meta/v1 PartialObjectMetadata
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional`,
  PartialObjectMetadataList: `k8s.io/apimachinery/pkg/apis/meta/v1 PartialObjectMetadataList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []PartialObjectMetadata 2`,
  PatchOptions: `k8s.io/apimachinery/pkg/apis/meta/v1 PatchOptions
- TypeMeta 0 inline
dryRun []string 1 omitempty optional list=atomic
force *bool 2 omitempty optional
fieldManager string 3 omitempty optional
fieldValidation string 4 omitempty optional`,
  PersistentVolume: `k8s.io/api/core/v1 PersistentVolume
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec PersistentVolumeSpec 2 omitempty optional
status PersistentVolumeStatus 3 omitempty optional`,
  PersistentVolumeClaim: `k8s.io/api/core/v1 PersistentVolumeClaim
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec PersistentVolumeClaimSpec 2 omitempty optional
status PersistentVolumeClaimStatus 3 omitempty optional`,
  PersistentVolumeClaimCondition: `k8s.io/api/core/v1 PersistentVolumeClaimCondition
type PersistentVolumeClaimConditionType 1
status ConditionStatus 2
lastProbeTime Time 3 omitempty optional
lastTransitionTime Time 4 omitempty optional
reason string 5 omitempty optional
message string 6 omitempty optional`,
  PersistentVolumeClaimList: `k8s.io/api/core/v1 PersistentVolumeClaimList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []PersistentVolumeClaim 2`,
  PersistentVolumeClaimSpec: `k8s.io/api/core/v1 PersistentVolumeClaimSpec
accessModes []PersistentVolumeAccessMode 1 omitempty optional list=atomic
selector *LabelSelector 4 omitempty optional
resources VolumeResourceRequirements 2 omitempty optional
volumeName string 3 omitempty optional
storageClassName *string 5 omitempty optional
volumeMode *PersistentVolumeMode 6 omitempty optional
dataSource *TypedLocalObjectReference 7 omitempty optional
dataSourceRef *TypedObjectReference 8 omitempty optional
volumeAttributesClassName *string 9 omitempty optional`,
  PersistentVolumeClaimStatus: `k8s.io/api/core/v1 PersistentVolumeClaimStatus
phase PersistentVolumeClaimPhase 1 omitempty optional
accessModes []PersistentVolumeAccessMode 2 omitempty optional list=atomic
capacity ResourceList 3 omitempty optional
conditions []PersistentVolumeClaimCondition 4 omitempty optional patch=merge mergeKey=type list=map keys=type
allocatedResources ResourceList 5 omitempty optional
allocatedResourceStatuses map[ResourceName]ClaimResourceStatus 7 omitempty optional map=granular
currentVolumeAttributesClassName *string 8 omitempty optional
modifyVolumeStatus *ModifyVolumeStatus 9 omitempty optional`,
  PersistentVolumeClaimTemplate: `k8s.io/api/core/v1 PersistentVolumeClaimTemplate
metadata ObjectMeta 1 omitempty optional
spec PersistentVolumeClaimSpec 2`,
  PersistentVolumeClaimVolumeSource: `k8s.io/api/core/v1 PersistentVolumeClaimVolumeSource
claimName string 1
readOnly bool 2 omitempty optional`,
  PersistentVolumeList: `k8s.io/api/core/v1 PersistentVolumeList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []PersistentVolume 2`,
  PersistentVolumeSource: `k8s.io/api/core/v1 PersistentVolumeSource
gcePersistentDisk *GCEPersistentDiskVolumeSource 1 omitempty optional
awsElasticBlockStore *AWSElasticBlockStoreVolumeSource 2 omitempty optional
hostPath *HostPathVolumeSource 3 omitempty optional
glusterfs *GlusterfsPersistentVolumeSource 4 omitempty optional
nfs *NFSVolumeSource 5 omitempty optional
rbd *RBDPersistentVolumeSource 6 omitempty optional
iscsi *ISCSIPersistentVolumeSource 7 omitempty optional
cinder *CinderPersistentVolumeSource 8 omitempty optional
cephfs *CephFSPersistentVolumeSource 9 omitempty optional
fc *FCVolumeSource 10 omitempty optional
flocker *FlockerVolumeSource 11 omitempty optional
flexVolume *FlexPersistentVolumeSource 12 omitempty optional
azureFile *AzureFilePersistentVolumeSource 13 omitempty optional
vsphereVolume *VsphereVirtualDiskVolumeSource 14 omitempty optional
quobyte *QuobyteVolumeSource 15 omitempty optional
azureDisk *AzureDiskVolumeSource 16 omitempty optional
photonPersistentDisk *PhotonPersistentDiskVolumeSource 17 omitempty
portworxVolume *PortworxVolumeSource 18 omitempty optional
scaleIO *ScaleIOPersistentVolumeSource 19 omitempty optional
local *LocalVolumeSource 20 omitempty optional
storageos *StorageOSPersistentVolumeSource 21 omitempty optional
csi *CSIPersistentVolumeSource 22 omitempty optional`,
  PersistentVolumeSpec: `k8s.io/api/core/v1 PersistentVolumeSpec
capacity ResourceList 1 omitempty optional
- PersistentVolumeSource 2 inline
accessModes []PersistentVolumeAccessMode 3 omitempty optional list=atomic
claimRef *ObjectReference 4 omitempty optional map=granular
persistentVolumeReclaimPolicy PersistentVolumeReclaimPolicy 5 omitempty optional
storageClassName string 6 omitempty optional
mountOptions []string 7 omitempty optional list=atomic
volumeMode *PersistentVolumeMode 8 omitempty optional
nodeAffinity *VolumeNodeAffinity 9 omitempty optional
volumeAttributesClassName *string 10 omitempty optional`,
  PersistentVolumeStatus: `k8s.io/api/core/v1 PersistentVolumeStatus
phase PersistentVolumePhase 1 omitempty optional
message string 2 omitempty optional
reason string 3 omitempty optional
lastPhaseTransitionTime *Time 4 omitempty optional`,
  PhotonPersistentDiskVolumeSource: `k8s.io/api/core/v1 PhotonPersistentDiskVolumeSource
pdID string 1
fsType string 2 omitempty`,
  Pod: `k8s.io/api/core/v1 Pod
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec PodSpec 2 omitempty optional
status PodStatus 3 omitempty optional`,
  PodAffinity: `k8s.io/api/core/v1 PodAffinity
requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm 1 omitempty optional list=atomic
preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm 2 omitempty optional list=atomic`,
  PodAffinityTerm: `k8s.io/api/core/v1 PodAffinityTerm
labelSelector *LabelSelector 1 omitempty optional
namespaces []string 2 omitempty optional list=atomic
topologyKey string 3
namespaceSelector *LabelSelector 4 omitempty optional
matchLabelKeys []string 5 omitempty optional list=atomic
mismatchLabelKeys []string 6 omitempty optional list=atomic`,
  PodAntiAffinity: `k8s.io/api/core/v1 PodAntiAffinity
requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm 1 omitempty optional list=atomic
preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm 2 omitempty optional list=atomic`,
  PodAttachOptions: `k8s.io/api/core/v1 PodAttachOptions
- TypeMeta 0 inline
stdin bool 1 omitempty optional
stdout bool 2 omitempty optional
stderr bool 3 omitempty optional
tty bool 4 omitempty optional
container string 5 omitempty optional`,
  PodCertificateProjection: `k8s.io/api/core/v1 PodCertificateProjection
signerName string 1 omitempty required
keyType string 2 omitempty required
maxExpirationSeconds *int32 3 omitempty optional
credentialBundlePath string 4 omitempty optional
keyPath string 5 omitempty optional
certificateChainPath string 6 omitempty optional
userAnnotations map[string]string 7 omitempty`,
  PodCondition: `k8s.io/api/core/v1 PodCondition
type PodConditionType 1
observedGeneration int64 7 omitempty optional
status ConditionStatus 2
lastProbeTime Time 3 omitempty optional
lastTransitionTime Time 4 omitempty optional
reason string 5 omitempty optional
message string 6 omitempty optional`,
  PodDNSConfig: `k8s.io/api/core/v1 PodDNSConfig
nameservers []string 1 omitempty optional list=atomic
searches []string 2 omitempty optional list=atomic
options []PodDNSConfigOption 3 omitempty optional list=atomic`,
  PodDNSConfigOption: `k8s.io/api/core/v1 PodDNSConfigOption
name string 1 omitempty
value *string 2 omitempty optional`,
  PodDisruptionBudget: `k8s.io/api/policy/v1 PodDisruptionBudget
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec PodDisruptionBudgetSpec 2 omitempty optional
status PodDisruptionBudgetStatus 3 omitempty optional`,
  PodDisruptionBudgetList: `k8s.io/api/policy/v1 PodDisruptionBudgetList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []PodDisruptionBudget 2`,
  PodDisruptionBudgetSpec: `k8s.io/api/policy/v1 PodDisruptionBudgetSpec
minAvailable *IntOrString 1 omitempty optional
selector *LabelSelector 2 omitempty optional patch=replace
maxUnavailable *IntOrString 3 omitempty optional
unhealthyPodEvictionPolicy *UnhealthyPodEvictionPolicyType 4 omitempty optional`,
  PodDisruptionBudgetStatus: `k8s.io/api/policy/v1 PodDisruptionBudgetStatus
observedGeneration int64 1 omitempty optional
disruptedPods map[string]Time 2 omitempty optional
disruptionsAllowed int32 3 optional
currentHealthy int32 4 optional
desiredHealthy int32 5 optional
expectedPods int32 6 optional
conditions []Condition 7 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  PodExecOptions: `k8s.io/api/core/v1 PodExecOptions
- TypeMeta 0 inline
stdin bool 1 omitempty optional
stdout bool 2 omitempty optional
stderr bool 3 omitempty optional
tty bool 4 omitempty optional
container string 5 omitempty optional
command []string 6 list=atomic`,
  PodExtendedResourceClaimStatus: `k8s.io/api/core/v1 PodExtendedResourceClaimStatus
requestMappings []ContainerExtendedResourceRequest 1 list=atomic
resourceClaimName string 2`,
  PodFailurePolicy: `k8s.io/api/batch/v1 PodFailurePolicy
rules []PodFailurePolicyRule 1 list=atomic`,
  PodFailurePolicyOnExitCodesRequirement: `k8s.io/api/batch/v1 PodFailurePolicyOnExitCodesRequirement
containerName *string 1 omitempty optional
operator PodFailurePolicyOnExitCodesOperator 2
values []int32 3 list=set`,
  PodFailurePolicyOnPodConditionsPattern: `k8s.io/api/batch/v1 PodFailurePolicyOnPodConditionsPattern
type PodConditionType 1
status ConditionStatus 2 optional`,
  PodFailurePolicyRule: `k8s.io/api/batch/v1 PodFailurePolicyRule
action PodFailurePolicyAction 1
onExitCodes *PodFailurePolicyOnExitCodesRequirement 2 omitempty optional
onPodConditions []PodFailurePolicyOnPodConditionsPattern 3 omitempty optional list=atomic`,
  PodIP: `k8s.io/api/core/v1 PodIP
ip string 1 required`,
  PodList: `k8s.io/api/core/v1 PodList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Pod 2`,
  PodLogOptions: `k8s.io/api/core/v1 PodLogOptions
- TypeMeta 0 inline
container string 1 omitempty optional
follow bool 2 omitempty optional
previous bool 3 omitempty optional
sinceSeconds *int64 4 omitempty optional
sinceTime *Time 5 omitempty optional
timestamps bool 6 omitempty optional
tailLines *int64 7 omitempty optional
limitBytes *int64 8 omitempty optional
insecureSkipTLSVerifyBackend bool 9 omitempty optional
stream *string 10 omitempty optional`,
  PodOS: `k8s.io/api/core/v1 PodOS
name OSName 1`,
  PodPortForwardOptions: `k8s.io/api/core/v1 PodPortForwardOptions
- TypeMeta 0 inline
ports []int32 1 omitempty optional list=atomic`,
  PodProxyOptions: `k8s.io/api/core/v1 PodProxyOptions
- TypeMeta 0 inline
path string 1 omitempty optional`,
  PodReadinessGate: `k8s.io/api/core/v1 PodReadinessGate
conditionType PodConditionType 1`,
  PodResourceClaim: `k8s.io/api/core/v1 PodResourceClaim
name string 1
resourceClaimName *string 3 omitempty
resourceClaimTemplateName *string 4 omitempty`,
  PodResourceClaimStatus: `k8s.io/api/core/v1 PodResourceClaimStatus
name string 1
resourceClaimName *string 2 omitempty optional`,
  PodSchedulingGate: `k8s.io/api/core/v1 PodSchedulingGate
name string 1`,
  PodSchedulingGroup: `k8s.io/api/core/v1 PodSchedulingGroup union
podGroupName *string 1 omitempty optional`,
  PodSecurityContext: `k8s.io/api/core/v1 PodSecurityContext
seLinuxOptions *SELinuxOptions 1 omitempty optional
windowsOptions *WindowsSecurityContextOptions 8 omitempty optional
runAsUser *int64 2 omitempty optional
runAsGroup *int64 6 omitempty optional
runAsNonRoot *bool 3 omitempty optional
supplementalGroups []int64 4 omitempty optional list=atomic
supplementalGroupsPolicy *SupplementalGroupsPolicy 12 omitempty optional
fsGroup *int64 5 omitempty optional
sysctls []Sysctl 7 omitempty optional list=atomic
fsGroupChangePolicy *PodFSGroupChangePolicy 9 omitempty optional
seccompProfile *SeccompProfile 10 omitempty optional
appArmorProfile *AppArmorProfile 11 omitempty optional
seLinuxChangePolicy *PodSELinuxChangePolicy 13 omitempty optional`,
  PodSpec: `k8s.io/api/core/v1 PodSpec
volumes []Volume 1 omitempty optional patch=merge,retainKeys mergeKey=name list=map keys=name
initContainers []Container 20 omitempty patch=merge mergeKey=name list=map keys=name
containers []Container 2 patch=merge mergeKey=name list=map keys=name
ephemeralContainers []EphemeralContainer 34 omitempty optional patch=merge mergeKey=name list=map keys=name
restartPolicy RestartPolicy 3 omitempty optional
terminationGracePeriodSeconds *int64 4 omitempty optional
activeDeadlineSeconds *int64 5 omitempty optional
dnsPolicy DNSPolicy 6 omitempty optional
nodeSelector map[string]string 7 omitempty optional map=atomic
serviceAccountName string 8 omitempty optional
serviceAccount string 9 omitempty optional
automountServiceAccountToken *bool 21 omitempty optional
nodeName string 10 omitempty optional
hostNetwork bool 11 omitempty optional
hostPID bool 12 omitempty optional
hostIPC bool 13 omitempty optional
shareProcessNamespace *bool 27 omitempty optional
securityContext *PodSecurityContext 14 omitempty optional
imagePullSecrets []LocalObjectReference 15 omitempty optional patch=merge mergeKey=name list=map keys=name
hostname string 16 omitempty optional
subdomain string 17 omitempty optional
affinity *Affinity 18 omitempty optional
schedulerName string 19 omitempty optional
tolerations []Toleration 22 omitempty optional list=atomic
hostAliases []HostAlias 23 omitempty optional patch=merge mergeKey=ip list=map keys=ip
priorityClassName string 24 omitempty optional
priority *int32 25 omitempty optional
dnsConfig *PodDNSConfig 26 omitempty optional
readinessGates []PodReadinessGate 28 omitempty optional list=atomic
runtimeClassName *string 29 omitempty optional
enableServiceLinks *bool 30 omitempty optional
preemptionPolicy *PreemptionPolicy 31 omitempty optional
overhead ResourceList 32 omitempty optional
topologySpreadConstraints []TopologySpreadConstraint 33 omitempty optional patch=merge mergeKey=topologyKey list=map keys=topologyKey,whenUnsatisfiable
setHostnameAsFQDN *bool 35 omitempty optional
os *PodOS 36 omitempty optional
hostUsers *bool 37 omitempty optional
schedulingGates []PodSchedulingGate 38 omitempty optional patch=merge mergeKey=name list=map keys=name
resourceClaims []PodResourceClaim 39 omitempty optional patch=merge,retainKeys mergeKey=name list=map keys=name
resources *ResourceRequirements 40 omitempty optional
hostnameOverride *string 41 omitempty optional
schedulingGroup *PodSchedulingGroup 43 omitempty optional`,
  PodStatus: `k8s.io/api/core/v1 PodStatus
observedGeneration int64 17 omitempty optional
phase PodPhase 1 omitempty optional
conditions []PodCondition 2 omitempty optional patch=merge mergeKey=type list=map keys=type
message string 3 omitempty optional
reason string 4 omitempty optional
nominatedNodeName string 11 omitempty optional
hostIP string 5 omitempty optional
hostIPs []HostIP 16 omitempty optional patch=merge mergeKey=ip list=atomic
podIP string 6 omitempty optional
podIPs []PodIP 12 omitempty optional patch=merge mergeKey=ip list=map keys=ip
startTime *Time 7 omitempty optional
initContainerStatuses []ContainerStatus 10 omitempty list=atomic
containerStatuses []ContainerStatus 8 omitempty optional list=atomic
qosClass PodQOSClass 9 omitempty optional
ephemeralContainerStatuses []ContainerStatus 13 omitempty optional list=atomic
resize PodResizeStatus 14 omitempty optional
resourceClaimStatuses []PodResourceClaimStatus 15 omitempty optional patch=merge,retainKeys mergeKey=name list=map keys=name
extendedResourceClaimStatus *PodExtendedResourceClaimStatus 18 omitempty optional
allocatedResources ResourceList 19 omitempty optional
resources *ResourceRequirements 20 omitempty optional
nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus 21 omitempty optional list=atomic`,
  PodTemplate: `k8s.io/api/core/v1 PodTemplate
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
template PodTemplateSpec 2 omitempty optional`,
  PodTemplateList: `k8s.io/api/core/v1 PodTemplateList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []PodTemplate 2`,
  PodTemplateSpec: `k8s.io/api/core/v1 PodTemplateSpec
metadata ObjectMeta 1 omitempty optional
spec PodSpec 2 omitempty optional`,
  PodsMetricSource: `k8s.io/api/autoscaling/v2 PodsMetricSource
metric MetricIdentifier 1
target MetricTarget 2`,
  PodsMetricStatus: `k8s.io/api/autoscaling/v2 PodsMetricStatus
metric MetricIdentifier 1
current MetricValueStatus 2`,
  PolicyRule: `k8s.io/api/rbac/v1 PolicyRule
verbs []string 1 required list=atomic
apiGroups []string 2 omitempty optional list=atomic
resources []string 3 omitempty optional list=atomic
resourceNames []string 4 omitempty optional list=atomic
nonResourceURLs []string 5 omitempty optional list=atomic`,
  PolicyRulesWithSubjects: `k8s.io/api/flowcontrol/v1 PolicyRulesWithSubjects
subjects []FlowcontrolSubject 1 list=atomic
resourceRules []ResourcePolicyRule 2 omitempty optional list=atomic
nonResourceRules []NonResourcePolicyRule 3 omitempty optional list=atomic`,
  PortStatus: `k8s.io/api/core/v1 PortStatus
port int32 1
protocol Protocol 2
error *string 3 omitempty optional`,
  PortworxVolumeSource: `k8s.io/api/core/v1 PortworxVolumeSource
volumeID string 1
fsType string 2 omitempty
readOnly bool 3 omitempty optional`,
  Preconditions: `k8s.io/apimachinery/pkg/apis/meta/v1 Preconditions
uid *UID 1 omitempty optional
resourceVersion *string 2 omitempty optional`,
  PreferredSchedulingTerm: `k8s.io/api/core/v1 PreferredSchedulingTerm
weight int32 1
preference NodeSelectorTerm 2`,
  PriorityClass: `k8s.io/api/scheduling/v1 PriorityClass
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
value int32 2 optional
globalDefault bool 3 omitempty optional
description string 4 omitempty optional
preemptionPolicy *PreemptionPolicy 5 omitempty optional`,
  PriorityClassList: `k8s.io/api/scheduling/v1 PriorityClassList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []PriorityClass 2`,
  PriorityLevelConfiguration: `k8s.io/api/flowcontrol/v1 PriorityLevelConfiguration
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec PriorityLevelConfigurationSpec 2 omitempty optional
status PriorityLevelConfigurationStatus 3 omitempty optional`,
  PriorityLevelConfigurationCondition: `k8s.io/api/flowcontrol/v1 PriorityLevelConfigurationCondition
type PriorityLevelConfigurationConditionType 1 omitempty
status FlowcontrolConditionStatus 2 omitempty
lastTransitionTime Time 3 omitempty
reason string 4 omitempty
message string 5 omitempty`,
  PriorityLevelConfigurationList: `k8s.io/api/flowcontrol/v1 PriorityLevelConfigurationList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []PriorityLevelConfiguration 2`,
  PriorityLevelConfigurationReference: `k8s.io/api/flowcontrol/v1 PriorityLevelConfigurationReference
name string 1`,
  PriorityLevelConfigurationSpec: `k8s.io/api/flowcontrol/v1 PriorityLevelConfigurationSpec union
type PriorityLevelEnablement 1 discriminator
limited *LimitedPriorityLevelConfiguration 2 omitempty optional
exempt *ExemptPriorityLevelConfiguration 3 omitempty optional`,
  PriorityLevelConfigurationStatus: `k8s.io/api/flowcontrol/v1 PriorityLevelConfigurationStatus
conditions []PriorityLevelConfigurationCondition 1 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  Probe: `k8s.io/api/core/v1 Probe
- ProbeHandler 1 inline
initialDelaySeconds int32 2 omitempty optional
timeoutSeconds int32 3 omitempty optional
periodSeconds int32 4 omitempty optional
successThreshold int32 5 omitempty optional
failureThreshold int32 6 omitempty optional
terminationGracePeriodSeconds *int64 7 omitempty optional`,
  ProbeHandler: `k8s.io/api/core/v1 ProbeHandler
exec *ExecAction 1 omitempty optional
httpGet *HTTPGetAction 2 omitempty optional
tcpSocket *TCPSocketAction 3 omitempty optional
grpc *GRPCAction 4 omitempty optional`,
  ProjectedVolumeSource: `k8s.io/api/core/v1 ProjectedVolumeSource
sources []VolumeProjection 1 optional list=atomic
defaultMode *int32 2 omitempty optional`,
  QueuingConfiguration: `k8s.io/api/flowcontrol/v1 QueuingConfiguration
queues int32 1 optional
handSize int32 2 optional
queueLengthLimit int32 3 optional`,
  QuobyteVolumeSource: `k8s.io/api/core/v1 QuobyteVolumeSource
registry string 1
volume string 2
readOnly bool 3 omitempty optional
user string 4 omitempty optional
group string 5 omitempty optional
tenant string 6 omitempty optional`,
  RBDPersistentVolumeSource: `k8s.io/api/core/v1 RBDPersistentVolumeSource
monitors []string 1 list=atomic
image string 2
fsType string 3 omitempty optional
pool string 4 omitempty optional default="rbd"
user string 5 omitempty optional default="admin"
keyring string 6 omitempty optional default="/etc/ceph/keyring"
secretRef *SecretReference 7 omitempty optional
readOnly bool 8 omitempty optional`,
  RBDVolumeSource: `k8s.io/api/core/v1 RBDVolumeSource
monitors []string 1 list=atomic
image string 2
fsType string 3 omitempty optional
pool string 4 omitempty optional default="rbd"
user string 5 omitempty optional default="admin"
keyring string 6 omitempty optional default="/etc/ceph/keyring"
secretRef *LocalObjectReference 7 omitempty optional
readOnly bool 8 omitempty optional`,
  ReplicaSet: `k8s.io/api/apps/v1 ReplicaSet
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ReplicaSetSpec 2 omitempty optional
status ReplicaSetStatus 3 omitempty optional`,
  ReplicaSetCondition: `k8s.io/api/apps/v1 ReplicaSetCondition
type ReplicaSetConditionType 1
status ConditionStatus 2
lastTransitionTime Time 3 omitempty optional
reason string 4 omitempty optional
message string 5 omitempty optional`,
  ReplicaSetList: `k8s.io/api/apps/v1 ReplicaSetList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ReplicaSet 2`,
  ReplicaSetSpec: `k8s.io/api/apps/v1 ReplicaSetSpec
replicas *int32 1 omitempty optional
minReadySeconds int32 4 omitempty optional
selector *LabelSelector 2
template PodTemplateSpec 3 omitempty optional`,
  ReplicaSetStatus: `k8s.io/api/apps/v1 ReplicaSetStatus
replicas int32 1
fullyLabeledReplicas int32 2 omitempty optional
readyReplicas int32 4 omitempty optional
availableReplicas int32 5 omitempty optional
terminatingReplicas *int32 7 omitempty optional
observedGeneration int64 3 omitempty optional
conditions []ReplicaSetCondition 6 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  ReplicationController: `k8s.io/api/core/v1 ReplicationController
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ReplicationControllerSpec 2 omitempty optional
status ReplicationControllerStatus 3 omitempty optional`,
  ReplicationControllerCondition: `k8s.io/api/core/v1 ReplicationControllerCondition
type ReplicationControllerConditionType 1
status ConditionStatus 2
lastTransitionTime Time 3 omitempty optional
reason string 4 omitempty optional
message string 5 omitempty optional`,
  ReplicationControllerList: `k8s.io/api/core/v1 ReplicationControllerList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ReplicationController 2`,
  ReplicationControllerSpec: `k8s.io/api/core/v1 ReplicationControllerSpec
replicas *int32 1 omitempty optional default=1
minReadySeconds int32 4 omitempty optional default=0
selector map[string]string 2 omitempty optional map=atomic
template *PodTemplateSpec 3 omitempty optional`,
  ReplicationControllerStatus: `k8s.io/api/core/v1 ReplicationControllerStatus
replicas int32 1
fullyLabeledReplicas int32 2 omitempty optional
readyReplicas int32 4 omitempty optional
availableReplicas int32 5 omitempty optional
observedGeneration int64 3 omitempty optional
conditions []ReplicationControllerCondition 6 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  ResourceAttributes: `k8s.io/api/authorization/v1 ResourceAttributes
namespace string 1 omitempty optional
verb string 2 omitempty optional
group string 3 omitempty optional
version string 4 omitempty optional
resource string 5 omitempty optional
subresource string 6 omitempty optional
name string 7 omitempty optional
fieldSelector *FieldSelectorAttributes 8 omitempty optional
labelSelector *LabelSelectorAttributes 9 omitempty optional`,
  ResourceClaim: `k8s.io/api/core/v1 ResourceClaim
name string 1
request string 2 omitempty optional`,
  ResourceClaimConsumerReference: `k8s.io/api/resource/v1 ResourceClaimConsumerReference
apiGroup string 1 omitempty optional
resource string 3 required
name string 4 required
uid UID 5 required`,
  ResourceClaimList: `k8s.io/api/resource/v1 ResourceClaimList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ResourceResourceClaim 2`,
  ResourceClaimSpec: `k8s.io/api/resource/v1 ResourceClaimSpec
devices DeviceClaim 1 optional`,
  ResourceClaimStatus: `k8s.io/api/resource/v1 ResourceClaimStatus
allocation *AllocationResult 1 omitempty optional
reservedFor []ResourceClaimConsumerReference 2 omitempty optional patch=merge mergeKey=uid list=map keys=uid
devices []AllocatedDeviceStatus 4 omitempty optional list=map keys=driver,device,pool,shareID`,
  ResourceClaimTemplate: `k8s.io/api/resource/v1 ResourceClaimTemplate
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ResourceClaimTemplateSpec 2`,
  ResourceClaimTemplateList: `k8s.io/api/resource/v1 ResourceClaimTemplateList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ResourceClaimTemplate 2`,
  ResourceClaimTemplateSpec: `k8s.io/api/resource/v1 ResourceClaimTemplateSpec
metadata ObjectMeta 1 omitempty optional
spec ResourceClaimSpec 2`,
  ResourceFieldSelector: `k8s.io/api/core/v1 ResourceFieldSelector atomic
containerName string 1 omitempty optional
resource string 2
divisor Quantity 3 omitempty optional`,
  ResourceHealth: `k8s.io/api/core/v1 ResourceHealth
resourceID ResourceID 1
health ResourceHealthStatus 2 omitempty
message *string 6 omitempty optional`,
  ResourceMetricSource: `k8s.io/api/autoscaling/v2 ResourceMetricSource
name ResourceName 1
target MetricTarget 2`,
  ResourceMetricStatus: `k8s.io/api/autoscaling/v2 ResourceMetricStatus
name ResourceName 1
current MetricValueStatus 2`,
  ResourcePolicyRule: `k8s.io/api/flowcontrol/v1 ResourcePolicyRule
verbs []string 1 list=set
apiGroups []string 2 list=set
resources []string 3 list=set
clusterScope bool 4 omitempty optional
namespaces []string 5 optional list=set`,
  ResourcePool: `k8s.io/api/resource/v1 ResourcePool
name string 1 required
generation int64 2 required
resourceSliceCount int64 3 required`,
  ResourceQuota: `k8s.io/api/core/v1 ResourceQuota
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ResourceQuotaSpec 2 omitempty optional
status ResourceQuotaStatus 3 omitempty optional`,
  ResourceQuotaList: `k8s.io/api/core/v1 ResourceQuotaList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ResourceQuota 2`,
  ResourceQuotaSpec: `k8s.io/api/core/v1 ResourceQuotaSpec
hard ResourceList 1 omitempty optional
scopes []ResourceQuotaScope 2 omitempty optional list=atomic
scopeSelector *ScopeSelector 3 omitempty optional`,
  ResourceQuotaStatus: `k8s.io/api/core/v1 ResourceQuotaStatus
hard ResourceList 1 omitempty optional
used ResourceList 2 omitempty optional`,
  ResourceRequirements: `k8s.io/api/core/v1 ResourceRequirements
limits ResourceList 1 omitempty optional
requests ResourceList 2 omitempty optional
claims []ResourceClaim 3 omitempty optional list=map keys=name`,
  ResourceResourceClaim: `k8s.io/api/resource/v1 ResourceClaim
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ResourceClaimSpec 2
status ResourceClaimStatus 3 omitempty optional`,
  ResourceRule: `k8s.io/api/authorization/v1 ResourceRule
verbs []string 1 list=atomic
apiGroups []string 2 omitempty optional list=atomic
resources []string 3 omitempty optional list=atomic
resourceNames []string 4 omitempty optional list=atomic`,
  ResourceSlice: `k8s.io/api/resource/v1 ResourceSlice
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ResourceSliceSpec 2 required`,
  ResourceSliceList: `k8s.io/api/resource/v1 ResourceSliceList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ResourceSlice 2`,
  ResourceSliceSpec: `k8s.io/api/resource/v1 ResourceSliceSpec
driver string 1 required
pool ResourcePool 2 required
nodeName *string 3 omitempty optional
nodeSelector *NodeSelector 4 omitempty optional
allNodes *bool 5 omitempty optional
devices []Device 6 omitempty optional list=atomic
perDeviceNodeSelection *bool 7 omitempty optional
sharedCounters []CounterSet 8 omitempty optional list=atomic`,
  ResourceStatus: `k8s.io/api/core/v1 ResourceStatus
name ResourceName 1 required
resources []ResourceHealth 2 omitempty list=map keys=resourceID`,
  Role: `k8s.io/api/rbac/v1 Role
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
rules []PolicyRule 2 optional list=atomic`,
  RoleBinding: `k8s.io/api/rbac/v1 RoleBinding
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
subjects []Subject 2 omitempty optional list=atomic
roleRef RoleRef 3 required`,
  RoleBindingList: `k8s.io/api/rbac/v1 RoleBindingList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []RoleBinding 2`,
  RoleList: `k8s.io/api/rbac/v1 RoleList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Role 2`,
  RoleRef: `k8s.io/api/rbac/v1 RoleRef atomic
apiGroup string 1 optional
kind string 2 required
name string 3 required`,
  RollingUpdateDaemonSet: `k8s.io/api/apps/v1 RollingUpdateDaemonSet
maxUnavailable *IntOrString 1 omitempty optional
maxSurge *IntOrString 2 omitempty optional`,
  RollingUpdateDeployment: `k8s.io/api/apps/v1 RollingUpdateDeployment
maxUnavailable *IntOrString 1 omitempty optional
maxSurge *IntOrString 2 omitempty optional`,
  RollingUpdateStatefulSetStrategy: `k8s.io/api/apps/v1 RollingUpdateStatefulSetStrategy
partition *int32 1 omitempty optional
maxUnavailable *IntOrString 2 omitempty optional`,
  Rule: `k8s.io/api/admissionregistration/v1 Rule
apiGroups []string 1 omitempty list=atomic
apiVersions []string 2 omitempty list=atomic
resources []string 3 omitempty list=atomic
scope *ScopeType 4 omitempty optional`,
  RuleWithOperations: `k8s.io/api/admissionregistration/v1 RuleWithOperations
operations []OperationType 1 omitempty list=atomic
- Rule 2 inline`,
  RuntimeClass: `k8s.io/api/node/v1 RuntimeClass
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
handler string 2 required
overhead *Overhead 3 omitempty optional
scheduling *Scheduling 4 omitempty optional`,
  RuntimeClassList: `k8s.io/api/node/v1 RuntimeClassList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []RuntimeClass 2`,
  SELinuxOptions: `k8s.io/api/core/v1 SELinuxOptions
user string 1 omitempty optional
role string 2 omitempty optional
type string 3 omitempty optional
level string 4 omitempty optional`,
  Scale: `k8s.io/api/autoscaling/v1 Scale
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ScaleSpec 2 omitempty optional
status ScaleStatus 3 omitempty optional`,
  ScaleIOPersistentVolumeSource: `k8s.io/api/core/v1 ScaleIOPersistentVolumeSource
gateway string 1
system string 2
secretRef *SecretReference 3
sslEnabled bool 4 omitempty optional
protectionDomain string 5 omitempty optional
storagePool string 6 omitempty optional
storageMode string 7 omitempty optional default="ThinProvisioned"
volumeName string 8 omitempty
fsType string 9 omitempty optional default="xfs"
readOnly bool 10 omitempty optional`,
  ScaleIOVolumeSource: `k8s.io/api/core/v1 ScaleIOVolumeSource
gateway string 1
system string 2
secretRef *LocalObjectReference 3
sslEnabled bool 4 omitempty optional
protectionDomain string 5 omitempty optional
storagePool string 6 omitempty optional
storageMode string 7 omitempty optional default="ThinProvisioned"
volumeName string 8 omitempty
fsType string 9 omitempty optional default="xfs"
readOnly bool 10 omitempty optional`,
  ScaleSpec: `k8s.io/api/autoscaling/v1 ScaleSpec
replicas int32 1 omitempty optional default=0`,
  ScaleStatus: `k8s.io/api/autoscaling/v1 ScaleStatus
replicas int32 1
selector string 2 omitempty optional`,
  Scheduling: `k8s.io/api/node/v1 Scheduling
nodeSelector map[string]string 1 omitempty optional map=atomic
tolerations []Toleration 2 omitempty optional list=atomic`,
  ScopeSelector: `k8s.io/api/core/v1 ScopeSelector atomic
matchExpressions []ScopedResourceSelectorRequirement 1 omitempty optional list=atomic`,
  ScopedResourceSelectorRequirement: `k8s.io/api/core/v1 ScopedResourceSelectorRequirement
scopeName ResourceQuotaScope 1
operator ScopeSelectorOperator 2
values []string 3 omitempty optional list=atomic`,
  SeccompProfile: `k8s.io/api/core/v1 SeccompProfile union
type SeccompProfileType 1 discriminator
localhostProfile *string 2 omitempty optional`,
  Secret: `k8s.io/api/core/v1 Secret
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
immutable *bool 5 omitempty optional
data map[string][]byte 2 omitempty optional
stringData map[string]string 4 omitempty optional
type SecretType 3 omitempty optional`,
  SecretEnvSource: `k8s.io/api/core/v1 SecretEnvSource
- LocalObjectReference 1 inline
optional *bool 2 omitempty optional`,
  SecretKeySelector: `k8s.io/api/core/v1 SecretKeySelector atomic
- LocalObjectReference 1 inline
key string 2
optional *bool 3 omitempty optional`,
  SecretList: `k8s.io/api/core/v1 SecretList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Secret 2`,
  SecretProjection: `k8s.io/api/core/v1 SecretProjection
- LocalObjectReference 1 inline
items []KeyToPath 2 omitempty optional list=atomic
optional *bool 4 omitempty optional`,
  SecretReference: `k8s.io/api/core/v1 SecretReference atomic
name string 1 omitempty optional
namespace string 2 omitempty optional`,
  SecretVolumeSource: `k8s.io/api/core/v1 SecretVolumeSource
secretName string 1 omitempty optional
items []KeyToPath 2 omitempty optional list=atomic
defaultMode *int32 3 omitempty optional
optional *bool 4 omitempty optional`,
  SecurityContext: `k8s.io/api/core/v1 SecurityContext
capabilities *Capabilities 1 omitempty optional
privileged *bool 2 omitempty optional
seLinuxOptions *SELinuxOptions 3 omitempty optional
windowsOptions *WindowsSecurityContextOptions 10 omitempty optional
runAsUser *int64 4 omitempty optional
runAsGroup *int64 8 omitempty optional
runAsNonRoot *bool 5 omitempty optional
readOnlyRootFilesystem *bool 6 omitempty optional
allowPrivilegeEscalation *bool 7 omitempty optional
procMount *ProcMountType 9 omitempty optional
seccompProfile *SeccompProfile 11 omitempty optional
appArmorProfile *AppArmorProfile 12 omitempty optional`,
  SelfSubjectAccessReview: `k8s.io/api/authorization/v1 SelfSubjectAccessReview
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec SelfSubjectAccessReviewSpec 2
status SubjectAccessReviewStatus 3 omitempty optional`,
  SelfSubjectAccessReviewSpec: `k8s.io/api/authorization/v1 SelfSubjectAccessReviewSpec
resourceAttributes *ResourceAttributes 1 omitempty optional
nonResourceAttributes *NonResourceAttributes 2 omitempty optional`,
  SelfSubjectReview: `k8s.io/api/authentication/v1 SelfSubjectReview
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
status SelfSubjectReviewStatus 2 omitempty optional`,
  SelfSubjectReviewStatus: `k8s.io/api/authentication/v1 SelfSubjectReviewStatus
userInfo UserInfo 1 omitempty optional`,
  SelfSubjectRulesReview: `k8s.io/api/authorization/v1 SelfSubjectRulesReview
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec SelfSubjectRulesReviewSpec 2
status SubjectRulesReviewStatus 3 omitempty optional`,
  SelfSubjectRulesReviewSpec: `k8s.io/api/authorization/v1 SelfSubjectRulesReviewSpec
namespace string 1 omitempty`,
  ServerAddressByClientCIDR: `k8s.io/apimachinery/pkg/apis/meta/v1 ServerAddressByClientCIDR
clientCIDR string 1
serverAddress string 2`,
  Service: `k8s.io/api/core/v1 Service
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ServiceSpec 2 omitempty optional
status ServiceStatus 3 omitempty optional`,
  ServiceAccount: `k8s.io/api/core/v1 ServiceAccount
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
secrets []ObjectReference 2 omitempty optional patch=merge mergeKey=name list=map keys=name
imagePullSecrets []LocalObjectReference 3 omitempty optional list=atomic
automountServiceAccountToken *bool 4 omitempty optional`,
  ServiceAccountList: `k8s.io/api/core/v1 ServiceAccountList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ServiceAccount 2`,
  ServiceAccountSubject: `k8s.io/api/flowcontrol/v1 ServiceAccountSubject
namespace string 1
name string 2`,
  ServiceAccountTokenProjection: `k8s.io/api/core/v1 ServiceAccountTokenProjection
audience string 1 omitempty optional
expirationSeconds *int64 2 omitempty optional
path string 3`,
  ServiceBackendPort: `k8s.io/api/networking/v1 ServiceBackendPort atomic
name string 1 omitempty optional
number int32 2 omitempty optional`,
  ServiceCIDR: `k8s.io/api/networking/v1 ServiceCIDR
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ServiceCIDRSpec 2 omitempty optional
status ServiceCIDRStatus 3 omitempty optional`,
  ServiceCIDRList: `k8s.io/api/networking/v1 ServiceCIDRList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ServiceCIDR 2`,
  ServiceCIDRSpec: `k8s.io/api/networking/v1 ServiceCIDRSpec
cidrs []string 1 omitempty optional list=atomic`,
  ServiceCIDRStatus: `k8s.io/api/networking/v1 ServiceCIDRStatus
conditions []Condition 1 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  ServiceList: `k8s.io/api/core/v1 ServiceList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []Service 2`,
  ServicePort: `k8s.io/api/core/v1 ServicePort
name string 1 omitempty optional
protocol Protocol 2 omitempty optional default="TCP"
appProtocol *string 6 omitempty optional
port int32 3
targetPort IntOrString 4 omitempty optional
nodePort int32 5 omitempty optional`,
  ServiceProxyOptions: `k8s.io/api/core/v1 ServiceProxyOptions
- TypeMeta 0 inline
path string 1 omitempty optional`,
  ServiceReference: `k8s.io/api/admissionregistration/v1 ServiceReference
namespace string 1
name string 2
path *string 3 omitempty optional
port *int32 4 omitempty optional`,
  ServiceSpec: `k8s.io/api/core/v1 ServiceSpec
ports []ServicePort 1 omitempty patch=merge mergeKey=port list=map keys=port,protocol
selector map[string]string 2 omitempty optional map=atomic
clusterIP string 3 omitempty optional
clusterIPs []string 18 omitempty optional list=atomic
type ServiceType 4 omitempty optional
externalIPs []string 5 omitempty optional list=atomic
sessionAffinity ServiceAffinity 7 omitempty optional
loadBalancerIP string 8 omitempty optional
loadBalancerSourceRanges []string 9 omitempty optional list=atomic
externalName string 10 omitempty optional
externalTrafficPolicy ServiceExternalTrafficPolicy 11 omitempty optional
healthCheckNodePort int32 12 omitempty optional
publishNotReadyAddresses bool 13 omitempty optional
sessionAffinityConfig *SessionAffinityConfig 14 omitempty optional
ipFamilies []IPFamily 19 omitempty optional list=atomic
ipFamilyPolicy *IPFamilyPolicy 17 omitempty optional
allocateLoadBalancerNodePorts *bool 20 omitempty optional
loadBalancerClass *string 21 omitempty optional
internalTrafficPolicy *ServiceInternalTrafficPolicy 22 omitempty optional
trafficDistribution *string 23 omitempty optional`,
  ServiceStatus: `k8s.io/api/core/v1 ServiceStatus
loadBalancer LoadBalancerStatus 1 omitempty optional
conditions []Condition 2 omitempty optional patch=merge mergeKey=type list=map keys=type`,
  SessionAffinityConfig: `k8s.io/api/core/v1 SessionAffinityConfig
clientIP *ClientIPConfig 1 omitempty optional`,
  ShardInfo: `k8s.io/apimachinery/pkg/apis/meta/v1 ShardInfo
selector string 1 required`,
  SleepAction: `k8s.io/api/core/v1 SleepAction
seconds int64 1`,
  StatefulSet: `k8s.io/api/apps/v1 StatefulSet
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec StatefulSetSpec 2 omitempty optional
status StatefulSetStatus 3 omitempty optional`,
  StatefulSetCondition: `k8s.io/api/apps/v1 StatefulSetCondition
type StatefulSetConditionType 1
status ConditionStatus 2
lastTransitionTime Time 3 omitempty optional
reason string 4 omitempty optional
message string 5 omitempty optional`,
  StatefulSetList: `k8s.io/api/apps/v1 StatefulSetList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []StatefulSet 2`,
  StatefulSetOrdinals: `k8s.io/api/apps/v1 StatefulSetOrdinals
start int32 1 optional`,
  StatefulSetPersistentVolumeClaimRetentionPolicy: `k8s.io/api/apps/v1 StatefulSetPersistentVolumeClaimRetentionPolicy
whenDeleted PersistentVolumeClaimRetentionPolicyType 1 omitempty
whenScaled PersistentVolumeClaimRetentionPolicyType 2 omitempty`,
  StatefulSetSpec: `k8s.io/api/apps/v1 StatefulSetSpec
replicas *int32 1 omitempty optional
selector *LabelSelector 2
template PodTemplateSpec 3
volumeClaimTemplates []PersistentVolumeClaim 4 omitempty optional list=atomic
serviceName string 5 optional
podManagementPolicy PodManagementPolicyType 6 omitempty optional
updateStrategy StatefulSetUpdateStrategy 7 omitempty
revisionHistoryLimit *int32 8 omitempty
minReadySeconds int32 9 omitempty optional
persistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy 10 omitempty optional
ordinals *StatefulSetOrdinals 11 omitempty optional`,
  StatefulSetStatus: `k8s.io/api/apps/v1 StatefulSetStatus
observedGeneration int64 1 omitempty optional
replicas int32 2
readyReplicas int32 3 omitempty
currentReplicas int32 4 omitempty
updatedReplicas int32 5 omitempty
currentRevision string 6 omitempty
updateRevision string 7 omitempty
collisionCount *int32 9 omitempty optional
conditions []StatefulSetCondition 10 omitempty optional patch=merge mergeKey=type list=map keys=type
availableReplicas int32 11 optional`,
  StatefulSetUpdateStrategy: `k8s.io/api/apps/v1 StatefulSetUpdateStrategy
type StatefulSetUpdateStrategyType 1 omitempty optional
rollingUpdate *RollingUpdateStatefulSetStrategy 2 omitempty optional`,
  Status: `k8s.io/apimachinery/pkg/apis/meta/v1 Status
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
status string 2 omitempty optional
message string 3 omitempty optional
reason StatusReason 4 omitempty optional
details *StatusDetails 5 omitempty optional
code int32 6 omitempty optional`,
  StatusCause: `k8s.io/apimachinery/pkg/apis/meta/v1 StatusCause
reason CauseType 1 omitempty optional
message string 2 omitempty optional
field string 3 omitempty optional`,
  StatusDetails: `k8s.io/apimachinery/pkg/apis/meta/v1 StatusDetails
name string 1 omitempty optional
group string 2 omitempty optional
kind string 3 omitempty optional
uid UID 6 omitempty optional
causes []StatusCause 4 omitempty optional list=atomic
retryAfterSeconds int32 5 omitempty optional`,
  StorageClass: `k8s.io/api/storage/v1 StorageClass
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
provisioner string 2 required
parameters map[string]string 3 omitempty optional
reclaimPolicy *PersistentVolumeReclaimPolicy 4 omitempty optional
mountOptions []string 5 omitempty optional list=atomic
allowVolumeExpansion *bool 6 omitempty optional
volumeBindingMode *VolumeBindingMode 7 omitempty optional
allowedTopologies []TopologySelectorTerm 8 omitempty optional list=atomic`,
  StorageClassList: `k8s.io/api/storage/v1 StorageClassList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []StorageClass 2`,
  StorageOSPersistentVolumeSource: `k8s.io/api/core/v1 StorageOSPersistentVolumeSource
volumeName string 1 omitempty
volumeNamespace string 2 omitempty optional
fsType string 3 omitempty optional
readOnly bool 4 omitempty optional
secretRef *ObjectReference 5 omitempty optional`,
  StorageOSVolumeSource: `k8s.io/api/core/v1 StorageOSVolumeSource
volumeName string 1 omitempty
volumeNamespace string 2 omitempty optional
fsType string 3 omitempty optional
readOnly bool 4 omitempty optional
secretRef *LocalObjectReference 5 omitempty optional`,
  StorageTokenRequest: `k8s.io/api/storage/v1 TokenRequest
audience string 1
expirationSeconds *int64 2 omitempty optional`,
  Subject: `k8s.io/api/rbac/v1 Subject atomic
kind string 1 required
apiGroup string 2 omitempty optional
name string 3 required
namespace string 4 omitempty optional`,
  SubjectAccessReview: `k8s.io/api/authorization/v1 SubjectAccessReview
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec SubjectAccessReviewSpec 2
status SubjectAccessReviewStatus 3 omitempty optional`,
  SubjectAccessReviewSpec: `k8s.io/api/authorization/v1 SubjectAccessReviewSpec
resourceAttributes *ResourceAttributes 1 omitempty optional
nonResourceAttributes *NonResourceAttributes 2 omitempty optional
user string 3 omitempty optional
groups []string 4 omitempty optional list=atomic
extra map[string]AuthorizationExtraValue 5 omitempty optional
uid string 6 omitempty optional`,
  SubjectAccessReviewStatus: `k8s.io/api/authorization/v1 SubjectAccessReviewStatus
allowed bool 1
denied bool 4 omitempty optional
reason string 2 omitempty optional
evaluationError string 3 omitempty optional`,
  SubjectRulesReviewStatus: `k8s.io/api/authorization/v1 SubjectRulesReviewStatus
resourceRules []ResourceRule 1 list=atomic
nonResourceRules []NonResourceRule 2 list=atomic
incomplete bool 3
evaluationError string 4 omitempty optional`,
  SuccessPolicy: `k8s.io/api/batch/v1 SuccessPolicy
rules []SuccessPolicyRule 1 list=atomic`,
  SuccessPolicyRule: `k8s.io/api/batch/v1 SuccessPolicyRule
succeededIndexes *string 1 omitempty optional
succeededCount *int32 2 omitempty optional`,
  Sysctl: `k8s.io/api/core/v1 Sysctl
name string 1
value string 2`,
  TCPSocketAction: `k8s.io/api/core/v1 TCPSocketAction
port IntOrString 1
host string 2 omitempty optional`,
  Table: `k8s.io/apimachinery/pkg/apis/meta/v1 Table
- TypeMeta 0 inline
metadata ListMeta 0 omitempty optional
columnDefinitions []TableColumnDefinition 0 list=atomic
rows []TableRow 0 list=atomic`,
  TableColumnDefinition: `k8s.io/apimachinery/pkg/apis/meta/v1 TableColumnDefinition
name string 0
type string 0
format string 0
description string 0
priority int32 0`,
  TableOptions: `k8s.io/apimachinery/pkg/apis/meta/v1 TableOptions
- TypeMeta 0 inline
includeObject IncludeObjectPolicy 1 omitempty`,
  TableRow: `k8s.io/apimachinery/pkg/apis/meta/v1 TableRow
cells []any 0 list=atomic
conditions []TableRowCondition 0 omitempty optional list=atomic
object RawExtension 0 omitempty optional`,
  TableRowCondition: `k8s.io/apimachinery/pkg/apis/meta/v1 TableRowCondition
type RowConditionType 0
status MetaConditionStatus 0
reason string 0 omitempty optional
message string 0 omitempty optional`,
  Taint: `k8s.io/api/core/v1 Taint
key string 1
value string 2 omitempty optional
effect TaintEffect 3
timeAdded *Time 4 omitempty optional`,
  TokenRequest: `k8s.io/api/authentication/v1 TokenRequest
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec TokenRequestSpec 2 optional
status TokenRequestStatus 3 omitempty optional`,
  TokenRequestSpec: `k8s.io/api/authentication/v1 TokenRequestSpec
audiences []string 1 optional list=atomic
expirationSeconds *int64 4 optional
boundObjectRef *BoundObjectReference 3 optional`,
  TokenRequestStatus: `k8s.io/api/authentication/v1 TokenRequestStatus
token string 1 optional
expirationTimestamp Time 2 optional`,
  TokenReview: `k8s.io/api/authentication/v1 TokenReview
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec TokenReviewSpec 2 required
status TokenReviewStatus 3 omitempty optional`,
  TokenReviewSpec: `k8s.io/api/authentication/v1 TokenReviewSpec
token string 1 omitempty required
audiences []string 2 omitempty optional list=atomic`,
  TokenReviewStatus: `k8s.io/api/authentication/v1 TokenReviewStatus
authenticated bool 1 omitempty optional
user UserInfo 2 omitempty optional
audiences []string 4 omitempty optional list=atomic
error string 3 omitempty optional`,
  Toleration: `k8s.io/api/core/v1 Toleration
key string 1 omitempty optional
operator TolerationOperator 2 omitempty optional
value string 3 omitempty optional
effect TaintEffect 4 omitempty optional
tolerationSeconds *int64 5 omitempty optional`,
  TopologySelectorLabelRequirement: `k8s.io/api/core/v1 TopologySelectorLabelRequirement
key string 1
values []string 2 list=atomic`,
  TopologySelectorTerm: `k8s.io/api/core/v1 TopologySelectorTerm atomic
matchLabelExpressions []TopologySelectorLabelRequirement 1 omitempty optional list=atomic`,
  TopologySpreadConstraint: `k8s.io/api/core/v1 TopologySpreadConstraint
maxSkew int32 1
topologyKey string 2
whenUnsatisfiable UnsatisfiableConstraintAction 3
labelSelector *LabelSelector 4 omitempty optional
minDomains *int32 5 omitempty optional
nodeAffinityPolicy *NodeInclusionPolicy 6 omitempty optional
nodeTaintsPolicy *NodeInclusionPolicy 7 omitempty optional
matchLabelKeys []string 8 omitempty optional list=atomic`,
  TypeChecking: `k8s.io/api/admissionregistration/v1 TypeChecking
expressionWarnings []ExpressionWarning 1 omitempty optional list=atomic`,
  TypeMeta: `k8s.io/apimachinery/pkg/apis/meta/v1 TypeMeta
kind string 1 omitempty optional
apiVersion string 2 omitempty optional`,
  TypedLocalObjectReference: `k8s.io/api/core/v1 TypedLocalObjectReference atomic
apiGroup *string 1 optional
kind string 2
name string 3`,
  TypedObjectReference: `k8s.io/api/core/v1 TypedObjectReference
apiGroup *string 1 optional
kind string 2
name string 3
namespace *string 4 omitempty optional`,
  UncountedTerminatedPods: `k8s.io/api/batch/v1 UncountedTerminatedPods
succeeded []UID 1 omitempty optional list=set
failed []UID 2 omitempty optional list=set`,
  UpdateOptions: `k8s.io/apimachinery/pkg/apis/meta/v1 UpdateOptions
- TypeMeta 0 inline
dryRun []string 1 omitempty optional list=atomic
fieldManager string 2 omitempty optional
fieldValidation string 3 omitempty optional`,
  UserInfo: `k8s.io/api/authentication/v1 UserInfo
username string 1 omitempty optional
uid string 2 omitempty optional
groups []string 3 omitempty optional list=atomic
extra map[string]ExtraValue 4 omitempty optional`,
  UserSubject: `k8s.io/api/flowcontrol/v1 UserSubject
name string 1`,
  ValidatingAdmissionPolicy: `k8s.io/api/admissionregistration/v1 ValidatingAdmissionPolicy
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ValidatingAdmissionPolicySpec 2 omitempty
status ValidatingAdmissionPolicyStatus 3 omitempty optional`,
  ValidatingAdmissionPolicyBinding: `k8s.io/api/admissionregistration/v1 ValidatingAdmissionPolicyBinding
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec ValidatingAdmissionPolicyBindingSpec 2 omitempty required`,
  ValidatingAdmissionPolicyBindingList: `k8s.io/api/admissionregistration/v1 ValidatingAdmissionPolicyBindingList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ValidatingAdmissionPolicyBinding 2`,
  ValidatingAdmissionPolicyBindingSpec: `k8s.io/api/admissionregistration/v1 ValidatingAdmissionPolicyBindingSpec
policyName string 1 omitempty required
paramRef *ParamRef 2 omitempty optional
matchResources *MatchResources 3 omitempty optional
validationActions []ValidationAction 4 omitempty required list=set`,
  ValidatingAdmissionPolicyList: `k8s.io/api/admissionregistration/v1 ValidatingAdmissionPolicyList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ValidatingAdmissionPolicy 2`,
  ValidatingAdmissionPolicySpec: `k8s.io/api/admissionregistration/v1 ValidatingAdmissionPolicySpec
paramKind *ParamKind 1 omitempty optional
matchConstraints *MatchResources 2 omitempty
validations []Validation 3 omitempty optional list=atomic
failurePolicy *FailurePolicyType 4 omitempty optional
auditAnnotations []AuditAnnotation 5 omitempty optional list=atomic
matchConditions []MatchCondition 6 omitempty optional patch=merge mergeKey=name list=map keys=name
variables []Variable 7 omitempty optional patch=merge mergeKey=name list=map keys=name`,
  ValidatingAdmissionPolicyStatus: `k8s.io/api/admissionregistration/v1 ValidatingAdmissionPolicyStatus
observedGeneration int64 1 omitempty optional
typeChecking *TypeChecking 2 omitempty optional
conditions []Condition 3 omitempty optional list=map keys=type`,
  ValidatingWebhook: `k8s.io/api/admissionregistration/v1 ValidatingWebhook
name string 1
clientConfig WebhookClientConfig 2
rules []RuleWithOperations 3 omitempty list=atomic
failurePolicy *FailurePolicyType 4 omitempty optional
matchPolicy *MatchPolicyType 9 omitempty optional
namespaceSelector *LabelSelector 5 omitempty optional
objectSelector *LabelSelector 10 omitempty optional
sideEffects *SideEffectClass 6
timeoutSeconds *int32 7 omitempty optional
admissionReviewVersions []string 8 list=atomic
matchConditions []MatchCondition 11 omitempty optional patch=merge mergeKey=name list=map keys=name`,
  ValidatingWebhookConfiguration: `k8s.io/api/admissionregistration/v1 ValidatingWebhookConfiguration
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
webhooks []ValidatingWebhook 2 omitempty optional patch=merge mergeKey=name list=map keys=name`,
  ValidatingWebhookConfigurationList: `k8s.io/api/admissionregistration/v1 ValidatingWebhookConfigurationList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []ValidatingWebhookConfiguration 2`,
  Validation: `k8s.io/api/admissionregistration/v1 Validation
expression string 1
message string 2 omitempty optional
reason *StatusReason 3 omitempty optional
messageExpression string 4 omitempty optional`,
  Variable: `k8s.io/api/admissionregistration/v1 Variable atomic
name string 1
expression string 2`,
  Volume: `k8s.io/api/core/v1 Volume
name string 1
- VolumeSource 2 inline`,
  VolumeAttachment: `k8s.io/api/storage/v1 VolumeAttachment
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec VolumeAttachmentSpec 2 required
status VolumeAttachmentStatus 3 omitempty optional`,
  VolumeAttachmentList: `k8s.io/api/storage/v1 VolumeAttachmentList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []VolumeAttachment 2`,
  VolumeAttachmentSource: `k8s.io/api/storage/v1 VolumeAttachmentSource
persistentVolumeName *string 1 omitempty optional
inlineVolumeSpec *PersistentVolumeSpec 2 omitempty optional`,
  VolumeAttachmentSpec: `k8s.io/api/storage/v1 VolumeAttachmentSpec
attacher string 1 required
source VolumeAttachmentSource 2
nodeName string 3`,
  VolumeAttachmentStatus: `k8s.io/api/storage/v1 VolumeAttachmentStatus
attached bool 1
attachmentMetadata map[string]string 2 omitempty optional
attachError *VolumeError 3 omitempty optional
detachError *VolumeError 4 omitempty optional`,
  VolumeAttributesClass: `k8s.io/api/storage/v1 VolumeAttributesClass
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
driverName string 2
parameters map[string]string 3 omitempty`,
  VolumeAttributesClassList: `k8s.io/api/storage/v1 VolumeAttributesClassList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []VolumeAttributesClass 2`,
  VolumeDevice: `k8s.io/api/core/v1 VolumeDevice
name string 1
devicePath string 2`,
  VolumeError: `k8s.io/api/storage/v1 VolumeError
time Time 1 omitempty optional
message string 2 omitempty optional
errorCode *int32 3 omitempty optional`,
  VolumeMount: `k8s.io/api/core/v1 VolumeMount
name string 1
readOnly bool 2 omitempty optional
recursiveReadOnly *RecursiveReadOnlyMode 7 omitempty optional
mountPath string 3
subPath string 4 omitempty optional
mountPropagation *MountPropagationMode 5 omitempty optional
subPathExpr string 6 omitempty optional`,
  VolumeMountStatus: `k8s.io/api/core/v1 VolumeMountStatus
name string 1
mountPath string 2
readOnly bool 3 omitempty optional
recursiveReadOnly *RecursiveReadOnlyMode 4 omitempty optional
volumeStatus *VolumeStatus 5 omitempty optional`,
  VolumeNodeAffinity: `k8s.io/api/core/v1 VolumeNodeAffinity
required *NodeSelector 1 omitempty`,
  VolumeNodeResources: `k8s.io/api/storage/v1 VolumeNodeResources
count *int32 1 omitempty optional`,
  VolumeProjection: `k8s.io/api/core/v1 VolumeProjection
secret *SecretProjection 1 omitempty optional
downwardAPI *DownwardAPIProjection 2 omitempty optional
configMap *ConfigMapProjection 3 omitempty optional
serviceAccountToken *ServiceAccountTokenProjection 4 omitempty optional
clusterTrustBundle *ClusterTrustBundleProjection 5 omitempty optional
podCertificate *PodCertificateProjection 6 omitempty optional`,
  VolumeResourceRequirements: `k8s.io/api/core/v1 VolumeResourceRequirements
limits ResourceList 1 omitempty optional
requests ResourceList 2 omitempty optional`,
  VolumeSource: `k8s.io/api/core/v1 VolumeSource
hostPath *HostPathVolumeSource 1 omitempty optional
emptyDir *EmptyDirVolumeSource 2 omitempty optional
gcePersistentDisk *GCEPersistentDiskVolumeSource 3 omitempty optional
awsElasticBlockStore *AWSElasticBlockStoreVolumeSource 4 omitempty optional
gitRepo *GitRepoVolumeSource 5 omitempty optional
secret *SecretVolumeSource 6 omitempty optional
nfs *NFSVolumeSource 7 omitempty optional
iscsi *ISCSIVolumeSource 8 omitempty optional
glusterfs *GlusterfsVolumeSource 9 omitempty optional
persistentVolumeClaim *PersistentVolumeClaimVolumeSource 10 omitempty optional
rbd *RBDVolumeSource 11 omitempty optional
flexVolume *FlexVolumeSource 12 omitempty optional
cinder *CinderVolumeSource 13 omitempty optional
cephfs *CephFSVolumeSource 14 omitempty optional
flocker *FlockerVolumeSource 15 omitempty optional
downwardAPI *DownwardAPIVolumeSource 16 omitempty optional
fc *FCVolumeSource 17 omitempty optional
azureFile *AzureFileVolumeSource 18 omitempty optional
configMap *ConfigMapVolumeSource 19 omitempty optional
vsphereVolume *VsphereVirtualDiskVolumeSource 20 omitempty optional
quobyte *QuobyteVolumeSource 21 omitempty optional
azureDisk *AzureDiskVolumeSource 22 omitempty optional
photonPersistentDisk *PhotonPersistentDiskVolumeSource 23 omitempty
projected *ProjectedVolumeSource 26 omitempty
portworxVolume *PortworxVolumeSource 24 omitempty optional
scaleIO *ScaleIOVolumeSource 25 omitempty optional
storageos *StorageOSVolumeSource 27 omitempty optional
csi *CSIVolumeSource 28 omitempty optional
ephemeral *EphemeralVolumeSource 29 omitempty optional
image *ImageVolumeSource 30 omitempty optional`,
  VolumeStatus: `k8s.io/api/core/v1 VolumeStatus
image *ImageVolumeStatus 1 omitempty optional`,
  VsphereVirtualDiskVolumeSource: `k8s.io/api/core/v1 VsphereVirtualDiskVolumeSource
volumePath string 1
fsType string 2 omitempty optional
storagePolicyName string 3 omitempty optional
storagePolicyID string 4 omitempty optional`,
  WatchEvent: `k8s.io/apimachinery/pkg/apis/meta/v1 WatchEvent
type string 1
object RawExtension 2`,
  WebhookClientConfig: `k8s.io/api/admissionregistration/v1 WebhookClientConfig
url *string 3 omitempty optional
service *ServiceReference 1 omitempty optional
caBundle []byte 2 omitempty optional`,
  WeightedPodAffinityTerm: `k8s.io/api/core/v1 WeightedPodAffinityTerm
weight int32 1
podAffinityTerm PodAffinityTerm 2`,
  WindowsSecurityContextOptions: `k8s.io/api/core/v1 WindowsSecurityContextOptions
gmsaCredentialSpecName *string 1 omitempty optional
gmsaCredentialSpec *string 2 omitempty optional
runAsUserName *string 3 omitempty optional
hostProcess *bool 4 omitempty optional`,
};

/** Named types that are no structs: their name in Go, what they are, and their values if they are enumerations. */
export const namedTypes: Readonly<Record<string, { readonly go: string; readonly type: string; readonly values?: readonly string[] }>> = {
  APIServiceConditionType: { go: 'v1.APIServiceConditionType', type: 'string' },
  AddressType: { go: 'v1.AddressType', type: 'string', values: ['FQDN', 'IPv4', 'IPv6'] },
  AllocationConfigSource: { go: 'v1.AllocationConfigSource', type: 'string', values: ['FromClaim', 'FromClass'] },
  ApiregistrationConditionStatus: { go: 'v1.ConditionStatus', type: 'string' },
  AppArmorProfileType: { go: 'v1.AppArmorProfileType', type: 'string', values: ['Localhost', 'RuntimeDefault', 'Unconfined'] },
  AuthorizationExtraValue: { go: 'v1.ExtraValue', type: '[]string' },
  AzureDataDiskCachingMode: { go: 'v1.AzureDataDiskCachingMode', type: 'string', values: ['None', 'ReadOnly', 'ReadWrite'] },
  AzureDataDiskKind: { go: 'v1.AzureDataDiskKind', type: 'string', values: ['Dedicated', 'Managed', 'Shared'] },
  Capability: { go: 'v1.Capability', type: 'string' },
  CauseType: { go: 'v1.CauseType', type: 'string' },
  CertificatesExtraValue: { go: 'v1.ExtraValue', type: '[]string' },
  ClaimResourceStatus: { go: 'v1.ClaimResourceStatus', type: 'string', values: ['ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress', 'NodeResizeInfeasible', 'NodeResizePending'] },
  CompletionMode: { go: 'v1.CompletionMode', type: 'string', values: ['Indexed', 'NonIndexed'] },
  ConcurrencyPolicy: { go: 'v1.ConcurrencyPolicy', type: 'string', values: ['Allow', 'Forbid', 'Replace'] },
  ConditionStatus: { go: 'v1.ConditionStatus', type: 'string' },
  ContainerRestartPolicy: { go: 'v1.ContainerRestartPolicy', type: 'string' },
  ContainerRestartRuleAction: { go: 'v1.ContainerRestartRuleAction', type: 'string' },
  ContainerRestartRuleOnExitCodesOperator: { go: 'v1.ContainerRestartRuleOnExitCodesOperator', type: 'string' },
  CoordinatedLeaseStrategy: { go: 'v1.CoordinatedLeaseStrategy', type: 'string' },
  DNSPolicy: { go: 'v1.DNSPolicy', type: 'string', values: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] },
  DaemonSetConditionType: { go: 'v1.DaemonSetConditionType', type: 'string' },
  DaemonSetUpdateStrategyType: { go: 'v1.DaemonSetUpdateStrategyType', type: 'string', values: ['OnDelete', 'RollingUpdate'] },
  DeletionPropagation: { go: 'v1.DeletionPropagation', type: 'string' },
  DeploymentConditionType: { go: 'v1.DeploymentConditionType', type: 'string' },
  DeploymentStrategyType: { go: 'v1.DeploymentStrategyType', type: 'string', values: ['Recreate', 'RollingUpdate'] },
  DeviceAllocationMode: { go: 'v1.DeviceAllocationMode', type: 'string', values: ['All', 'ExactCount'] },
  DeviceTaintEffect: { go: 'v1.DeviceTaintEffect', type: 'string', values: ['NoExecute', 'NoSchedule', 'None'] },
  DeviceTolerationOperator: { go: 'v1.DeviceTolerationOperator', type: 'string', values: ['Equal', 'Exists'] },
  ExtraValue: { go: 'v1.ExtraValue', type: '[]string' },
  FSGroupPolicy: { go: 'v1.FSGroupPolicy', type: 'string' },
  FailurePolicyType: { go: 'v1.FailurePolicyType', type: 'string', values: ['Fail', 'Ignore'] },
  FieldSelectorOperator: { go: 'v1.FieldSelectorOperator', type: 'string' },
  FinalizerName: { go: 'v1.FinalizerName', type: 'string' },
  FlowDistinguisherMethodType: { go: 'v1.FlowDistinguisherMethodType', type: 'string' },
  FlowSchemaConditionType: { go: 'v1.FlowSchemaConditionType', type: 'string' },
  FlowcontrolConditionStatus: { go: 'v1.ConditionStatus', type: 'string' },
  FullyQualifiedName: { go: 'v1.FullyQualifiedName', type: 'string' },
  HPAScalingPolicyType: { go: 'v2.HPAScalingPolicyType', type: 'string' },
  HorizontalPodAutoscalerConditionType: { go: 'v2.HorizontalPodAutoscalerConditionType', type: 'string' },
  HostPathType: { go: 'v1.HostPathType', type: 'string', values: ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'] },
  IPFamily: { go: 'v1.IPFamily', type: 'string', values: ['', 'IPv4', 'IPv6'] },
  IPFamilyPolicy: { go: 'v1.IPFamilyPolicy', type: 'string', values: ['PreferDualStack', 'RequireDualStack', 'SingleStack'] },
  IncludeObjectPolicy: { go: 'v1.IncludeObjectPolicy', type: 'string' },
  JobConditionType: { go: 'v1.JobConditionType', type: 'string' },
  KeyUsage: { go: 'v1.KeyUsage', type: 'string', values: ['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment', 'decipher only', 'digital signature', 'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing', 's/mime', 'server auth', 'signing', 'timestamping'] },
  LabelSelectorOperator: { go: 'v1.LabelSelectorOperator', type: 'string' },
  LimitResponseType: { go: 'v1.LimitResponseType', type: 'string' },
  LimitType: { go: 'v1.LimitType', type: 'string' },
  LoadBalancerIPMode: { go: 'v1.LoadBalancerIPMode', type: 'string' },
  ManagedFieldsOperationType: { go: 'v1.ManagedFieldsOperationType', type: 'string' },
  MatchPolicyType: { go: 'v1.MatchPolicyType', type: 'string', values: ['Equivalent', 'Exact'] },
  MetaConditionStatus: { go: 'v1.ConditionStatus', type: 'string' },
  MetricSourceType: { go: 'v2.MetricSourceType', type: 'string' },
  MetricTargetType: { go: 'v2.MetricTargetType', type: 'string' },
  MountPropagationMode: { go: 'v1.MountPropagationMode', type: 'string', values: ['Bidirectional', 'HostToContainer', 'None'] },
  NamespaceConditionType: { go: 'v1.NamespaceConditionType', type: 'string' },
  NamespacePhase: { go: 'v1.NamespacePhase', type: 'string', values: ['Active', 'Terminating'] },
  NodeAddressType: { go: 'v1.NodeAddressType', type: 'string' },
  NodeConditionType: { go: 'v1.NodeConditionType', type: 'string' },
  NodeInclusionPolicy: { go: 'v1.NodeInclusionPolicy', type: 'string', values: ['Honor', 'Ignore'] },
  NodePhase: { go: 'v1.NodePhase', type: 'string', values: ['Pending', 'Running', 'Terminated'] },
  NodeSelectorOperator: { go: 'v1.NodeSelectorOperator', type: 'string', values: ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'] },
  OSName: { go: 'v1.OSName', type: 'string' },
  OperationType: { go: 'v1.OperationType', type: 'string', values: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'] },
  ParameterNotFoundActionType: { go: 'v1.ParameterNotFoundActionType', type: 'string' },
  PatchType: { go: 'v1.PatchType', type: 'string', values: ['ApplyConfiguration', 'JSONPatch'] },
  PathType: { go: 'v1.PathType', type: 'string', values: ['Exact', 'ImplementationSpecific', 'Prefix'] },
  PersistentVolumeAccessMode: { go: 'v1.PersistentVolumeAccessMode', type: 'string', values: ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] },
  PersistentVolumeClaimConditionType: { go: 'v1.PersistentVolumeClaimConditionType', type: 'string' },
  PersistentVolumeClaimModifyVolumeStatus: { go: 'v1.PersistentVolumeClaimModifyVolumeStatus', type: 'string', values: ['InProgress', 'Infeasible', 'Pending'] },
  PersistentVolumeClaimPhase: { go: 'v1.PersistentVolumeClaimPhase', type: 'string', values: ['Bound', 'Lost', 'Pending'] },
  PersistentVolumeClaimRetentionPolicyType: { go: 'v1.PersistentVolumeClaimRetentionPolicyType', type: 'string' },
  PersistentVolumeMode: { go: 'v1.PersistentVolumeMode', type: 'string', values: ['Block', 'Filesystem'] },
  PersistentVolumePhase: { go: 'v1.PersistentVolumePhase', type: 'string', values: ['Available', 'Bound', 'Failed', 'Pending', 'Released'] },
  PersistentVolumeReclaimPolicy: { go: 'v1.PersistentVolumeReclaimPolicy', type: 'string', values: ['Delete', 'Recycle', 'Retain'] },
  PodConditionType: { go: 'v1.PodConditionType', type: 'string' },
  PodFSGroupChangePolicy: { go: 'v1.PodFSGroupChangePolicy', type: 'string', values: ['Always', 'OnRootMismatch'] },
  PodFailurePolicyAction: { go: 'v1.PodFailurePolicyAction', type: 'string', values: ['Count', 'FailIndex', 'FailJob', 'Ignore'] },
  PodFailurePolicyOnExitCodesOperator: { go: 'v1.PodFailurePolicyOnExitCodesOperator', type: 'string', values: ['In', 'NotIn'] },
  PodManagementPolicyType: { go: 'v1.PodManagementPolicyType', type: 'string', values: ['OrderedReady', 'Parallel'] },
  PodPhase: { go: 'v1.PodPhase', type: 'string', values: ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'] },
  PodQOSClass: { go: 'v1.PodQOSClass', type: 'string', values: ['BestEffort', 'Burstable', 'Guaranteed'] },
  PodReplacementPolicy: { go: 'v1.PodReplacementPolicy', type: 'string', values: ['Failed', 'TerminatingOrFailed'] },
  PodResizeStatus: { go: 'v1.PodResizeStatus', type: 'string' },
  PodSELinuxChangePolicy: { go: 'v1.PodSELinuxChangePolicy', type: 'string' },
  PolicyType: { go: 'v1.PolicyType', type: 'string', values: ['Egress', 'Ingress'] },
  PreemptionPolicy: { go: 'v1.PreemptionPolicy', type: 'string', values: ['Never', 'PreemptLowerPriority'] },
  PriorityLevelConfigurationConditionType: { go: 'v1.PriorityLevelConfigurationConditionType', type: 'string' },
  PriorityLevelEnablement: { go: 'v1.PriorityLevelEnablement', type: 'string' },
  ProcMountType: { go: 'v1.ProcMountType', type: 'string', values: ['Default', 'Unmasked'] },
  Protocol: { go: 'v1.Protocol', type: 'string', values: ['SCTP', 'TCP', 'UDP'] },
  PullPolicy: { go: 'v1.PullPolicy', type: 'string', values: ['Always', 'IfNotPresent', 'Never'] },
  QualifiedName: { go: 'v1.QualifiedName', type: 'string' },
  RecursiveReadOnlyMode: { go: 'v1.RecursiveReadOnlyMode', type: 'string' },
  ReinvocationPolicyType: { go: 'v1.ReinvocationPolicyType', type: 'string', values: ['IfNeeded', 'Never'] },
  ReplicaSetConditionType: { go: 'v1.ReplicaSetConditionType', type: 'string' },
  ReplicationControllerConditionType: { go: 'v1.ReplicationControllerConditionType', type: 'string' },
  RequestConditionType: { go: 'v1.RequestConditionType', type: 'string' },
  ResourceHealthStatus: { go: 'v1.ResourceHealthStatus', type: 'string' },
  ResourceID: { go: 'v1.ResourceID', type: 'string' },
  ResourceList: { go: 'v1.ResourceList', type: 'map[ResourceName]Quantity' },
  ResourceName: { go: 'v1.ResourceName', type: 'string' },
  ResourceQuotaScope: { go: 'v1.ResourceQuotaScope', type: 'string', values: ['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'PriorityClass', 'Terminating', 'VolumeAttributesClass'] },
  ResourceResizeRestartPolicy: { go: 'v1.ResourceResizeRestartPolicy', type: 'string' },
  ResourceVersionMatch: { go: 'v1.ResourceVersionMatch', type: 'string' },
  RestartPolicy: { go: 'v1.RestartPolicy', type: 'string', values: ['Always', 'Never', 'OnFailure'] },
  RowConditionType: { go: 'v1.RowConditionType', type: 'string' },
  ScalingPolicySelect: { go: 'v2.ScalingPolicySelect', type: 'string' },
  ScopeSelectorOperator: { go: 'v1.ScopeSelectorOperator', type: 'string', values: ['DoesNotExist', 'Exists', 'In', 'NotIn'] },
  ScopeType: { go: 'v1.ScopeType', type: 'string', values: ['*', 'Cluster', 'Namespaced'] },
  SeccompProfileType: { go: 'v1.SeccompProfileType', type: 'string', values: ['Localhost', 'RuntimeDefault', 'Unconfined'] },
  SecretType: { go: 'v1.SecretType', type: 'string' },
  ServiceAffinity: { go: 'v1.ServiceAffinity', type: 'string', values: ['ClientIP', 'None'] },
  ServiceExternalTrafficPolicy: { go: 'v1.ServiceExternalTrafficPolicy', type: 'string', values: ['Cluster', 'Local'] },
  ServiceInternalTrafficPolicy: { go: 'v1.ServiceInternalTrafficPolicy', type: 'string', values: ['Cluster', 'Local'] },
  ServiceType: { go: 'v1.ServiceType', type: 'string', values: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] },
  SideEffectClass: { go: 'v1.SideEffectClass', type: 'string', values: ['None', 'NoneOnDryRun', 'Some', 'Unknown'] },
  Signal: { go: 'v1.Signal', type: 'string', values: ['SIGABRT', 'SIGALRM', 'SIGBUS', 'SIGCHLD', 'SIGCLD', 'SIGCONT', 'SIGFPE', 'SIGHUP', 'SIGILL', 'SIGINT', 'SIGIO', 'SIGIOT', 'SIGKILL', 'SIGPIPE', 'SIGPOLL', 'SIGPROF', 'SIGPWR', 'SIGQUIT', 'SIGRTMAX', 'SIGRTMAX-1', 'SIGRTMAX-10', 'SIGRTMAX-11', 'SIGRTMAX-12', 'SIGRTMAX-13', 'SIGRTMAX-14', 'SIGRTMAX-2', 'SIGRTMAX-3', 'SIGRTMAX-4', 'SIGRTMAX-5', 'SIGRTMAX-6', 'SIGRTMAX-7', 'SIGRTMAX-8', 'SIGRTMAX-9', 'SIGRTMIN', 'SIGRTMIN+1', 'SIGRTMIN+10', 'SIGRTMIN+11', 'SIGRTMIN+12', 'SIGRTMIN+13', 'SIGRTMIN+14', 'SIGRTMIN+15', 'SIGRTMIN+2', 'SIGRTMIN+3', 'SIGRTMIN+4', 'SIGRTMIN+5', 'SIGRTMIN+6', 'SIGRTMIN+7', 'SIGRTMIN+8', 'SIGRTMIN+9', 'SIGSEGV', 'SIGSTKFLT', 'SIGSTOP', 'SIGSYS', 'SIGTERM', 'SIGTRAP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGUSR1', 'SIGUSR2', 'SIGVTALRM', 'SIGWINCH', 'SIGXCPU', 'SIGXFSZ'] },
  StatefulSetConditionType: { go: 'v1.StatefulSetConditionType', type: 'string' },
  StatefulSetUpdateStrategyType: { go: 'v1.StatefulSetUpdateStrategyType', type: 'string', values: ['OnDelete', 'RollingUpdate'] },
  StatusReason: { go: 'v1.StatusReason', type: 'string' },
  StorageMedium: { go: 'v1.StorageMedium', type: 'string' },
  SubjectKind: { go: 'v1.SubjectKind', type: 'string' },
  SupplementalGroupsPolicy: { go: 'v1.SupplementalGroupsPolicy', type: 'string', values: ['Merge', 'Strict'] },
  TaintEffect: { go: 'v1.TaintEffect', type: 'string', values: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] },
  TerminationMessagePolicy: { go: 'v1.TerminationMessagePolicy', type: 'string', values: ['FallbackToLogsOnError', 'File'] },
  TolerationOperator: { go: 'v1.TolerationOperator', type: 'string', values: ['Equal', 'Exists', 'Gt', 'Lt'] },
  URIScheme: { go: 'v1.URIScheme', type: 'string', values: ['HTTP', 'HTTPS'] },
  UnhealthyPodEvictionPolicyType: { go: 'v1.UnhealthyPodEvictionPolicyType', type: 'string', values: ['AlwaysAllow', 'IfHealthyBudget'] },
  UniqueVolumeName: { go: 'v1.UniqueVolumeName', type: 'string' },
  UnsatisfiableConstraintAction: { go: 'v1.UnsatisfiableConstraintAction', type: 'string', values: ['DoNotSchedule', 'ScheduleAnyway'] },
  ValidationAction: { go: 'v1.ValidationAction', type: 'string', values: ['Audit', 'Deny', 'Warn'] },
  Verbs: { go: 'v1.Verbs', type: '[]string' },
  VolumeBindingMode: { go: 'v1.VolumeBindingMode', type: 'string', values: ['Immediate', 'WaitForFirstConsumer'] },
  VolumeLifecycleMode: { go: 'v1.VolumeLifecycleMode', type: 'string' },
};
