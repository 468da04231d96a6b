/** What nodes may do, after plugin/pkg/auth/authorizer/node of v1.36.4. */
import { describe, expect, test } from 'vitest';
import type { PersistentVolume, Pod } from '../../../api/generated/types.ts';
import type { RequestInfo } from '../../../api/request-info.ts';
import type { Authorizer } from '../authorizer.ts';
import { nodeUser } from '../../user.ts';
import { nodeAuthorizer } from './authorizer.ts';
import { NodeGraph } from './graph.ts';

const pod = (name: string, nodeName: string, spec: Partial<Pod['spec']> = {}, annotations: Record<string, string> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name, annotations },
  spec: { containers: [], nodeName, ...spec },
  status: {},
});
const volume = (name: string, spec: Partial<PersistentVolume['spec']>): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec,
  status: {},
});

const graph = new NodeGraph();
graph.putPod(
  pod('web', 'n1', {
    serviceAccountName: 'robot',
    imagePullSecrets: [{ name: 'pull' }],
    volumes: [
      { name: 'a', secret: { secretName: 'mounted' } },
      { name: 'b', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'scratch', ephemeral: {} },
    ],
    containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { configMapKeyRef: { name: 'settings', key: 'k' } } }], resources: {} }],
  }),
);
graph.putPod(pod('static', 'n1', { volumes: [{ name: 'a', secret: { secretName: 'stolen' } }] }, { 'kubernetes.io/config.mirror': 'x' }));
graph.putPod(pod('other', 'n2', { volumes: [{ name: 'a', secret: { secretName: 'theirs' } }] }));
graph.putVolume(
  volume('disk', {
    claimRef: { namespace: 'ns', name: 'data' },
    csi: {
      driver: 'd',
      volumeHandle: 'h',
      nodeStageSecretRef: { namespace: 'drivers', name: 'stage' },
      controllerPublishSecretRef: { namespace: 'drivers', name: 'controller' },
    },
  }),
);
graph.putVolume(volume('free', { csi: { driver: 'd', volumeHandle: 'h2' } }));
graph.putAttachment('att', 'n1');

const asked = (verb: string, what: string, at = '', fieldSelector?: string): RequestInfo => {
  const [group = '', resource = '', subresource = ''] = what.split('/');
  const [namespace = '', name = ''] = at.includes('/') ? at.split('/') : ['', at];
  return { type: 'resource', verb, group, version: 'v1', resource, subresource, namespace, name, ...(fieldSelector === undefined ? {} : { fieldSelector }) };
};
const denyAll: Authorizer = { authorize: () => ({ allowed: false, reason: '' }) };
const nodes = nodeAuthorizer({ current: async () => graph }, denyAll);
const may = (info: RequestInfo, node = 'n1') => nodes.authorize(nodeUser(node), info);

test.each<[string, RequestInfo]>([
  ['read itself', asked('get', '/nodes', 'n1')],
  ['watch itself', asked('watch', '/nodes', 'n1')],
  ['make itself', asked('create', '/nodes')],
  ['report about itself', asked('patch', '/nodes/status', 'n1')],
  ['list its pods', asked('list', '/pods', '', 'spec.nodeName=n1')],
  ['watch its pods among others', asked('watch', '/pods', '', 'status.phase!=Failed,spec.nodeName==n1')],
  ['read its pod', asked('get', '/pods', 'ns/web')],
  ['watch its pod', asked('watch', '/pods', 'ns/web')],
  ['report about pods', asked('update', '/pods/status', 'ns/web')],
  ['evict pods', asked('create', '/pods/eviction', 'ns/web')],
  ['delete pods', asked('delete', '/pods', 'ns/web')],
  ['read what its pods mount', asked('get', '/secrets', 'ns/mounted')],
  ['watch it', asked('watch', '/secrets', 'ns/mounted')],
  ['pull images', asked('get', '/secrets', 'ns/pull')],
  ['read environments', asked('get', '/configmaps', 'ns/settings')],
  ['read claims', asked('get', '/persistentvolumeclaims', 'ns/data')],
  ['read the claims that pods bring', asked('get', '/persistentvolumeclaims', 'ns/web-scratch')],
  ['report about claims', asked('patch', '/persistentvolumeclaims/status', 'ns/data')],
  ['read bound volumes', asked('get', '/persistentvolumes', 'disk')],
  ['read what it needs to mount them', asked('get', '/secrets', 'drivers/stage')],
  ['read its attachments', asked('get', 'storage.k8s.io/volumeattachments', 'att')],
  ['ask for tokens', asked('create', '/serviceaccounts/token', 'ns/robot')],
  ['read their accounts', asked('get', '/serviceaccounts', 'ns/robot')],
  ['renew its lease', asked('update', 'coordination.k8s.io/leases', 'kube-node-lease/n1')],
  ['make its lease', asked('create', 'coordination.k8s.io/leases', 'kube-node-lease/')],
  ['write its CSINode', asked('update', 'storage.k8s.io/csinodes', 'n1')],
  ['tell events', asked('create', '/events', 'ns/')],
  ['see services', asked('watch', '/services')],
  ['ask for certificates', asked('create', 'certificates.k8s.io/certificatesigningrequests')],
])('a node may %s', async (_, info) => expect(await may(info)).toEqual({ allowed: true }));

const unrelated = "no relationship found between node 'n1' and this object";

test.each<[string, RequestInfo, string]>([
  ['read others', asked('get', '/nodes', 'n2'), "node 'n1' cannot read 'n2', only its own Node object"],
  ['list nodes', asked('list', '/nodes'), "node 'n1' cannot read all nodes, only its own Node object"],
  ['delete itself', asked('delete', '/nodes', 'n1'), ''],
  ['list pods', asked('list', '/pods'), 'can only list/watch pods with spec.nodeName field selector'],
  ['list the pods of others', asked('list', '/pods', '', 'spec.nodeName=n2'), 'can only list/watch pods with spec.nodeName field selector'],
  ['list pods that are not its own', asked('list', '/pods', '', 'spec.nodeName!=n1'), 'can only list/watch pods with spec.nodeName field selector'],
  ['trick a selector', asked('list', '/pods', '', 'x=\\,spec.nodeName=n1'), 'can only list/watch pods with spec.nodeName field selector'],
  ['read pods of others', asked('get', '/pods', 'ns/other'), unrelated],
  ['change pods', asked('update', '/pods', 'ns/web'), ''],
  ['run commands in pods', asked('create', '/pods/exec', 'ns/web'), ''],
  ['delete all pods', asked('deletecollection', '/pods', 'ns/'), ''],
  ['read what others mount', asked('get', '/secrets', 'ns/theirs'), unrelated],
  ['read what it claims to mount', asked('get', '/secrets', 'ns/stolen'), unrelated],
  ['read the same of another namespace', asked('get', '/secrets', 'other/mounted'), unrelated],
  ['read what controllers need', asked('get', '/secrets', 'drivers/controller'), unrelated],
  ['list secrets', asked('list', '/secrets', 'ns/'), 'No Object name found'],
  ['list all secrets', asked('list', '/secrets'), 'can only read namespaced object of this type'],
  ['write secrets', asked('update', '/secrets', 'ns/mounted'), 'can only read resources of this type'],
  ['read other claims', asked('get', '/persistentvolumeclaims', 'ns/other'), unrelated],
  ['list claims', asked('list', '/persistentvolumeclaims', 'ns/'), 'can only get individual resources of this type'],
  ['change claims', asked('update', '/persistentvolumeclaims', 'ns/data'), 'can only get individual resources of this type'],
  ['read free volumes', asked('get', '/persistentvolumes', 'free'), unrelated],
  ['ask for tokens of others', asked('create', '/serviceaccounts/token', 'ns/other'), unrelated],
  ['make accounts', asked('create', '/serviceaccounts', 'ns/'), 'can only create tokens for individual service accounts'],
  [
    'renew the lease of another',
    asked('update', 'coordination.k8s.io/leases', 'kube-node-lease/n2'),
    'can only access node lease with the same name as the requesting node',
  ],
  ['renew other leases', asked('update', 'coordination.k8s.io/leases', 'kube-system/n1'), 'can only access leases in the "kube-node-lease" system namespace'],
  ['see all leases', asked('list', 'coordination.k8s.io/leases', 'kube-node-lease/'), 'can only get, create, update, patch, or delete a node lease'],
  ['write the CSINode of another', asked('delete', 'storage.k8s.io/csinodes', 'n2'), 'can only access CSINode with the same name as the requesting node'],
  ['approve certificates', asked('update', 'certificates.k8s.io/certificatesigningrequests/approval', 'x'), ''],
  ['give roles', asked('create', 'rbac.authorization.k8s.io/clusterrolebindings'), ''],
  ['act as others', asked('impersonate', '/users', 'admin'), ''],
])('a node may not %s', async (_, info, reason) => expect(await may(info)).toEqual({ allowed: false, reason }));

describe('others', () => {
  const all: Authorizer = { authorize: () => ({ allowed: true, reason: 'RBAC' }) };

  test('decide what a node may beyond that', async () => {
    const both = nodeAuthorizer({ current: () => graph }, all);
    expect(await both.authorize(nodeUser('n1'), asked('list', '/secrets'))).toEqual({ allowed: true, reason: 'RBAC' });
    const why = nodeAuthorizer({ current: () => graph }, { authorize: () => ({ allowed: false, reason: 'RBAC: no' }) });
    expect(await why.authorize(nodeUser('n1'), asked('get', '/secrets', 'ns/theirs'))).toEqual({ allowed: false, reason: `${unrelated}\nRBAC: no` });
  });

  test('decide about all who are no node, or do not say which', async () => {
    const secret = asked('get', '/secrets', 'ns/mounted');
    expect(await nodes.authorize({ name: 'jane', groups: [] }, secret)).toEqual({ allowed: false, reason: '' });
    expect(await nodes.authorize({ name: 'system:node:n1', groups: ['system:authenticated'] }, secret)).toEqual({ allowed: false, reason: '' });
    expect(await nodes.authorize({ name: 'n1', groups: ['system:nodes'] }, secret)).toEqual({ allowed: false, reason: '' });
    expect(await may(asked('get', '/nodes', 'n1'), '')).toEqual({ allowed: false, reason: 'unknown node for user "system:node:"' });
    expect(await may({ type: 'path', verb: 'get', path: '/version' })).toEqual({ allowed: false, reason: '' });
  });
});
