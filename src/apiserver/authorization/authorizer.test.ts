import { describe, expect, test } from 'vitest';
import type { RequestInfo } from '../../api/request-info.ts';
import { forbiddenError } from './authorizer.ts';
import { anonymous } from '../user.ts';

const resource = (fields: Partial<Extract<RequestInfo, { type: 'resource' }>>): RequestInfo => ({
  type: 'resource',
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: '',
  name: '',
  ...fields,
});
const path = (text: string, verb = 'get'): RequestInfo => ({ type: 'path', verb, path: text });

describe('a refusal, in the words of Kubernetes', () => {
  test.each<[RequestInfo, string, object]>([
    [path('/api'), 'forbidden: User "system:anonymous" cannot get path "/api"', {}],
    [path('/<b>'), 'forbidden: User "system:anonymous" cannot get path "/&lt;b&gt;"', {}],
    [
      resource({ namespace: 'default' }),
      'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
      { kind: 'pods' },
    ],
    [
      resource({ verb: 'update', group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'a', name: 'web' }),
      'deployments.apps "web" is forbidden: User "system:anonymous" cannot update resource "deployments/scale" in API group "apps" in the namespace "a"',
      { name: 'web', group: 'apps', kind: 'deployments' },
    ],
    [
      resource({ verb: 'get', resource: 'nodes', name: 'n1' }),
      'nodes "n1" is forbidden: User "system:anonymous" cannot get resource "nodes" in API group "" at the cluster scope',
      { name: 'n1', kind: 'nodes' },
    ],
  ])('%o', (info, message, details) => {
    const error = forbiddenError(anonymous, info, '');
    expect(error.toStatus()).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'Forbidden', details, code: 403 });
  });
});
