import { expect, test } from 'vitest';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const maps = '/api/v1/namespaces/default/configmaps';
const rules = (...resources: string[]) => [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources }];

async function apply(api: ApiUnderTest, name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const whole = { matchConstraints: { resourceRules: rules('configmaps', 'pods') }, reinvocationPolicy: 'Never', ...spec };
  expect(await api.create(`${group}/mutatingadmissionpolicies`, { metadata: { name }, spec: whole })).toMatchObject({ code: 201 });
  const binding = { metadata: { name }, spec: { policyName: name } };
  expect(await api.create(`${group}/mutatingadmissionpolicybindings`, binding)).toMatchObject({ code: 201 });
}

const jsonPatch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const configuration = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const map = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data });

test(
  'policies change objects one after the other: by operations, and by what an object is to say',
  onApi(async (api) => {
    await apply(api, 'a', {
      variables: [{ name: 'who', expression: 'request.userInfo.username' }],
      mutations: [
        jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels", value: {"example.com/owner": variables.who}}]'),
        jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: object.metadata.labels["example.com/owner"] + "-2"}]'),
        jsonPatch('[JSONPatch{op: "test", path: "/data/x", value: "no"}, JSONPatch{op: "remove", path: "/data"}]'),
      ],
    });
    await apply(api, 'b', {
      matchConditions: [{ name: 'labelled', expression: "'a/b' in object.metadata.labels" }],
      mutations: [configuration('Object{metadata: Object.metadata{annotations: {"seen": "yes"}}, data: {"y": "2"}}')],
    });
    expect((await api.create(maps, map('m', { x: '1' }))).body).toMatchObject({
      metadata: { labels: { 'example.com/owner': 'tester', 'a/b': 'tester-2' }, annotations: { seen: 'yes' } },
      data: { x: '1', y: '2' },
    });
  }),
);

test(
  'what is applied to a list is merged by its keys',
  onApi(async (api) => {
    const sidecar = 'Object.spec.containers{name: "side", image: "i"}';
    await apply(api, 'sidecars', {
      mutations: [configuration(`Object{spec: Object.spec{containers: [${sidecar}, Object.spec.containers{name: "c", tty: true}]}}`)],
    });
    const { body } = await api.create('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'own' }] } });
    expect(body.spec.containers).toMatchObject([
      { name: 'side', image: 'i' },
      { name: 'c', image: 'own', tty: true },
    ]);
  }),
);

test(
  'a policy with reinvocationPolicy IfNeeded runs again, once',
  onApi(async (api) => {
    const count = jsonPatch('[JSONPatch{op: "add", path: "/data/n", value: string(int(object.data.n) + 1)}]');
    await apply(api, 'again', { mutations: [count], reinvocationPolicy: 'IfNeeded' });
    await apply(api, 'once', { mutations: [count] });
    expect((await api.create(maps, map('m', { n: '0' }))).body.data.n).toBe('3');
  }),
);

test(
  'a failed policy fails the request, unless failurePolicy is Ignore',
  onApi(async (api) => {
    const failure = async (name: string, mutation: object, failurePolicy = 'Fail') => {
      await apply(api, name, { mutations: [mutation], failurePolicy, matchConstraints: { resourceRules: rules('configmaps') } });
      const { body } = await api.create(maps, map('m', { x: '1' }), 'dryRun=All');
      await api.send('DELETE', `${group}/mutatingadmissionpolicies/${name}`);
      return [body.code, body.reason, body.message];
    };
    const by = (name: string) => `policy '${name}' with binding '${name}' denied request: `;
    const missing = 'Object{data: {"y": object.data.z}}';
    expect(await failure('closed', configuration(missing))).toEqual([
      403,
      'Invalid',
      `${by('closed')}expression '${missing}' resulted in error: no such key: z`,
    ]);
    expect(await failure('open', configuration(missing), 'Ignore')).toEqual([undefined, undefined, undefined]);
    expect(await failure('path', jsonPatch('[JSONPatch{op: "remove", path: "/data/q"}]'))).toEqual([
      403,
      'Invalid',
      `${by('path')}JSON Patch: Unable to remove nonexistent key: q: missing value`,
    ]);
    expect(await failure('whole', configuration('Object{metadata: Object.metadata{ownerReferences: []}}'))).toEqual([undefined, undefined, undefined]);
    const invalid = await failure('invalid', configuration('Object{data: {"not a key": ""}}'));
    expect(invalid.slice(0, 2)).toEqual([422, 'Invalid']);
  }),
);
