/** What each bundled role may do: every verb on every resource that is served, and nothing beyond. After Kubernetes 1.36. */
import { describe, expect, test } from 'vitest';
import type { ClusterRole } from '../../src/api/generated/types.ts';
import { rbacGroup } from '../../src/api/kinds/rbac/policy-rules.ts';
import { kubernetesKinds } from '../../src/api/kinds/index.ts';
import type { RequestInfo } from '../../src/api/request-info.ts';
import { controllerPolicy } from '../../src/cluster/access/controller-roles.ts';
import { RbacAuthorizer } from '../../src/apiserver/authorization/rbac/authorizer.ts';
import { defaultPolicy } from '../../src/apiserver/authorization/rbac/default-policy.ts';
import { discover } from '../../src/apiserver/discovery/resources.ts';
import { decideAggregation } from '../../src/controllers/cluster/cluster-role-aggregation/decide.ts';

const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'impersonate',
  'escalate',
  'bind',
  'approve',
  'sign',
  'proxy',
];
const read = 'get list watch';
const write = 'create update patch delete deletecollection';
const all = `${read} ${write}`;

/** Who approves requests to which signer. */
const signerOf: Readonly<Record<string, string>> = {
  'kube-apiserver-client-approver': 'kubernetes.io/kube-apiserver-client',
  'kube-apiserver-client-kubelet-approver': 'kubernetes.io/kube-apiserver-client-kubelet',
  'kubelet-serving-approver': 'kubernetes.io/kubelet-serving',
  'legacy-unknown-approver': 'kubernetes.io/legacy-unknown',
};

const policy = defaultPolicy(controllerPolicy);

/** As the controller leaves them, whatever it begins with. */
function aggregated(): readonly ClusterRole[] {
  let roles = policy.clusterRoles;
  for (let round = 0; round < 4; round++) {
    roles = roles.map((role) => decideAggregation({ role, roles }).actions[0]?.object ?? role);
  }
  return roles;
}

const roles = aggregated();

/** '/pods', '/pods/log', 'apps/deployments/scale': all that discovery shows, and a few that it does not, or not yet. */
const served = discover(kubernetesKinds).flatMap(({ group, resources }) =>
  resources.flatMap(({ name, subresources }) => [`${group}/${name}`, ...subresources.map((part) => `${group}/${name}/${part.name}`)]),
);
const unseen = [
  '/pods/log /pods/exec /pods/attach /pods/portforward /pods/proxy /nodes/proxy /nodes/log /nodes/metrics /nodes/stats /services/proxy /users /groups',
  'certificates.k8s.io/signers certificates.k8s.io/certificatesigningrequests/nodeclient certificates.k8s.io/certificatesigningrequests/selfnodeclient',
  'certificates.k8s.io/certificatesigningrequests/selfnodeserver mooring.dev/explanations mooring.dev/volumeintents',
].flatMap((text) => text.split(' '));
const resources = [...new Set([...served, ...unseen])].sort();

const jane = { name: 'jane', groups: ['system:authenticated'] };

function authorizerFor(role: string): RbacAuthorizer {
  const rbac = new RbacAuthorizer();
  for (const one of roles) rbac.put(one);
  const roleRef = { apiGroup: rbacGroup, kind: 'ClusterRole', name: role };
  rbac.put({
    kind: 'RoleBinding',
    apiVersion: `${rbacGroup}/v1`,
    metadata: { name: 'b', namespace: 'here' },
    subjects: [{ kind: 'User', name: 'jane' }],
    roleRef,
  });
  return rbac;
}

const asked = (verb: string, what: string, namespace: string, name = ''): RequestInfo => {
  const [group = '', resource = '', subresource = ''] = what.split('/');
  return { type: 'resource', verb, group, version: 'v1', resource, subresource, namespace, name };
};

/** '/pods: get list': what the role allows in a namespace. */
function allowedBy(role: string, namespace = 'here'): Record<string, string> {
  const rbac = authorizerFor(role);
  const may = (verb: string, what: string) => rbac.authorize(jane, asked(verb, what, namespace)).allowed;
  const rows = resources.map((what) => [what, verbs.filter((verb) => may(verb, what)).join(' ')] as const);
  return Object.fromEntries(rows.filter(([, allowed]) => allowed !== ''));
}

/** What is served of these, and what is allowed of it. */
const each = (text: string, allowed: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(' ')
      .filter((what) => resources.includes(what))
      .map((what) => [what, allowed]),
  );

const viewed = {
  ...each('/configmaps /endpoints /persistentvolumeclaims /persistentvolumeclaims/status /pods /serviceaccounts /services /services/status', read),
  ...each('/replicationcontrollers /replicationcontrollers/scale /replicationcontrollers/status', read),
  ...each('/bindings /limitranges /namespaces /namespaces/status /pods/log /pods/status /resourcequotas /resourcequotas/status', read),
  ...each('/events events.k8s.io/events discovery.k8s.io/endpointslices', read),
  ...each('apps/controllerrevisions apps/daemonsets apps/daemonsets/status apps/deployments apps/deployments/scale apps/deployments/status', read),
  ...each('apps/replicasets apps/replicasets/scale apps/replicasets/status apps/statefulsets apps/statefulsets/scale apps/statefulsets/status', read),
  ...each('autoscaling/horizontalpodautoscalers autoscaling/horizontalpodautoscalers/status', read),
  ...each('batch/cronjobs batch/cronjobs/status batch/jobs batch/jobs/status policy/poddisruptionbudgets policy/poddisruptionbudgets/status', read),
  ...each('networking.k8s.io/ingresses networking.k8s.io/ingresses/status networking.k8s.io/networkpolicies', read),
  ...each('resource.k8s.io/resourceclaims resource.k8s.io/resourceclaims/status resource.k8s.io/resourceclaimtemplates', read),
  ...each('mooring.dev/explanations', 'get list'),
};

const edited = {
  ...viewed,
  ...each('/configmaps /persistentvolumeclaims /pods /secrets /services /services/proxy /events events.k8s.io/events', all),
  ...each('/pods/attach /pods/exec /pods/portforward /pods/proxy /replicationcontrollers /replicationcontrollers/scale', all),
  ...each('apps/daemonsets apps/deployments apps/deployments/scale apps/replicasets apps/replicasets/scale apps/statefulsets apps/statefulsets/scale', all),
  ...each('batch/cronjobs batch/jobs policy/poddisruptionbudgets coordination.k8s.io/leases autoscaling/horizontalpodautoscalers', all),
  ...each('networking.k8s.io/ingresses networking.k8s.io/networkpolicies', all),
  ...each('resource.k8s.io/resourceclaims resource.k8s.io/resourceclaimtemplates', all),
  ...each('/pods/eviction /serviceaccounts/token', 'create'),
  '/serviceaccounts': `${all} impersonate`,
};

const tellEvents = each('/events events.k8s.io/events', 'create update patch');
const reviewing = each('authentication.k8s.io/tokenreviews authorization.k8s.io/subjectaccessreviews', 'create');

const bundled: Readonly<Record<string, Record<string, string>>> = {
  view: viewed,
  edit: edited,
  admin: {
    ...edited,
    ...each('rbac.authorization.k8s.io/roles rbac.authorization.k8s.io/rolebindings', all),
    'authorization.k8s.io/localsubjectaccessreviews': 'create',
  },
  'cluster-admin': each(resources.join(' '), verbs.join(' ')),
  'system:basic-user': {
    ...each('authorization.k8s.io/selfsubjectaccessreviews authorization.k8s.io/selfsubjectrulesreviews', 'create'),
    'authentication.k8s.io/selfsubjectreviews': 'create',
  },
  // About paths that are no resource.
  ...Object.fromEntries(['discovery', 'public-info-viewer', 'service-account-issuer-discovery'].map((name) => [`system:${name}`, {}])),
  'system:auth-delegator': reviewing,
  'system:heapster': each('/events /namespaces /nodes /pods', read),
  'system:kube-aggregator': each('/endpoints /services', read),
  'system:kube-dns': each('/endpoints /services', 'list watch'),
  'system:monitoring': each('/nodes/metrics', 'get'),
  'system:kubelet-api-admin': { '/nodes': `${read} proxy`, ...each('/nodes/log /nodes/metrics /nodes/proxy /nodes/stats', verbs.join(' ')) },
  'system:kube-controller-manager': {
    ...each(resources.join(' '), 'list watch'),
    ...each('/configmaps /namespaces', read),
    ...each('/events events.k8s.io/events', 'list watch create update patch'),
    ...each('/secrets', `${read} create update delete`),
    ...each('/serviceaccounts', `${read} create update`),
    ...each('/serviceaccounts/token authentication.k8s.io/tokenreviews authorization.k8s.io/subjectaccessreviews', 'list watch create'),
    ...each('coordination.k8s.io/leases', 'list watch create'),
  },
  'system:kube-scheduler': {
    ...tellEvents,
    ...reviewing,
    ...each('/bindings /pods/binding coordination.k8s.io/leases', 'create'),
    ...each('/namespaces /nodes /persistentvolumeclaims /persistentvolumes /replicationcontrollers /services apps/replicasets apps/statefulsets', read),
    ...each('policy/poddisruptionbudgets storage.k8s.io/csidrivers storage.k8s.io/csinodes storage.k8s.io/csistoragecapacities', read),
    ...each('storage.k8s.io/volumeattachments resource.k8s.io/deviceclasses resource.k8s.io/resourceslices', read),
    ...each('resource.k8s.io/resourceclaims', `${read} create update patch delete`),
    ...each('resource.k8s.io/resourceclaims/status', `${read} update patch`),
    '/pods': `${read} delete`,
    '/pods/status': 'update patch',
  },
  'system:persistent-volume-provisioner': {
    '/persistentvolumes': `${read} create delete`,
    '/persistentvolumeclaims': `${read} update`,
    'storage.k8s.io/storageclasses': read,
    '/events': 'watch create update patch',
    'events.k8s.io/events': 'create update patch',
  },
  'system:volume-scheduler': {
    ...each('/persistentvolumes /persistentvolumeclaims', `${read} update patch`),
    'storage.k8s.io/storageclasses': read,
  },
  'system:node': {
    ...tellEvents,
    ...reviewing,
    ...each('authorization.k8s.io/localsubjectaccessreviews /pods/eviction /serviceaccounts/token', 'create'),
    ...each('/configmaps /secrets /services node.k8s.io/runtimeclasses storage.k8s.io/csidrivers', read),
    ...each('/endpoints /persistentvolumeclaims /persistentvolumes /serviceaccounts storage.k8s.io/volumeattachments', 'get'),
    ...each('/nodes', `${read} create update patch`),
    ...each('/nodes/status /pods/status', 'update patch'),
    ...each('/persistentvolumeclaims/status', 'get update patch'),
    ...each('/pods', `${read} create delete`),
    ...each('certificates.k8s.io/certificatesigningrequests', `${read} create`),
    ...each('coordination.k8s.io/leases storage.k8s.io/csinodes', 'get create update patch delete'),
    'resource.k8s.io/resourceclaims': 'get',
    'resource.k8s.io/resourceslices': 'deletecollection',
  },
  'system:node-bootstrapper': each('certificates.k8s.io/certificatesigningrequests', `${read} create`),
  'system:node-problem-detector': { ...tellEvents, '/nodes': 'get', '/nodes/status': 'patch' },
  'system:node-proxier': {
    ...tellEvents,
    ...each('/endpoints /services discovery.k8s.io/endpointslices networking.k8s.io/servicecidrs', 'list watch'),
    '/nodes': read,
  },
  'mooring:certificatesigningrequests:selfnodeserver': each('certificates.k8s.io/certificatesigningrequests/selfnodeserver', 'create'),
  ...Object.fromEntries(
    ['nodeclient', 'selfnodeclient'].map((part) => [
      `system:certificates.k8s.io:certificatesigningrequests:${part}`,
      each(`certificates.k8s.io/certificatesigningrequests/${part}`, 'create'),
    ]),
  ),
  // For one signer each, as the next test shows.
  ...Object.fromEntries(Object.keys(signerOf).map((role) => [`system:certificates.k8s.io:${role}`, {}])),
};

describe('in its namespace', () => {
  test.each(Object.entries(bundled))('%s may do this and nothing else', (role, expected) => {
    expect(allowedBy(role)).toEqual(expected);
  });
});

test('every role that is bundled is in the table, but for those that others are made of', () => {
  const whole = roles.map(({ metadata }) => metadata.name ?? '').filter((name) => !/^(system:controller:|(system|mooring):aggregate-to-)/.test(name));
  expect(whole.sort()).toEqual(Object.keys(bundled).sort());
});

test.each(Object.entries(signerOf))('%s approves for its signer, and signs for none', (role, signer) => {
  const rbac = authorizerFor(`system:certificates.k8s.io:${role}`);
  const may = (verb: string, name: string) => rbac.authorize(jane, asked(verb, 'certificates.k8s.io/signers', 'here', name)).allowed;
  expect(Object.values(signerOf).filter((name) => may('approve', name))).toEqual([signer]);
  expect(Object.values(signerOf).filter((name) => may('sign', name))).toEqual([]);
});

test('the certificate controller approves for nodes alone, and signs for the signers of the cluster', () => {
  const rbac = authorizerFor('system:controller:certificate-controller');
  const may = (verb: string) =>
    Object.values(signerOf).filter((name) => rbac.authorize(jane, asked(verb, 'certificates.k8s.io/signers', 'here', name)).allowed);
  expect(may('approve')).toEqual(['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving']);
  expect(may('sign')).toEqual(['kubernetes.io/kube-apiserver-client', 'kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving']);
});

test.each(roles.map((role) => role.metadata.name ?? ''))('%s is good for nothing in a namespace where it is not bound', (role) => {
  expect(allowedBy(role, 'elsewhere')).toEqual({});
});

test.each(Object.keys(controllerPolicy))('the role of %s does not let it grant roles, nor impersonate users', (name) => {
  const allowed = allowedBy(`system:controller:${name}`);
  const dangerous = Object.entries(allowed).filter(([, granted]) => /impersonate|bind|approve/.test(granted));
  expect(dangerous).toEqual([]);
});

test('the only subjects of default bindings are all users, administrators, and nodes with or without a certificate', () => {
  const bound = policy.clusterRoleBindings.filter(({ subjects = [] }) => subjects.some(({ kind }) => kind === 'Group'));
  expect(bound.map(({ roleRef, subjects }) => `${roleRef.name}: ${subjects?.map(({ name }) => name).join(' ')}`)).toEqual([
    'cluster-admin: system:masters',
    'system:monitoring: system:monitoring',
    'system:discovery: system:authenticated',
    'system:basic-user: system:authenticated',
    'system:public-info-viewer: system:authenticated system:unauthenticated',
    'system:service-account-issuer-discovery: system:serviceaccounts',
    'system:node-bootstrapper: system:bootstrappers',
    'system:certificates.k8s.io:certificatesigningrequests:nodeclient: system:bootstrappers',
    'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient: system:nodes',
    'mooring:certificatesigningrequests:selfnodeserver: system:nodes',
  ]);
});
