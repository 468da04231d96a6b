// Which types the schema holds: these, and all that they reach.

/** By Go package, in order of precedence: where two packages share a type name, the first one keeps it. */
export const roots = {
  'k8s.io/api/core/v1': [
    'Namespace NamespaceList Node NodeList Pod PodList PersistentVolume PersistentVolumeList PersistentVolumeClaim PersistentVolumeClaimList',
    'ConfigMap ConfigMapList Secret SecretList ServiceAccount ServiceAccountList Service ServiceList Endpoints EndpointsList Event EventList',
    'ResourceQuota ResourceQuotaList LimitRange LimitRangeList PodTemplate PodTemplateList ReplicationController ReplicationControllerList',
    'Binding PodLogOptions PodExecOptions PodAttachOptions PodPortForwardOptions PodProxyOptions NodeProxyOptions ServiceProxyOptions',
  ],
  'k8s.io/apimachinery/pkg/apis/meta/v1': [
    'ObjectMeta ListMeta Status DeleteOptions ListOptions GetOptions CreateOptions UpdateOptions PatchOptions ApplyOptions LabelSelector',
    'Table TableOptions PartialObjectMetadata PartialObjectMetadataList WatchEvent List Condition TypeMeta',
    'APIVersions APIGroup APIGroupList APIResource APIResourceList',
  ],
  'k8s.io/api/apps/v1': [
    'StatefulSet StatefulSetList Deployment DeploymentList ReplicaSet ReplicaSetList DaemonSet DaemonSetList ControllerRevision ControllerRevisionList',
  ],
  'k8s.io/api/batch/v1': ['Job JobList CronJob CronJobList'],
  'k8s.io/api/authentication/v1': ['TokenRequest TokenReview SelfSubjectReview'],
  'k8s.io/api/storage/v1': [
    'StorageClass StorageClassList VolumeAttachment VolumeAttachmentList CSINode CSINodeList CSIDriver CSIDriverList',
    'CSIStorageCapacity CSIStorageCapacityList VolumeAttributesClass VolumeAttributesClassList',
  ],
  'k8s.io/api/coordination/v1': ['Lease LeaseList'],
  'k8s.io/api/policy/v1': ['PodDisruptionBudget PodDisruptionBudgetList Eviction'],
  'k8s.io/api/scheduling/v1': ['PriorityClass PriorityClassList'],
  'k8s.io/api/events/v1': ['Event EventList'],
  'k8s.io/api/discovery/v1': ['EndpointSlice EndpointSliceList'],
  'k8s.io/api/autoscaling/v2': ['HorizontalPodAutoscaler HorizontalPodAutoscalerList'],
  'k8s.io/api/autoscaling/v1': ['Scale HorizontalPodAutoscaler HorizontalPodAutoscalerList'],
  'k8s.io/api/networking/v1': [
    'Ingress IngressList IngressClass IngressClassList NetworkPolicy NetworkPolicyList IPAddress IPAddressList ServiceCIDR ServiceCIDRList',
  ],
  'k8s.io/api/node/v1': ['RuntimeClass RuntimeClassList'],
  'k8s.io/api/rbac/v1': ['Role RoleList RoleBinding RoleBindingList ClusterRole ClusterRoleList ClusterRoleBinding ClusterRoleBindingList'],
  'k8s.io/api/authorization/v1': ['SubjectAccessReview LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview'],
  'k8s.io/api/certificates/v1': ['CertificateSigningRequest CertificateSigningRequestList'],
  'k8s.io/api/admissionregistration/v1': [
    'ValidatingWebhookConfiguration ValidatingWebhookConfigurationList MutatingWebhookConfiguration MutatingWebhookConfigurationList',
    'ValidatingAdmissionPolicy ValidatingAdmissionPolicyList ValidatingAdmissionPolicyBinding ValidatingAdmissionPolicyBindingList',
    'MutatingAdmissionPolicy MutatingAdmissionPolicyList MutatingAdmissionPolicyBinding MutatingAdmissionPolicyBindingList',
  ],
  'k8s.io/api/flowcontrol/v1': ['FlowSchema FlowSchemaList PriorityLevelConfiguration PriorityLevelConfigurationList'],
  'k8s.io/api/resource/v1': [
    'DeviceClass DeviceClassList ResourceClaim ResourceClaimList ResourceClaimTemplate ResourceClaimTemplateList ResourceSlice ResourceSliceList',
  ],
  'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1': ['APIService APIServiceList'],
};
for (const [name, lines] of Object.entries(roots)) roots[name] = lines.flatMap((line) => line.split(' '));

/** Types with an encoding of their own, written by hand in src/api/schema and src/api/protobuf. */
export const specials = {
  'k8s.io/apimachinery/pkg/api/resource.Quantity': 'Quantity',
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': 'IntOrString',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'RawExtension',
  'k8s.io/apimachinery/pkg/types.UID': 'UID',
  'k8s.io/apimachinery/pkg/types.NodeName': 'NodeName',
  'k8s.io/apimachinery/pkg/apis/meta/v1.Time': 'Time',
  'k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime': 'MicroTime',
  'k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1': 'FieldsV1',
};
