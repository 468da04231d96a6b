/** Common types, and one text for each kind: first the type, then one line per field. */
export const objectTexts: Readonly<Record<string, string>> = {
  ObjectMeta: `Standard object's metadata: what every object says about itself.
name The name of the object, unique among those of its kind and namespace. It never changes.
generateName The beginning of a name that the server completes, if no name is given.
namespace The namespace that the object is in. It never changes. Objects of the cluster have none.
selfLink No longer filled in.
uid Identifies the object among all that ever were. Set by the server.
resourceVersion The version of the object. A write that gives one fails if the object was changed meanwhile. Not to be interpreted.
generation Counts the changes of what is wanted. Set by the server.
creationTimestamp CreationTimestamp is a timestamp of when the object was made. Set by the server.
deletionTimestamp When the object will be gone, once its deletion was asked for. Set by the server.
deletionGracePeriodSeconds How long the object was given to end. Set by the server.
labels Keys and values by which objects are selected.
annotations Keys and values for people and programs. Objects cannot be selected by them.
ownerReferences The objects that this one belongs to. Once all of them are gone, it is removed.
finalizers Who must still do something before the object may be gone. Each removes its own entry.
managedFields Who set which field last.`,
  OwnerReference: `An owner: an object of the same namespace, or of the cluster.
apiVersion The group and version of the owner.
kind What the owner is.
name The owner's name.
uid The owner's uid.
controller Whether this owner manages the object. At most one does.
blockOwnerDeletion Whether an owner that is deleted in the foreground waits for this object.`,
  ManagedFieldsEntry: `The fields that one manager set.
manager Who set them.
operation How: Apply or Update.
apiVersion The version in which the fields are named.
time When this entry changed last.
fieldsType The format of the fields: FieldsV1.
fieldsV1 The fields.
subresource The subresource by which they were set. Empty: the object itself.`,
  LabelSelector: `Selects objects by their labels. All requirements hold; an empty selector selects everything.
matchLabels Labels that objects must have, with these values.
matchExpressions Further requirements on labels.`,
  LabelSelectorRequirement: `A requirement on one label.
key The label.
operator How the values are compared: In, NotIn, Exists or DoesNotExist.
values What to compare with: at least one for In and NotIn, none for the others.`,
  ObjectReference: `An object, or a part of one.
kind What it is.
namespace Its namespace.
name Its name.
uid Its uid.
apiVersion Its group and version.
resourceVersion The version of the object that is meant.
fieldPath The part of the object that is meant, such as spec.containers{name}.`,
  ListMeta: `What every list says about itself.
selfLink No longer filled in.
resourceVersion The version of the list, from which it can be watched.
continue Asks for the next part of the list. Absent: this was all.
remainingItemCount About how many items are left.`,
  Volume: `Storage that the containers of a pod can mount. Exactly one source says what it is.
name The name by which containers mount it.
persistentVolumeClaim A claim of the pod's namespace, and the persistent volume that it is bound to.
ephemeral A claim that is made for this pod and goes with it.
csi A volume that a CSI driver makes for this pod alone.
emptyDir An empty directory that lives as long as the pod is on its node.
hostPath A file or directory of the node.
configMap The entries of a ConfigMap as files.
secret The entries of a Secret as files.
projected Several sources in one directory.
downwardAPI Facts about the pod as files.
nfs An export of an NFS server.`,
  PersistentVolumeClaimVolumeSource: `A claim of the pod's namespace.
claimName The name of the claim.
readOnly Whether all mounts are for reading only.`,
  EphemeralVolumeSource: `A claim that is made for a pod and goes with it. Its name is that of the pod and of the volume with a dash between.
volumeClaimTemplate What the claim is like.`,
  PersistentVolumeClaimTemplate: `What a claim is like that is made for a pod.
metadata Labels and annotations of the claim.
spec What the claim asks for.`,
  VolumeMount: `A volume within a container.
name The name of the volume.
mountPath Where the container sees it.
subPath The part of the volume to mount. Empty: all of it.
subPathExpr As subPath, with $(VARIABLES) of the container's environment.
readOnly Whether it is mounted for reading only.
recursiveReadOnly Whether mounts within it are for reading only as well.
mountPropagation Whether mounts reach the container from its node, and the other way.`,
  VolumeDevice: `A raw block device within a container.
name The name of a claim among the pod's volumes.
devicePath Where the container sees the device.`,
  ConfigMap: `Settings for pods, as keys and values.
data Entries of text.
binaryData Entries of bytes, in base64.
immutable Whether the entries can no longer change.`,
  Secret: `Confidential keys and values.
data The entries, in base64.
stringData Entries as plain text: written into data, and never read back.
type What the secret is for. Some types demand certain keys.
immutable Whether the entries can no longer change.`,
  Pod: `Containers that run together on one node.
spec What is to run.
status What runs. Written by the node.`,
  Node: `A machine of the cluster.
spec How the node is to be used.
status How the node is. Written by the node.`,
  Namespace: `A room of its own for names: objects of different namespaces may have the same name.
spec How the namespace ends.
status Whether the namespace is in use or ends.`,
  ServiceAccount: `Who the processes of a pod are.
secrets The secrets that its pods may use.
imagePullSecrets The secrets for pulling the images of its pods.
automountServiceAccountToken Whether its pods get a token without asking.`,
  Service: `A name and an address for pods that a selector finds.
spec Which pods, and on which ports.
status What the service was given.`,
  Endpoints: `The addresses behind a service. Deprecated: use EndpointSlice.
subsets Addresses, by the ports that they share.`,
  EndpointSlice: `Some of the addresses behind a service.
addressType What the addresses are: IPv4, IPv6 or FQDN.
endpoints The addresses.
ports The ports that each of them serves.`,
  Event: `Something that happened to an object. Events are kept for a while only.`,
  EventsEvent: `Something that happened to an object. Events are kept for a while only.`,
  ResourceQuota: `How much a namespace may use.
spec The limits.
status The limits and what is used.`,
  LimitRange: `The least, the most and the usual that single objects of a namespace may ask for.
spec The limits.`,
  Deployment: `Replaces pods step by step when what they run changes.
spec What is wanted.
status How far it is.`,
  ReplicaSet: `Keeps a number of pods running.
spec What is wanted.
status How far it is.`,
  StatefulSet: `Pods with names that stay, each with claims of its own.
spec What is wanted.
status How far it is.`,
  DaemonSet: `A pod on every node, or on every node that is selected.
spec What is wanted.
status How far it is.`,
  ControllerRevision: `A former state of a StatefulSet or DaemonSet. It never changes.
data The state.
revision The number of the revision.`,
  Job: `Runs pods until enough of them have succeeded.
spec What is wanted.
status How far it is.`,
  CronJob: `Makes jobs at set times.
spec When, and what.
status When it last did.`,
  PodDisruptionBudget: `Limits how many pods may be evicted at a time.
spec Which pods, and how many.
status How many may go now.`,
  PriorityClass: `How important pods are.
value The priority. The higher one goes first.
globalDefault Whether pods that name no class get this one.
description When to use this class.
preemptionPolicy Whether such pods push others aside: PreemptLowerPriority (the default) or Never.`,
  CustomResourceDefinition: `A kind of object that the server does not know by itself. Its name is plural.group.
spec What the kind is called and what its objects look like.
status Whether the kind is served.`,
  CustomResourceDefinitionSpec: `What a kind is called and what its objects look like.
group The API group of the kind.
names What the kind is called.
scope Whether its objects are in namespaces: Namespaced or Cluster.
versions The versions of the kind. Exactly one of them is stored.`,
  CustomResourceDefinitionVersion: `A version of a kind.
name The version, such as v1 or v1beta1.
served Whether clients can use it.
storage Whether objects are stored in it.
schema What objects look like, and what is refused.
subresources Whether objects have a status and a scale of their own.
additionalPrinterColumns The columns that kubectl get prints.`,
  Lease: `Says who is in charge, and until when.
spec The holder and the times.`,
  CertificateSigningRequest: `Requests a certificate. An approver approves or denies it; then its signer signs it.
spec What is asked for, and by whom. It never changes.
status What was decided, and the certificate.`,
  CertificateSigningRequestSpec: `What is asked for, and by whom.
request The request (PKCS #10) as PEM, in base64.
signerName Who is to sign, such as kubernetes.io/kube-apiserver-client.
expirationSeconds How long the certificate is to be valid. The signer may make it shorter, at least 600 seconds.
usages What the certificate is to be good for.
username Who asks. Set by the server.
uid The uid of who asks. Set by the server.
groups The groups of who asks. Set by the server.
extra What else is known of who asks. Set by the server.`,
  CertificateSigningRequestStatus: `What was decided, and the certificate.
conditions What was decided: Approved, Denied or Failed. These stay.
certificate The certificate as PEM, in base64, once it was signed.`,
  Role: `Rights within a namespace.
rules What may be done to what.`,
  ClusterRole: `Rights in the cluster, or in whichever namespace they are given.
rules What may be done to what.
aggregationRule Gathers the rules from other cluster roles, by their labels.`,
  RoleBinding: `Gives rights within a namespace.
subjects Who gets them.
roleRef The role. It never changes.`,
  ClusterRoleBinding: `Gives rights in the whole cluster.
subjects Who gets them.
roleRef The cluster role. It never changes.`,
};
