import { expect, test } from 'vitest';
import type { Attributes } from '../server/auth/authorizer.ts';
import { nodesByRole, nodeUser } from './node-roles.ts';

const nodes = nodesByRole({ authorize: () => ({ allowed: true }) });
const asked = (verb: string, what: string, name = '', namespace = ''): Attributes => {
  const [group = '', resource = '', subresource = ''] = what.split('/');
  return { type: 'resource', verb, group, version: 'v1', resource, subresource, name, namespace };
};
const may = (attributes: Attributes, user = nodeUser('node-1')) => nodes.authorize(user, attributes);

test.each<[string, Attributes]>([
  ['itself', asked('update', '/nodes', 'node-1')],
  ['its status', asked('update', '/nodes/status', 'node-1')],
  ['a node that has no name yet', asked('create', '/nodes')],
  ['its lease', asked('update', 'coordination.k8s.io/leases', 'node-1', 'kube-node-lease')],
  ['its CSINode', asked('update', 'storage.k8s.io/csinodes', 'node-1')],
  ['the status of a pod', asked('update', '/pods/status', 'web', 'default')],
])('a node may write %s', (_, attributes) => expect(may(attributes)).toEqual({ allowed: true }));

test.each<[string, Attributes]>([
  ['another node', asked('update', '/nodes', 'node-2')],
  ['the status of another', asked('update', '/nodes/status', 'node-2')],
  ['the lease of another', asked('update', 'coordination.k8s.io/leases', 'node-2', 'kube-node-lease')],
  ['a lease of its name elsewhere', asked('update', 'coordination.k8s.io/leases', 'node-1', 'kube-system')],
  ['the CSINode of another', asked('delete', 'storage.k8s.io/csinodes', 'node-2')],
  ['itself away', asked('delete', '/nodes', 'node-1')],
  ['pods', asked('update', '/pods', 'web', 'default')],
  ['secrets', asked('get', '/secrets', 'password', 'default')],
])('a node may not write %s', (_, attributes) => expect(may(attributes)).toMatchObject({ allowed: false }));

test('others are none of its business, not even those who only call themselves so', () => {
  const secret = asked('get', '/secrets', 'password', 'default');
  expect(may(secret, { name: 'jane', groups: ['system:authenticated'] })).toEqual({ allowed: true });
  expect(may(secret, { name: 'system:node:node-1', groups: ['system:authenticated'] })).toEqual({ allowed: true });
  expect(may({ type: 'path', verb: 'get', path: '/version' })).toEqual({ allowed: true });
});
