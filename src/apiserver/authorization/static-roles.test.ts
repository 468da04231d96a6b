import { describe, expect, test } from 'vitest';
import { type Method, methodOf, parseRequestInfo, requestPath } from '../../api/request-info.ts';
import type { Api } from '../api.ts';
import { authorizedApi } from './authorized-api.ts';
import type { Authorizer } from './authorizer.ts';
import { staticRoleAuthorizer } from './static-roles.ts';

const denyAll: Authorizer = { authorize: () => ({ allowed: false, reason: 'not allowed' }) };
const roles = new Map([
  ['clerk', [{ verbs: ['get', 'update'], group: '', resources: ['pods', 'pods/status'] }]],
  ['reader', [{ verbs: ['list', 'watch'], resources: 'all' as const }]],
]);
const asked: string[] = [];
const everything: Api = {
  handle: async ({ info }) => {
    asked.push(`${methodOf(info)} ${requestPath(info)}`);
    return { type: 'status', status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 200 }, warnings: [] };
  },
};
const api = authorizedApi(everything, staticRoleAuthorizer(roles, denyAll));

const ask = (name: string, method: Method, target: string) => {
  const [path = '', text = ''] = target.split('?');
  const query = new URLSearchParams(text);
  return api.handle({ info: parseRequestInfo(method, path, query), query, user: { name, groups: [] }, userAgent: '', body: { type: 'none' } });
};

describe('a role', () => {
  test.each([
    ['clerk', 'GET', '/api/v1/namespaces/a/pods/p'],
    ['clerk', 'PUT', '/api/v1/namespaces/a/pods/p/status'],
    ['reader', 'GET', '/apis/apps/v1/deployments'],
    ['reader', 'GET', '/api/v1/pods?watch=true'],
  ] as const)('allows %s to %s %s', async (name, method, target) => {
    await expect(ask(name, method, target)).resolves.toMatchObject({ type: 'status' });
    expect(asked.pop()).toBe(`${method} ${target.split('?')[0]}`);
  });

  test.each([
    ['another verb', 'clerk', 'DELETE', '/api/v1/namespaces/a/pods/p', 'User "clerk" cannot delete resource "pods" in API group "" in the namespace "a"'],
    ['all of them instead of one', 'clerk', 'GET', '/api/v1/pods', 'User "clerk" cannot list resource "pods" in API group "" at the cluster scope'],
    ['the same name in another group', 'clerk', 'GET', '/apis/metrics.k8s.io/v1/namespaces/a/pods/p', 'in API group "metrics.k8s.io"'],
    ['a part that is not named', 'clerk', 'PUT', '/api/v1/namespaces/a/pods/p/binding', 'cannot update resource "pods/binding"'],
    ['a part of everything', 'reader', 'GET', '/api/v1/namespaces/a/pods/p/log', 'cannot get resource "pods/log"'],
    ['what others may not either', 'guest', 'GET', '/api/v1/pods', 'not allowed'],
  ] as const)('does not allow %s', async (_, name, method, target, message) => {
    await expect(ask(name, method, target)).rejects.toMatchObject({ code: 403, reason: 'Forbidden', message: expect.stringContaining(message) });
    expect(asked).toEqual([]);
  });
});
