/** What each bundled role may do: every verb on every resource that is served, and nothing beyond. After Kubernetes 1.36. */
import { describe, expect, test } from 'vitest';
import type { ClusterRole } from '../../src/api/generated/types.ts';
import { rbacGroup } from '../../src/api/kinds/rbac/policy-rules.ts';
import { kubernetesKinds } from '../../src/api/kinds/index.ts';
import { controllerPolicy } from '../../src/main/controller-roles.ts';
import type { Attributes } from '../../src/server/auth/authorizer.ts';
import { RbacAuthorizer } from '../../src/server/auth/rbac/authorizer.ts';
import { defaultPolicy } from '../../src/server/auth/rbac/default-policy.ts';
import { discover } from '../../src/server/discovery/resources.ts';
import { decideAggregation } from '../../src/workloads/cluster-role-aggregation/decide.ts';

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate', 'escalate', 'bind', 'approve'];
const read = 'get list watch';
const write = 'create update patch delete deletecollection';
const all = `${read} ${write}`;

const policy = defaultPolicy(controllerPolicy);

/** As the controller leaves them, whatever it begins with. */
function aggregated(): readonly ClusterRole[] {
  let roles = policy.clusterRoles;
  for (let round = 0; round < 4; round++) {
    roles = roles.map((role) => decideAggregation({ role, roles }).actions[0]?.role ?? role);
  }
  return roles;
}

const roles = aggregated();

/** '/pods', '/pods/log', 'apps/deployments/scale': all that discovery shows, and a few parts that it does not (yet). */
const served = discover(kubernetesKinds).flatMap(({ group, resources }) =>
  resources.flatMap(({ name, subresources }) => [`${group}/${name}`, ...subresources.map((part) => `${group}/${name}/${part.name}`)]),
);
const resources = [...new Set([...served, '/pods/log', '/pods/exec', '/nodes/proxy', '/services/proxy', '/users', '/groups'])].sort();

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

const asked = (verb: string, what: string, namespace: string): Attributes => {
  const [group = '', resource = '', subresource = ''] = what.split('/');
  return { type: 'resource', verb, group, version: 'v1', resource, subresource, namespace, name: '' };
};

/** '/pods: get list': what the role allows in a namespace. */
function allowedBy(role: string, namespace = 'here'): Record<string, string> {
  const rbac = authorizerFor(role);
  const may = (verb: string, what: string) => rbac.authorize({ name: 'jane', groups: ['system:authenticated'] }, asked(verb, what, namespace)).allowed;
  const rows = resources.map((what) => [what, verbs.filter((verb) => may(verb, what)).join(' ')] as const);
  return Object.fromEntries(rows.filter(([, allowed]) => allowed !== ''));
}

const each = (text: string, allowed: string): Record<string, string> => Object.fromEntries(text.split(' ').map((what) => [what, allowed]));

const viewed = {
  ...each('/configmaps /endpoints /persistentvolumeclaims /persistentvolumeclaims/status /pods /serviceaccounts /services /services/status', read),
  ...each('/bindings /limitranges /namespaces /namespaces/status /pods/log /pods/status /resourcequotas /resourcequotas/status', read),
  ...each('/events events.k8s.io/events discovery.k8s.io/endpointslices', read),
  ...each('apps/controllerrevisions apps/daemonsets apps/daemonsets/status apps/deployments apps/deployments/scale apps/deployments/status', read),
  ...each('apps/replicasets apps/replicasets/scale apps/replicasets/status apps/statefulsets apps/statefulsets/scale apps/statefulsets/status', read),
  ...each('batch/cronjobs batch/cronjobs/status batch/jobs batch/jobs/status policy/poddisruptionbudgets policy/poddisruptionbudgets/status', read),
};

const edited = {
  ...viewed,
  ...each('/configmaps /persistentvolumeclaims /pods /pods/exec /secrets /services /services/proxy /events events.k8s.io/events', all),
  ...each('apps/daemonsets apps/deployments apps/deployments/scale apps/replicasets apps/replicasets/scale apps/statefulsets apps/statefulsets/scale', all),
  ...each('batch/cronjobs batch/jobs policy/poddisruptionbudgets coordination.k8s.io/leases', all),
  ...each('/pods/eviction /serviceaccounts/token', 'create'),
  '/serviceaccounts': `${all} impersonate`,
};

const people: Readonly<Record<string, Record<string, string>>> = {
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
  'system:discovery': {},
  'system:public-info-viewer': {},
  'system:auth-delegator': each('authentication.k8s.io/tokenreviews authorization.k8s.io/subjectaccessreviews', 'create'),
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
};

describe('in its namespace', () => {
  test.each(Object.entries(people))('%s may do this and nothing else', (role, expected) => {
    expect(allowedBy(role)).toEqual(expected);
  });
});

test.each(roles.map((role) => role.metadata.name ?? ''))('%s is good for nothing in a namespace where it is not bound', (role) => {
  expect(allowedBy(role, 'elsewhere')).toEqual({});
});

test.each(Object.keys(controllerPolicy))('the role of %s does not let it give roles to others, nor act as somebody else', (name) => {
  const allowed = allowedBy(`system:controller:${name}`);
  const dangerous = Object.entries(allowed).filter(([, granted]) => /impersonate|bind|approve/.test(granted));
  expect(dangerous).toEqual([]);
});

test('nobody is bound to anything but what everybody may ask, the administrators, and who becomes or is a node', () => {
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
  ]);
});
