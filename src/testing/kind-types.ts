import type {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CronJob,
  CSIDriver,
  CSINode,
  DaemonSet,
  Deployment,
  Endpoints,
  EndpointSlice,
  Event,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Lease,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
  ReplicaSet,
  ResourceQuota,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from '../api/generated/types.ts';
import type { CustomResourceDefinition } from '../api/apiextensions/definition.ts';
import type { KubeObject } from '../api/object.ts';
import type { Stored } from '../api/stored.ts';

type Words<W extends string, T> = Readonly<Record<W, T>>;

/** The type of an object by the word that kubectl has for its kind. */
export type KindTypes = Words<'pod' | 'pods' | 'po', Pod> &
  Words<'persistentvolumeclaim' | 'persistentvolumeclaims' | 'pvc', PersistentVolumeClaim> &
  Words<'persistentvolume' | 'persistentvolumes' | 'pv', PersistentVolume> &
  Words<'storageclass' | 'storageclasses' | 'sc', StorageClass> &
  Words<'volumeattachment' | 'volumeattachments' | 'va', VolumeAttachment> &
  Words<'csidriver' | 'csidrivers', CSIDriver> &
  Words<'csinode' | 'csinodes', CSINode> &
  Words<'statefulset' | 'statefulsets' | 'sts', StatefulSet> &
  Words<'deployment' | 'deployments' | 'deploy', Deployment> &
  Words<'replicaset' | 'replicasets' | 'rs', ReplicaSet> &
  Words<'daemonset' | 'daemonsets' | 'ds', DaemonSet> &
  Words<'job' | 'jobs', Job> &
  Words<'cronjob' | 'cronjobs' | 'cj', CronJob> &
  Words<'node' | 'nodes' | 'no', Node> &
  Words<'namespace' | 'namespaces' | 'ns', Namespace> &
  Words<'service' | 'services' | 'svc', Service> &
  Words<'endpoints' | 'ep', Endpoints> &
  Words<'endpointslice' | 'endpointslices', EndpointSlice> &
  Words<'configmap' | 'configmaps' | 'cm', ConfigMap> &
  Words<'secret' | 'secrets', Secret> &
  Words<'serviceaccount' | 'serviceaccounts' | 'sa', ServiceAccount> &
  Words<'event' | 'events' | 'ev', Event> &
  Words<'lease' | 'leases', Lease> &
  Words<'resourcequota' | 'resourcequotas' | 'quota', ResourceQuota> &
  Words<'poddisruptionbudget' | 'poddisruptionbudgets' | 'pdb', PodDisruptionBudget> &
  Words<'priorityclass' | 'priorityclasses' | 'pc', PriorityClass> &
  Words<'horizontalpodautoscaler' | 'horizontalpodautoscalers' | 'hpa', HorizontalPodAutoscaler> &
  Words<'ingress' | 'ingresses' | 'ing', Ingress> &
  Words<'networkpolicy' | 'networkpolicies' | 'netpol', NetworkPolicy> &
  Words<'role' | 'roles', Role> &
  Words<'rolebinding' | 'rolebindings', RoleBinding> &
  Words<'clusterrole' | 'clusterroles', ClusterRole> &
  Words<'clusterrolebinding' | 'clusterrolebindings', ClusterRoleBinding> &
  Words<'customresourcedefinition' | 'customresourcedefinitions' | 'crd', CustomResourceDefinition>;

/** A word that the table does not have: any kind, also a custom one. */
export interface AnyObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** An object, named as for kubectl ('pvc/data', 'pvc/data -n shop'), or by an object of that kind and name. */
export type ObjectRef = string | (Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly metadata: { readonly name?: string; readonly namespace?: string } });

/** `ObjectOfKind<'pods'>` is a Pod. */
export type ObjectOfKind<W extends string> = Stored<W extends keyof KindTypes ? KindTypes[W] : AnyObject>;

/** `ObjectFor<'pvc/data'>` is a PersistentVolumeClaim. */
export type ObjectFor<R extends ObjectRef> = R extends string
  ? R extends `${infer W}/${string}`
    ? ObjectOfKind<W>
    : Stored<AnyObject>
  : R extends KubeObject
    ? Stored<R>
    : Stored<AnyObject>;
