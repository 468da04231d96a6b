import { describe, expect, test } from 'vitest';
import { parseRequestInfo } from '../../../src/api/request-info.ts';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';
import type { Authorizer } from '../../../src/apiserver/authorization/authorizer.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const policies = `${group}/validatingadmissionpolicies`;
const bindings = `${group}/validatingadmissionpolicybindings`;
const maps = '/api/v1/namespaces/default/configmaps';
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';

type Spec = Readonly<Record<string, unknown>>;

const on = (resource: string, more: Spec = {}) => ({
  resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: [resource] }],
  ...more,
});

/** A policy and, under the same name, a binding. */
async function enforce(api: ApiUnderTest, name: string, { spec, binding = {} }: { spec: Spec; binding?: Spec }): Promise<void> {
  expect(await api.create(policies, { metadata: { name }, spec: { matchConstraints: on('configmaps'), ...spec } })).toMatchObject({ code: 201 });
  const bound = { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'], ...binding } };
  expect(await api.create(bindings, bound)).toMatchObject({ code: 201 });
}

const map = (name: string, data: Record<string, string> = {}, metadata: object = {}) => ({ metadata: { name, ...metadata }, data });

describe('a policy', () => {
  test(
    'refuses what its rules do not allow, in the words of v1.36.4, and nothing else',
    onApi(async (api) => {
      await enforce(api, 'short.example.com', { spec: { validations: [{ expression: 'size(object.data) <= 1' }] } });
      expect(await api.create(maps, map('fine', { a: '1' }))).toMatchObject({ code: 201 });
      const refused = await api.create(maps, map('long', { a: '1', b: '2' }));
      const text = "ValidatingAdmissionPolicy 'short.example.com' with binding 'short.example.com' denied request: failed expression: size(object.data) <= 1";
      expect(refused.body).toMatchObject({
        code: 422,
        reason: 'Invalid',
        message: `configmaps "long" is forbidden: ${text}`,
        details: { name: 'long', kind: 'configmaps', causes: [{ message: text }] },
      });
      const patch = { body: { data: { b: '2' } }, contentType: 'application/merge-patch+json' };
      expect(await api.send('PATCH', `${maps}/fine`, patch)).toMatchObject({ code: 422 });
      expect(await api.create('/api/v1/namespaces/default/secrets', { metadata: { name: 's' }, data: {} })).toMatchObject({ code: 201 });
      expect(await api.send('DELETE', `${maps}/fine`)).toMatchObject({ code: 200 });
    }),
  );

  test(
    'denies with its message, messageExpression and reason',
    onApi(async (api) => {
      const validations = [
        { expression: "!('a' in object.data)", message: ' no a \n', reason: 'Forbidden' },
        { expression: "!('b' in object.data)", messageExpression: "'b is ' + object.data.b", message: 'unused' },
        { expression: "!('c' in object.data)", messageExpression: "'c is ' + object.data.missing", message: 'plain' },
        { expression: "!('d' in object.data)", messageExpression: "'two\\nlines'", message: 'one line', reason: 'RequestEntityTooLarge' },
      ];
      await enforce(api, 'p', { spec: { validations } });
      const denied = async (data: Record<string, string>) => {
        const { body } = await api.create(maps, map('x', data));
        return [body.code, body.reason, body.message.split('denied request: ')[1]];
      };
      expect(await denied({ a: '1' })).toEqual([403, 'Forbidden', 'no a']);
      expect(await denied({ b: 'here' })).toEqual([422, 'Invalid', 'b is here']);
      expect(await denied({ c: '' })).toEqual([422, 'Invalid', 'plain']);
      expect(await denied({ d: '' })).toEqual([413, 'RequestEntityTooLarge', 'one line']);
    }),
  );

  test(
    'fails closed or open if an expression fails, by its failurePolicy',
    onApi(async (api) => {
      const validations = [{ expression: "object.data.kind == 'x'" }];
      await enforce(api, 'closed', { spec: { validations } });
      const failed = await api.create(maps, map('x'));
      expect(failed.body.message).toContain("denied request: expression 'object.data.kind == 'x'' resulted in error: no such key: data");
      await api.send('DELETE', `${policies}/closed`);
      await enforce(api, 'open', { spec: { validations, failurePolicy: 'Ignore' } });
      expect(await api.create(maps, map('x'))).toMatchObject({ code: 201 });
      expect(await api.create(maps, map('y', { kind: 'y' }))).toMatchObject({ code: 422 });
    }),
  );

  test(
    'warns with validationActions Warn',
    onApi(async (api) => {
      await enforce(api, 'p', { spec: { validations: [{ expression: 'false', message: 'careful' }] }, binding: { validationActions: ['Warn', 'Audit'] } });
      expect(await api.create(maps, map('x'))).toMatchObject({
        code: 201,
        warnings: ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': careful"],
      });
    }),
  );

  test(
    'does nothing without a binding, nor once either is gone',
    onApi(async (api) => {
      await api.create(policies, { metadata: { name: 'p' }, spec: { matchConstraints: on('configmaps'), validations: [{ expression: 'false' }] } });
      expect(await api.create(maps, map('a'))).toMatchObject({ code: 201 });
      await api.create(bindings, { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'] } });
      expect(await api.create(maps, map('b'))).toMatchObject({ code: 422 });
      await api.send('DELETE', `${bindings}/b`);
      expect(await api.create(maps, map('b'))).toMatchObject({ code: 201 });
    }),
  );

  test(
    'sees the request, the old object, the namespace, its variables, and what the user may do',
    onApi(async (api) => {
      await enforce(api, 'p', {
        spec: {
          variables: [
            { name: 'allowed', expression: "object.data.allowed.split(',')" },
            { name: 'unused', expression: 'object.nothing.like.it' },
            { name: 'known', expression: 'request.operation in variables.allowed' },
          ],
          validations: [
            { expression: 'variables.known', messageExpression: "request.operation + ' by ' + request.userInfo.username + ' in ' + request.namespace" },
            { expression: 'oldObject == null || oldObject.data.fixed == object.data.fixed', message: 'fixed' },
            { expression: "namespaceObject.metadata.name == 'default' && request.resource.resource == 'configmaps' && !request.dryRun", message: 'place' },
            { expression: "authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()", message: 'access' },
            { expression: "authorizer.requestResource.check('update').allowed() && authorizer.path('/x').check('get').allowed()", message: 'more access' },
          ],
        },
      });
      expect((await api.create(maps, map('x', { allowed: 'UPDATE', fixed: '' }))).body.message).toContain('denied request: CREATE by tester in default');
      expect(await api.create(maps, map('x', { allowed: 'CREATE,UPDATE', fixed: '1' }))).toMatchObject({ code: 201 });
      const change = (data: object) => api.send('PATCH', `${maps}/x`, { body: { data }, contentType: 'application/merge-patch+json' });
      expect((await change({ fixed: '2' })).body.message).toContain('denied request: fixed');
      expect(await change({ other: '2' })).toMatchObject({ code: 200 });
    }),
  );

  test(
    'matches by conditions and selectors',
    onApi(async (api) => {
      await api.create('/api/v1/namespaces', { metadata: { name: 'strict', labels: { policy: 'strict' } } });
      await enforce(api, 'p', {
        spec: {
          matchConstraints: on('configmaps', {
            objectSelector: { matchLabels: { checked: 'yes' } },
            excludeResourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'], resourceNames: ['spared'] }],
          }),
          matchConditions: [{ name: 'not-exempt', expression: "!has(object.metadata.annotations) || !('exempt' in object.metadata.annotations)" }],
          validations: [{ expression: 'false' }],
        },
        binding: { matchResources: { namespaceSelector: { matchLabels: { policy: 'strict' } } } },
      });
      const strict = '/api/v1/namespaces/strict/configmaps';
      const checked = { labels: { checked: 'yes' } };
      expect(await api.create(strict, map('a', {}, checked))).toMatchObject({ code: 422 });
      expect(await api.create(strict, map('a'))).toMatchObject({ code: 201 });
      expect(await api.create(maps, map('a', {}, checked))).toMatchObject({ code: 201 });
      expect(await api.create(strict, map('spared', {}, checked))).toMatchObject({ code: 201 });
      expect(await api.create(strict, map('b', {}, { ...checked, annotations: { exempt: '' } }))).toMatchObject({ code: 201 });
      // Taking the label away is a change of an object that has it.
      const unlabel = { body: { metadata: { labels: null } }, contentType: 'application/merge-patch+json' };
      expect(await api.send('PATCH', `${strict}/spared`, unlabel)).toMatchObject({ code: 200 });
    }),
  );

  test(
    'is applied with each of its parameters',
    onApi(async (api) => {
      const spec = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'size(object.data) <= int(params.data.max)' }] };
      const limit = (name: string, max: string) => api.create('/api/v1/namespaces/limits/configmaps', map(name, { max }, { labels: { limit: 'yes' } }));
      await api.namespace('limits');
      const ref = { namespace: 'limits', selector: { matchLabels: { limit: 'yes' } }, parameterNotFoundAction: 'Deny' };
      const matchConstraints = on('configmaps', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } });
      await enforce(api, 'p', { spec: { ...spec, matchConstraints }, binding: { paramRef: ref } });
      expect((await api.create(maps, map('x'))).body.message).toContain(
        "with binding 'p' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
      );
      await limit('large', '2');
      expect(await api.create(maps, map('x', { a: '', b: '' }))).toMatchObject({ code: 201 });
      await limit('small', '1');
      expect(await api.create(maps, map('y', { a: '', b: '' }))).toMatchObject({ code: 422 });
      expect(await api.create(maps, map('y', { a: '' }))).toMatchObject({ code: 201 });
    }),
  );

  test(
    'with an unknown paramKind is reported',
    onApi(async (api) => {
      const paramKind = { apiVersion: 'rules.example.com/v1', kind: 'Limit' };
      await enforce(api, 'p', {
        spec: { paramKind, validations: [{ expression: 'params == null' }] },
        binding: { paramRef: { name: 'x', parameterNotFoundAction: 'Allow' } },
      });
      expect((await api.create(maps, map('x'))).body.message).toBe(
        'configmaps "x" is forbidden: ValidatingAdmissionPolicy \'p\' denied request: failed to configure policy: ' +
          "failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'",
      );
    }),
  );

  test(
    'has no say in who has a say',
    onApi(async (api) => {
      const all = { resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }] };
      await enforce(api, 'no', { spec: { matchConstraints: all, validations: [{ expression: 'false' }] } });
      expect(await api.create(maps, map('x'))).toMatchObject({ code: 422 });
      expect(await api.send('DELETE', `${policies}/no`)).toMatchObject({ code: 200 });
      expect(await api.create(maps, map('x'))).toMatchObject({ code: 201 });
    }),
  );

  test(
    'judges deletions by what is there, and a dry run as what it is',
    onApi(async (api) => {
      const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }];
      const expression = "object == null && oldObject.metadata.name != 'kept' && (request.dryRun || request.options.kind == 'DeleteOptions')";
      await enforce(api, 'p', { spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression }] } });
      for (const name of ['kept', 'other']) await api.create(maps, map(name));
      expect(await api.send('DELETE', `${maps}/kept`)).toMatchObject({ code: 422 });
      expect(await api.send('DELETE', `${maps}/other`, { query: 'dryRun=All' })).toMatchObject({ code: 200 });
      expect(await api.send('DELETE', `${maps}/other`)).toMatchObject({ code: 200 });
    }),
  );
});

test(
  'objects of custom kinds pass by policies like all others, in whatever version they are written',
  onApi(async (api) => {
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { driver: { type: 'string' } } } } } };
    const definition = {
      metadata: { name: 'snapshotclasses.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'snapshotclasses', kind: 'SnapshotClass' },
        versions: ['v1', 'v1beta1'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
      },
    };
    await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    await api.world.sleep(1_000);
    const rule = { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['snapshotclasses'] };
    const expression = "object.apiVersion == 'example.com/v1' && has(object.spec.driver) && (oldObject == null || oldObject.spec.driver == object.spec.driver)";
    await enforce(api, 'p', { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression, message: 'driver' }] } });
    const write = (version: string, name: string, spec: object) =>
      api.create(`/apis/example.com/${version}/snapshotclasses`, { apiVersion: `example.com/${version}`, kind: 'SnapshotClass', metadata: { name }, spec });
    expect(await write('v1', 'a', { driver: 'x' })).toMatchObject({ code: 201 });
    expect(await write('v1beta1', 'b', { driver: 'x' })).toMatchObject({ code: 201 });
    expect(await write('v1beta1', 'c', {})).toMatchObject({ code: 422 });
    const change = { body: { spec: { driver: 'y' } }, contentType: 'application/merge-patch+json' };
    expect(await api.send('PATCH', '/apis/example.com/v1beta1/snapshotclasses/b', change)).toMatchObject({ code: 422 });
  }),
);

test(
  'a policy about claims lets their binding pass, status and all',
  onApi(async (api) => {
    const expression = "object.spec.resources.requests.storage in ['1Gi', '2Gi']";
    await enforce(api, 'sizes', { spec: { matchConstraints: on('persistentvolumeclaims'), validations: [{ expression }] } });
    const claim = (name: string, storage: string) => ({ metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } });
    expect(await api.create(claims, claim('a', '1Gi'))).toMatchObject({ code: 201 });
    expect(await api.create(claims, claim('b', '3Gi'))).toMatchObject({ code: 422 });
    const status = { body: { status: { phase: 'Lost' } }, contentType: 'application/merge-patch+json' };
    expect(await api.send('PATCH', `${claims}/a/status`, status)).toMatchObject({ code: 200 });
  }),
);

describe('parameters', () => {
  const createOnly: Authorizer = { authorize: (_, attributes) => ({ allowed: attributes.verb === 'create', reason: '' }) };
  const access = { access: { authorizer: createOnly, rbac: { rulesFor: () => ({ rules: [], errors: [] }), resolve: () => ({ found: false }) as never } } };
  const jane = { name: 'jane', groups: ['people'] };
  const paramKind = { apiVersion: 'v1', kind: 'Secret' };
  const post = (api: ApiUnderTest, path: string, object: object) =>
    api.api.handle({
      info: parseRequestInfo('POST', path, new URLSearchParams()),
      query: new URLSearchParams(),
      user: jane,
      userAgent: 'test',
      body: { type: 'object', contentType: 'application/json', object },
    });

  test(
    'are not shown, by way of a policy, to those who may not see them',
    onApi(
      async (api) => {
        const spec = { matchConstraints: on('configmaps'), paramKind, validations: [{ expression: 'params == null' }] };
        await expect(post(api, policies, { metadata: { name: 'p' }, spec })).rejects.toThrow(
          'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user &{jane  [people] map[]} ' +
            'must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)',
        );
        expect(await api.create(policies, { metadata: { name: 'p' }, spec })).toMatchObject({ code: 201 });
        const paramRef = { name: 's', namespace: 'default', parameterNotFoundAction: 'Deny' };
        const binding = { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'], paramRef } };
        await expect(post(api, bindings, binding)).rejects.toThrow(
          'spec.paramRef: Forbidden: user &{jane  [people] map[]} does not have "get" permission on the object referenced by paramRef',
        );
        await expect(post(api, bindings, { ...binding, spec: { ...binding.spec, policyName: 'q' } })).rejects.toThrow(
          'unable to get policy q to determine minimum required permissions',
        );
      },
      1,
      access,
    ),
  );
});
