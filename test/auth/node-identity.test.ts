/** What a node may do, by the roles of a new cluster and by what concerns it: every verb on every resource that is served. After Kubernetes 1.36. */
import { describe, expect, test } from 'vitest';
import type { PersistentVolume, Pod } from '../../src/api/generated/types.ts';
import { kubernetesKinds } from '../../src/api/kinds/index.ts';
import { controllerPolicy, controllerRoles, controllerAuthorizer } from '../../src/cluster/access/controller-roles.ts';
import { NodeGraph } from '../../src/apiserver/authorization/node/graph.ts';
import { RbacAuthorizer } from '../../src/apiserver/authorization/rbac/authorizer.ts';
import { defaultPolicy } from '../../src/apiserver/authorization/rbac/default-policy.ts';
import { nodeUser } from '../../src/apiserver/user.ts';
import { discover } from '../../src/apiserver/discovery/resources.ts';

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate', 'escalate', 'bind', 'approve', 'sign'];
const read = 'get list watch';

const resources = discover(kubernetesKinds).flatMap(({ group, resources: all }) =>
  all.flatMap(({ name, namespaced, subresources }) => [
    { what: `${group}/${name}`, namespaced },
    ...subresources.map((part) => ({ what: `${group}/${name}/${part.name}`, namespaced })),
  ]),
);

/** A pod on the node, all that it refers to, its volume and the attachment of that: everything is called 'mine'. */
const relations = new NodeGraph();
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'here', name: 'mine' },
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'mine',
    containers: [],
    volumes: [
      { name: 'a', secret: { secretName: 'mine' } },
      { name: 'b', configMap: { name: 'mine' } },
      { name: 'c', persistentVolumeClaim: { claimName: 'mine' } },
    ],
  },
  status: {},
};
const volume: PersistentVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'mine' },
  spec: { claimRef: { namespace: 'here', name: 'mine' } },
  status: {},
};
relations.putPod(pod);
relations.putVolume(volume);
relations.putAttachment('mine', 'n1');

const rbac = new RbacAuthorizer();
for (const objects of Object.values(defaultPolicy(controllerPolicy))) for (const object of objects) rbac.put(object);
const authorizer = controllerAuthorizer(rbac, controllerRoles, { current: () => relations });

/** '/pods: get list': what the node may do to objects of a name. */
async function allowedTo(name: string, namespace: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { what, namespaced } of resources) {
    const [group = '', resource = '', subresource = ''] = what.split('/');
    const allowed: string[] = [];
    for (const verb of verbs) {
      const asked = { type: 'resource', verb, group, version: 'v1', resource, subresource, namespace: namespaced ? namespace : '', name } as const;
      if ((await authorizer.authorize(nodeUser('n1'), asked)).allowed) allowed.push(verb);
    }
    if (allowed.length > 0) found[what] = allowed.join(' ');
  }
  return found;
}

const each = (text: string, allowed: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(' ')
      .filter((what) => resources.some((one) => one.what === what))
      .map((what) => [what, allowed]),
  );

/** In any namespace and under any name. Admission refuses objects of other nodes. */
const anywhere = {
  ...each('/events events.k8s.io/events', 'create update patch'),
  ...each('/services storage.k8s.io/csidrivers node.k8s.io/runtimeclasses', read),
  ...each('/endpoints', 'get'),
  ...each('authentication.k8s.io/tokenreviews authorization.k8s.io/subjectaccessreviews authorization.k8s.io/localsubjectaccessreviews', 'create'),
  ...each('authentication.k8s.io/selfsubjectreviews authorization.k8s.io/selfsubjectaccessreviews authorization.k8s.io/selfsubjectrulesreviews', 'create'),
  ...each('certificates.k8s.io/certificatesigningrequests', `${read} create`),
  ...each('/nodes', 'create update patch'),
  ...each('/nodes/status /pods/status', 'update patch'),
  ...each('/pods', 'create delete'),
  ...each('/pods/eviction', 'create'),
  ...each('storage.k8s.io/csinodes', 'create'),
};
const ofLeases = each('coordination.k8s.io/leases', 'create');

describe('a node may', () => {
  test('to what is called as others are, or has no name', async () => {
    expect(await allowedTo('other', 'here')).toEqual(anywhere);
    expect(await allowedTo('', 'here')).toEqual(anywhere);
    expect(await allowedTo('', '')).toEqual(anywhere);
  });

  test('to what bears its name, where nodes have their leases', async () => {
    expect(await allowedTo('n1', 'kube-node-lease')).toEqual({
      ...anywhere,
      ...each('/nodes', `${read} create update patch`),
      ...each('coordination.k8s.io/leases storage.k8s.io/csinodes', 'get create update patch delete'),
    });
    expect(await allowedTo('n2', 'kube-node-lease')).toEqual({ ...anywhere, ...ofLeases });
  });

  test('to what its pod refers to', async () => {
    expect(await allowedTo('mine', 'here')).toEqual({
      ...anywhere,
      ...each('/pods', `${read} create delete`),
      ...each('/secrets /configmaps', read),
      ...each('/persistentvolumeclaims /persistentvolumes /serviceaccounts storage.k8s.io/volumeattachments', 'get'),
      ...each('/persistentvolumeclaims/status', 'update patch'),
      ...each('/serviceaccounts/token', 'create'),
    });
  });

  test('to the same in another namespace: nothing but what is in none', async () => {
    expect(await allowedTo('mine', 'there')).toEqual({ ...anywhere, ...each('/persistentvolumes storage.k8s.io/volumeattachments', 'get') });
  });
});

test('a node without a certificate may request one, and read what all users may read', async () => {
  const bootstrapper = { name: 'system:bootstrap:x', groups: ['system:bootstrappers', 'system:authenticated'] };
  const found: string[] = [];
  for (const { what } of resources) {
    const [group = '', resource = '', subresource = ''] = what.split('/');
    for (const verb of verbs) {
      const asked = { type: 'resource', verb, group, version: 'v1', resource, subresource, namespace: 'here', name: 'x' } as const;
      if ((await authorizer.authorize(bootstrapper, asked)).allowed) found.push(`${verb} ${what}`);
    }
  }
  expect(found.sort()).toEqual([
    'create authentication.k8s.io/selfsubjectreviews',
    'create authorization.k8s.io/selfsubjectaccessreviews',
    'create authorization.k8s.io/selfsubjectrulesreviews',
    'create certificates.k8s.io/certificatesigningrequests',
    'get certificates.k8s.io/certificatesigningrequests',
    'list certificates.k8s.io/certificatesigningrequests',
    'watch certificates.k8s.io/certificatesigningrequests',
  ]);
});
