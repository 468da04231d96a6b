import { signers } from '../../api/kinds/certificates/signer-name.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { ControllerPolicy } from '../../apiserver/authorization/rbac/default-policy.ts';
import { nodeAuthorizer } from '../../apiserver/authorization/node/authorizer.ts';
import type { PopulatedGraph } from '../../apiserver/authorization/node/graph-populator.ts';
import { NodeGraph } from '../../apiserver/authorization/node/graph.ts';
import { staticRoleAuthorizer, policyRulesOf, type StaticRole, type StaticRule } from '../../apiserver/authorization/static-roles.ts';

const rule = (verbs: string, group: string, ...resources: readonly string[]): StaticRule => ({ verbs: verbs.split(' '), group, resources });
const onNames = (verbs: string, group: string, { resource, names }: { readonly resource: string; readonly names: readonly string[] }): StaticRule => ({
  verbs: verbs.split(' '),
  group,
  resources: [resource],
  names,
});
const onAll = (verbs: string): StaticRule => ({ verbs: verbs.split(' '), resources: 'all' });
const events = rule('create patch', '', 'events');

/**
 * The rights of each controller, after Kubernetes' policy for the controller of the same name; fewer where Mooring's needs fewer. No controller may
 * list or watch: the shared informers do that under their own name. A test runs every controller and finds no rule missing and none unused.
 */
export const controllerRoles = {
  /** Leader election. */
  'moor-controllers': [rule('get create update', 'coordination.k8s.io', 'leases')],
  /** The garbage collector watches every kind. */
  'moor-informers': [onAll('list watch')],
  'service-account-controller': [rule('create', '', 'serviceaccounts'), rule('create update', '', 'configmaps')],
  'namespace-controller': [onAll('list deletecollection'), rule('update', '', 'namespaces/status', 'namespaces/finalize')],
  'generic-garbage-collector': [onAll('get patch delete'), rule('create', '', 'events')],
  'clusterrole-aggregation-controller': [rule('update escalate', 'rbac.authorization.k8s.io', 'clusterroles')],
  'validatingadmissionpolicy-status-controller': [rule('update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status')],
  /** Approves the requests of nodes, and signs for the signers of every cluster. */
  'certificate-controller': [
    rule('delete', 'certificates.k8s.io', 'certificatesigningrequests'),
    rule('update', 'certificates.k8s.io', 'certificatesigningrequests/status', 'certificatesigningrequests/approval'),
    onNames('approve', 'certificates.k8s.io', { resource: 'signers', names: [signers.nodeClient, signers.nodeServing] }),
    onNames('sign', 'certificates.k8s.io', { resource: 'signers', names: [signers.client, signers.nodeClient, signers.nodeServing] }),
    rule('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    rule('get', '', 'nodes'),
  ],
  'pvc-protection-controller': [rule('update', '', 'persistentvolumeclaims'), rule('list', '', 'pods')],
  'pv-protection-controller': [rule('update', '', 'persistentvolumes'), rule('get', '', 'persistentvolumeclaims')],
  'volumeattributesclass-protection-controller': [
    rule('update', 'storage.k8s.io', 'volumeattributesclasses'),
    rule('list', '', 'persistentvolumes', 'persistentvolumeclaims'),
  ],
  'resourcequota-controller': [onAll('list'), rule('update', '', 'resourcequotas/status')],
  'ephemeral-volume-controller': [rule('create', '', 'persistentvolumeclaims'), events],
  'volume-data-source-validator': [events],
  'persistent-volume-binder': [
    rule('create update delete', '', 'persistentvolumes'),
    rule('get update', '', 'persistentvolumeclaims'),
    rule('update', '', 'persistentvolumes/status', 'persistentvolumeclaims/status'),
    rule('get create delete', '', 'pods'),
    // Of calls to CSI drivers.
    rule('get', '', 'secrets'),
    rule('get create update delete', 'mooring.dev', 'volumeintents'),
    rule('create', 'mooring.dev', 'volumebindings'),
    rule('update', 'snapshot.storage.k8s.io', 'volumesnapshots'),
    // Events of the scrubber pod say why it does not start.
    rule('list watch', '', 'events'),
    events,
  ],
  'attachdetach-controller': [
    rule('get create delete', 'storage.k8s.io', 'volumeattachments'),
    rule('get', '', 'nodes'),
    rule('update', '', 'nodes/status'),
    events,
  ],
  /** Attaches the volumes of drivers in this process, as an external-attacher does. */
  'volume-attacher': [
    rule('get update', 'storage.k8s.io', 'volumeattachments'),
    rule('update', 'storage.k8s.io', 'volumeattachments/status'),
    rule('update', '', 'persistentvolumes'),
    rule('get', '', 'nodes'),
  ],
  /** Publishes the capacity of drivers in this process, as an external-provisioner does. */
  'csi-capacity-controller': [rule('create update delete', 'storage.k8s.io', 'csistoragecapacities')],
  /** Takes the snapshots of drivers in this process, as a snapshot-controller and a csi-snapshotter do. */
  'snapshot-controller': [
    rule('update', 'snapshot.storage.k8s.io', 'volumesnapshots', 'volumesnapshots/status', 'volumesnapshotcontents/status'),
    rule('get create update delete', 'snapshot.storage.k8s.io', 'volumesnapshotcontents'),
    rule('create delete', 'snapshot.storage.k8s.io', 'volumesnapshots'),
    rule('update', 'groupsnapshot.storage.k8s.io', 'volumegroupsnapshots', 'volumegroupsnapshots/status', 'volumegroupsnapshotcontents/status'),
    rule('get create update delete', 'groupsnapshot.storage.k8s.io', 'volumegroupsnapshotcontents'),
    rule('update', '', 'persistentvolumeclaims'),
    events,
  ],
  'expand-controller': [rule('get', '', 'persistentvolumeclaims'), rule('update', '', 'persistentvolumeclaims/status', 'persistentvolumes'), events],
  'replicaset-controller': [rule('create patch delete', '', 'pods'), rule('get', 'apps', 'replicasets'), rule('update', 'apps', 'replicasets/status'), events],
  'replication-controller': [
    rule('create patch delete', '', 'pods'),
    rule('get', '', 'replicationcontrollers'),
    rule('update', '', 'replicationcontrollers/status'),
    events,
  ],
  'deployment-controller': [
    rule('create update patch delete', 'apps', 'replicasets'),
    rule('get update', 'apps', 'deployments'),
    rule('update', 'apps', 'deployments/status'),
    events,
  ],
  'statefulset-controller': [
    rule('get', 'apps', 'statefulsets'),
    rule('update', 'apps', 'statefulsets/status'),
    rule('create update patch delete', 'apps', 'controllerrevisions'),
    rule('create update patch delete', '', 'pods'),
    rule('create update', '', 'persistentvolumeclaims'),
    events,
  ],
  'daemon-set-controller': [
    rule('get', 'apps', 'daemonsets'),
    rule('update', 'apps', 'daemonsets/status'),
    rule('create update patch delete', 'apps', 'controllerrevisions'),
    rule('create patch delete', '', 'pods'),
    events,
  ],
  'job-controller': [rule('get', 'batch', 'jobs'), rule('update', 'batch', 'jobs/status'), rule('create patch delete', '', 'pods'), events],
  'ttl-after-finished-controller': [rule('delete', 'batch', 'jobs')],
  'cronjob-controller': [rule('update', 'batch', 'cronjobs/status'), rule('get create delete', 'batch', 'jobs'), events],
  'node-controller': [rule('update', '', 'nodes', 'nodes/status', 'pods/status'), events],
  'disruption-controller': [rule('update', 'policy', 'poddisruptionbudgets/status'), rule('update', '', 'pods/status'), events],
  'endpointslice-controller': [rule('create update delete', 'discovery.k8s.io', 'endpointslices'), events],
  'endpointslicemirroring-controller': [rule('create update delete', 'discovery.k8s.io', 'endpointslices'), events],
  'endpoint-controller': [rule('create update delete', '', 'endpoints'), events],
  'taint-eviction-controller': [rule('update', '', 'pods/status'), rule('delete', '', 'pods'), events],
  'pod-garbage-collector': [rule('get', '', 'nodes'), rule('update', '', 'pods/status'), rule('delete', '', 'pods')],
  /** The autoscaler, under Karpenter's name. */
  karpenter: [
    rule('create update delete', 'karpenter.sh', 'nodeclaims'),
    rule('update', 'karpenter.sh', 'nodeclaims/status', 'nodepools/status'),
    rule('update delete', '', 'nodes'),
    rule('create', '', 'pods/eviction'),
    rule('delete', '', 'pods'),
    events,
  ],
  /** Events of hollow nodes; all else they do as nodes (`apiserver/authorization/node`). */
  'hollow-nodes': [events],
  /** The scheduler and its leader election. */
  'moor-scheduler': [
    rule('get create update', 'coordination.k8s.io', 'leases'),
    rule('create', '', 'pods/binding'),
    rule('patch', '', 'pods/status'),
    rule('get delete', '', 'pods'),
    rule('get', '', 'persistentvolumeclaims'),
    rule('update', '', 'persistentvolumes', 'persistentvolumes/status', 'persistentvolumeclaims', 'persistentvolumeclaims/status'),
    rule('create', 'mooring.dev', 'volumebindings'),
    rule('create patch', 'events.k8s.io', 'events'),
  ],
} as const satisfies Readonly<Record<string, StaticRole>>;

export type ControllerName = keyof typeof controllerRoles;

export const controllerNames = Object.keys(controllerRoles) as readonly ControllerName[];

/** The user of a controller: 'system:serviceaccount:kube-system:namespace-controller'. */
export const controllerAccount = (name: ControllerName): string => `system:serviceaccount:kube-system:${name}`;

/** The same roles as ClusterRoles. */
export const controllerPolicy: ControllerPolicy = Object.fromEntries(controllerNames.map((name) => [name, policyRulesOf(controllerRoles[name])]));

/**
 * Controllers have the rights of their roles, even if the ClusterRoles are changed, and nodes those of the node authorizer; `others` decides all
 * other requests. Without `relations`, a node has rights only to objects with its own name.
 */
export function controllerAuthorizer(
  others: Authorizer,
  roles: Readonly<Record<ControllerName, StaticRole>> = controllerRoles,
  relations: Pick<PopulatedGraph, 'current'> = { current: () => new NodeGraph() },
): Authorizer {
  return staticRoleAuthorizer(new Map(controllerNames.map((name) => [controllerAccount(name), roles[name]])), nodeAuthorizer(relations, others));
}
