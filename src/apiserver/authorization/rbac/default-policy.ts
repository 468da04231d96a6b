import type { ClusterRole, ClusterRoleBinding, ObjectMeta, PolicyRule, Role, RoleBinding, Subject } from '../../../api/generated/types.ts';
import { rbacGroup } from '../../../api/kinds/rbac/policy-rules.ts';
import { bootstrappers, nodesGroup } from '../../user.ts';
import { read, rule } from './rule-text.ts';
import { systemRoles } from './system-roles.ts';
import { userRoles } from './user-roles.ts';

/** Present and 'false': the role or binding is its owner's business, and is left alone when the server starts. */
export const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';

const apiVersion = `${rbacGroup}/v1`;

const defaults = (name: string, labels: Readonly<Record<string, string>> = {}): ObjectMeta => ({
  name,
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  annotations: { [autoUpdate]: 'true' },
});

const aggregateTo = (role: string): Record<string, string> => ({ [`${rbacGroup}/aggregate-to-${role}`]: 'true' });

/** `admin` has what `edit` has and more, `edit` what `view` has and more. */
const aggregated: readonly (readonly [name: string, partOf: string | undefined])[] = [
  ['admin', undefined],
  ['edit', 'admin'],
  ['view', 'edit'],
];

const clusterRole = (metadata: ObjectMeta, rules: readonly PolicyRule[]): ClusterRole => ({ kind: 'ClusterRole', apiVersion, metadata, rules: [...rules] });

const aggregatedRole = ([name, partOf]: (typeof aggregated)[number]): ClusterRole => ({
  kind: 'ClusterRole',
  apiVersion,
  metadata: defaults(name, partOf === undefined ? {} : aggregateTo(partOf)),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] },
  rules: null,
});

function plainRole(name: string, rules: readonly PolicyRule[]): ClusterRole {
  const part = /^(?:system|mooring):aggregate-to-(.+)$/.exec(name)?.[1];
  return clusterRole(defaults(name, part === undefined ? {} : aggregateTo(part)), rules);
}

const group = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name });
const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });
const account = (name: string): Subject => ({ kind: 'ServiceAccount', namespace: 'kube-system', name });

const bound: Readonly<Record<string, readonly Subject[]>> = {
  'cluster-admin': [group('system:masters')],
  'system:monitoring': [group('system:monitoring')],
  'system:discovery': [group('system:authenticated')],
  'system:basic-user': [group('system:authenticated')],
  'system:public-info-viewer': [group('system:authenticated'), group('system:unauthenticated')],
  'system:node-proxier': [user('system:kube-proxy')],
  'system:kube-controller-manager': [user('system:kube-controller-manager')],
  'system:kube-dns': [account('kube-dns')],
  'system:kube-scheduler': [user('system:kube-scheduler')],
  'system:volume-scheduler': [user('system:kube-scheduler')],
  'system:service-account-issuer-discovery': [group('system:serviceaccounts')],
  // Without subjects: the node authorizer decides by node, which no role can do.
  'system:node': [],
};

/** The name of the server where it is a client: of the endpoints of nodes. */
export const kubeletClientUser = 'kube-apiserver-kubelet-client';

/** The role whose members' CSRs for serving certificates are approved, if their names are those of the node's status. */
const selfNodeServer = 'mooring:certificatesigningrequests:selfnodeserver';
const ownRoles = {
  [selfNodeServer]: [rule('create', 'certificates.k8s.io', 'certificatesigningrequests/selfnodeserver')],
  // An explanation tells only what its reader may read. Kubernetes' own roles stay as they are.
  'mooring:aggregate-to-view': [rule('get list', 'mooring.dev', 'explanations')],
};

/**
 * How machines come to be nodes, as kubeadm has it: who holds a bootstrap credential may ask for a node's certificate and gets it,
 * and a node gets a new one for itself. Kubernetes' own policy has the roles, and leaves binding them to the installer (kubeadm).
 * That nodes get certificates for their endpoints without an administrator, and the server may ask those, is ours.
 */
const bootstrapping: readonly (readonly [binding: string, role: string, to: Subject])[] = [
  ['mooring:kubelet-bootstrap', 'system:node-bootstrapper', group(bootstrappers)],
  ['mooring:node-autoapprove-bootstrap', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient', group(bootstrappers)],
  ['mooring:node-autoapprove-certificate-rotation', 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient', group(nodesGroup)],
  ['mooring:node-autoapprove-serving', selfNodeServer, group(nodesGroup)],
  ['mooring:kubelet-api-admin', 'system:kubelet-api-admin', user(kubeletClientUser)],
];

const clusterRoleBinding = (name: string, subjects: readonly Subject[], role = name): ClusterRoleBinding => ({
  kind: 'ClusterRoleBinding',
  apiVersion,
  metadata: defaults(name),
  ...(subjects.length === 0 ? {} : { subjects: [...subjects] }),
  roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
});

const leaderLocking = ['leases', 'leasecandidates'].map((resource) => rule('create get list update watch', 'coordination.k8s.io', resource));

interface NamespacedRole {
  readonly namespace: string;
  readonly rules: readonly PolicyRule[];
  readonly subjects: readonly Subject[];
  /** Default: the role's name. */
  readonly binding?: string;
}

const namespaced: Readonly<Record<string, NamespacedRole>> = {
  'extension-apiserver-authentication-reader': {
    namespace: 'kube-system',
    rules: [rule(read, '', 'configmaps', 'extension-apiserver-authentication')],
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler')],
    binding: 'system::extension-apiserver-authentication-reader',
  },
  'system::leader-locking-kube-controller-manager': {
    namespace: 'kube-system',
    rules: leaderLocking,
    subjects: [user('system:kube-controller-manager'), account('kube-controller-manager'), account('leader-election-controller')],
  },
  'system::leader-locking-kube-scheduler': {
    namespace: 'kube-system',
    rules: leaderLocking,
    subjects: [user('system:kube-scheduler'), account('kube-scheduler')],
  },
};

/** The roles of the controllers of this program: each is bound to the service account that it acts as. */
export type ControllerPolicy = Readonly<Record<string, readonly PolicyRule[]>>;

export interface DefaultPolicy {
  readonly clusterRoles: readonly ClusterRole[];
  readonly clusterRoleBindings: readonly ClusterRoleBinding[];
  readonly roles: readonly Role[];
  readonly roleBindings: readonly RoleBinding[];
}

/** What every cluster has, as in Kubernetes 1.36, and what its own controllers need. */
export function defaultPolicy(controllers: ControllerPolicy): DefaultPolicy {
  const ofControllers = Object.entries(controllers).map(([name, rules]) => ({ name, role: `system:controller:${name}`, rules }));
  return {
    clusterRoles: [
      ...aggregated.map(aggregatedRole),
      ...Object.entries({ ...userRoles, ...systemRoles, ...ownRoles }).map(([name, rules]) => plainRole(name, rules)),
      ...ofControllers.map(({ role, rules }) => clusterRole(defaults(role), rules)),
    ],
    clusterRoleBindings: [
      ...Object.entries(bound).map(([name, subjects]) => clusterRoleBinding(name, subjects)),
      ...bootstrapping.map(([name, role, to]) => clusterRoleBinding(name, [to], role)),
      ...ofControllers.map(({ role, name }) => clusterRoleBinding(role, [account(name)])),
    ],
    roles: Object.entries(namespaced).map(([name, { namespace, rules }]) => ({
      kind: 'Role',
      apiVersion,
      metadata: { ...defaults(name), namespace },
      rules: [...rules],
    })),
    roleBindings: Object.entries(namespaced).map(([name, { namespace, subjects, binding = name }]) => ({
      kind: 'RoleBinding',
      apiVersion,
      metadata: { ...defaults(binding), namespace },
      subjects: [...subjects],
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
    })),
  };
}
