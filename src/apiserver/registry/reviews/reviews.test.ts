import { describe, expect, test } from 'vitest';
import { parseRequestInfo } from '../../../api/request-info.ts';
import { onApi } from '../../../../test/apiserver/api-under-test.ts';
import type { ApiRequest, ApiResponse, User } from '../../api.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { nodeUser } from '../../user.ts';
import type { CreateOnlyResource } from '../dispatch.ts';
import { createReviews } from './reviews.ts';

const jane: User = { name: 'jane', uid: '7', groups: ['ops'], extra: { scopes: ['a'] } };
/** Jane may do everything in her own namespace. */
const authorizer: Authorizer = {
  authorize: ({ name }, wanted) =>
    name === 'jane' && wanted.type === 'resource' && wanted.namespace === 'hers'
      ? { allowed: true, reason: 'RBAC: allowed by herself' }
      : { allowed: false, reason: '' },
};
const rules = [
  { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
  { verbs: ['get'], nonResourceURLs: ['/version'] },
];
const reviews = createReviews({
  access: { authorizer, rbac: { rulesFor: () => ({ rules, errors: ['a', 'b'] }), resolve: () => ({ found: false, error: '' }) } },
  tokens: { review: async (token, audiences) => (token === 'good' ? { user: jane, audiences: audiences.length === 0 ? ['api'] : audiences } : undefined) },
  world: { clock: { now: () => 0 } },
});

const request = (path: string, body: object, user: User = jane): ApiRequest => ({
  info: parseRequestInfo('POST', path, new URLSearchParams()),
  query: new URLSearchParams(),
  user,
  userAgent: '',
  body: { type: 'object', contentType: 'application/json', object: body },
});
const create = async (resources: readonly CreateOnlyResource[], asked: ApiRequest): Promise<ApiResponse> => {
  const { info } = asked;
  const resource = resources.find(({ kind }) => info.type === 'resource' && kind.group === info.group && kind.plural === info.resource);
  if (info.type !== 'resource' || resource === undefined) throw new Error('no review');
  return resource.create(asked, { namespace: info.namespace, warnings: new Set() });
};
const ask = async (path: string, body: object): Promise<unknown> => {
  const response = await create(reviews, request(path, body));
  if (response.type !== 'plain') throw new Error('no review');
  expect(response.code).toBe(201);
  return response.object;
};
const authorization = '/apis/authorization.k8s.io/v1';
const authentication = '/apis/authentication.k8s.io/v1';

describe('reviews', () => {
  test('SelfSubjectReview', async () => {
    expect(await ask(`${authentication}/selfsubjectreviews`, {})).toMatchObject({
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      status: { userInfo: { username: 'jane', uid: '7', groups: ['ops'], extra: { scopes: ['a'] } } },
    });
  });

  test('SelfSubjectAccessReview and SubjectAccessReview', async () => {
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'hers' };
    expect(await ask(`${authorization}/selfsubjectaccessreviews`, { spec: { resourceAttributes } })).toMatchObject({
      spec: { resourceAttributes },
      status: { allowed: true, reason: 'RBAC: allowed by herself' },
    });
    expect(await ask(`${authorization}/subjectaccessreviews`, { spec: { user: 'joe', resourceAttributes } })).toMatchObject({ status: { allowed: false } });
    const local = `${authorization}/namespaces/hers/localsubjectaccessreviews`;
    expect(await ask(local, { spec: { user: 'jane', resourceAttributes } })).toMatchObject({ metadata: { namespace: 'hers' }, status: { allowed: true } });
  });

  test('all rules at once', async () => {
    expect(await ask(`${authorization}/selfsubjectrulesreviews`, { spec: { namespace: 'hers' } })).toEqual({
      kind: 'SelfSubjectRulesReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {},
      status: { resourceRules: [rules[0]], nonResourceRules: [rules[1]], incomplete: false, evaluationError: '[a, b]' },
    });
  });

  test('the rules of a node are not all that it may', async () => {
    const path = `${authorization}/selfsubjectrulesreviews`;
    const response = await create(reviews, request(path, { spec: { namespace: 'hers' } }, nodeUser('n1')));
    expect(response).toMatchObject({
      object: { status: { incomplete: true, evaluationError: '[node authorizer does not support user rule resolution, a, b]' } },
    });
  });

  test.each([
    [{ rawSelector: 'spec.nodeName=n1' }, 'spec.nodeName=n1'],
    [{ requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] }, 'spec.nodeName=n1'],
    [{ requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1', 'n2'] }] }, undefined],
    [undefined, undefined],
  ])('the authorizer gets the field selector of a list: %j', async (fieldSelector, expected) => {
    const seen: unknown[] = [];
    const asking = createReviews({
      access: {
        authorizer: { authorize: (_, wanted) => (seen.push(wanted.type === 'resource' ? wanted.fieldSelector : 'path'), { allowed: true }) },
        rbac: { rulesFor: () => ({ rules: [], errors: [] }), resolve: () => ({ found: false, error: '' }) },
      },
      tokens: undefined,
      world: { clock: { now: () => 0 } },
    });
    const resourceAttributes = { verb: 'list', resource: 'pods', ...(fieldSelector === undefined ? {} : { fieldSelector }) };
    await create(asking, request(`${authorization}/selfsubjectaccessreviews`, { spec: { resourceAttributes } }));
    expect(seen).toEqual([expected]);
  });

  test('TokenReview', async () => {
    expect(await ask(`${authentication}/tokenreviews`, { spec: { token: 'good', audiences: ['x'] } })).toMatchObject({
      status: { authenticated: true, user: { username: 'jane', groups: ['ops', 'system:authenticated'] }, audiences: ['x'] },
    });
    expect(await ask(`${authentication}/tokenreviews`, { spec: { token: 'bad' } })).toMatchObject({ status: { user: {}, error: 'invalid bearer token' } });
  });

  test.each([
    [
      'about nothing',
      `${authorization}/selfsubjectaccessreviews`,
      { spec: {} },
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ],
    [
      'without a subject',
      `${authorization}/subjectaccessreviews`,
      { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } },
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
    [
      'about another namespace',
      `${authorization}/namespaces/hers/localsubjectaccessreviews`,
      { spec: { user: 'jane', resourceAttributes: { namespace: 'his' } } },
      'spec.resourceAttributes.namespace: Invalid value: "his": must match metadata.namespace',
    ],
    ['without a namespace', `${authorization}/selfsubjectrulesreviews`, { spec: {} }, 'no namespace on request'],
    ['without a token', `${authentication}/tokenreviews`, { spec: {} }, 'token is required for TokenReview in authentication'],
  ])('no question %s', async (_, path, body, message) => {
    await expect(ask(path, body)).rejects.toMatchObject({ message: expect.stringContaining(message) as string });
  });

  test(
    'are created only, each where it belongs',
    onApi(
      async (api) => {
        expect(await api.send('GET', `${authorization}/subjectaccessreviews`)).toMatchObject({ code: 405 });
        expect(await api.create(`${authorization}/localsubjectaccessreviews`, {})).toMatchObject({ code: 404 });
        expect(await api.create(`${authorization}/namespaces/hers/subjectaccessreviews`, {})).toMatchObject({ code: 404 });
        expect(await api.create(`${authorization}/subjectaccessreviews/x`, {})).toMatchObject({ code: 404 });
        expect(await api.create(`${authentication}/selfsubjectreviews`, {})).toMatchObject({ code: 201 });
      },
      1,
      { access: { authorizer, rbac: { rulesFor: () => ({ rules, errors: [] }), resolve: () => ({ found: false, error: '' }) } } },
    ),
  );
});
