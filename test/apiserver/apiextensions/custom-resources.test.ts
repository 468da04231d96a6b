import { beforeAll, expect, test } from 'vitest';
import { parseRequestInfo } from '../../../src/api/request-info.ts';
import { loadCel } from '../../../src/api/cel/environment.ts';
import { ApiUnderTest } from '../api-under-test.ts';
import { simulate, type SimulatedWorld } from '../../../src/sim/world/world.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { replicas: { type: 'integer', maximum: 10, default: 1 }, color: { type: 'string' } } },
    status: { type: 'object', properties: { replicas: { type: 'integer' } } },
  },
};

function definition(plural = 'widgets', kind = 'Widget', more: object = {}): Record<string, unknown> {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {}, scale },
    selectableFields: [{ jsonPath: '.spec.color' }],
  };
  const older = {
    name: 'v1beta1',
    served: true,
    storage: false,
    deprecated: true,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  };
  const names = { plural, kind, shortNames: ['wd'] };
  return { metadata: { name: `${plural}.example.com` }, spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version, older], ...more } };
}

const widget = (name: string, spec: object = {}): object => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec });

// Loading takes real time, which the simulated clock does not show.
beforeAll(async () => {
  await loadCel();
});

/** On a server with the CustomResourceDefinition of widgets. */
const story = (name: string, body: (api: ApiUnderTest) => Promise<void>): void => test(name, () => simulate(1, async (world) => body(await defined(world))));

async function defined(world: SimulatedWorld): Promise<ApiUnderTest> {
  const api = new ApiUnderTest(world);
  await api.namespace('default');
  await api.create(definitions, definition());
  await settled(api, 'widgets');
  return api;
}

const soon = (api: ApiUnderTest): Promise<void> => new Promise((resolve) => void api.world.timers.after(1, resolve));

interface Status {
  readonly conditions: { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[] | null;
}

/** Lets the server's background work run. */
async function settled(api: ApiUnderTest, plural: string): Promise<Status> {
  for (let i = 0; i < 100; i++) {
    const { body } = await api.send('GET', `${definitions}/${plural}.example.com`);
    const { status } = body as unknown as { status: Status };
    if ((status.conditions ?? []).length > 0) return status;
    await soon(api);
  }
  throw new Error('the definition was never settled');
}

story('a definition is established, and then served', async (api) => {
  const status = await settled(api, 'widgets');
  expect(status.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual([
    ['NamesAccepted', 'True', 'NoConflicts', 'no conflicts found'],
    ['Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted'],
  ]);
  const served = api.api.customKinds().filter(({ group }) => group === 'example.com');
  expect(served.map(({ version }) => version)).toEqual(['v1', 'v1beta1']);
  expect(await api.send('GET', widgets)).toMatchObject({ code: 200 });
});

story('names that conflict are not accepted until they are free', async (api) => {
  await api.create(definitions, definition('gizmos', 'Gizmo'));
  expect((await settled(api, 'gizmos')).conditions?.map(({ reason, message }) => [reason, message])).toEqual([
    ['ShortNamesConflict', '"wd" is already in use'],
    ['NotAccepted', 'not all names are accepted'],
  ]);
  expect((await api.send('GET', '/apis/example.com/v1/gizmos')).code).toBe(404);
});

story('objects get defaults, are pruned, and are validated by the schema', async (api) => {
  const made = await api.create(widgets, widget('a', { color: 'red', foo: 1 }), 'fieldValidation=Warn');
  expect(made).toMatchObject({ code: 201, body: { spec: { color: 'red', replicas: 1 }, metadata: { generation: 1 } }, warnings: ['unknown field "spec.foo"'] });
  const strict = await api.create(widgets, widget('b', { foo: 1 }), 'fieldValidation=Strict');
  expect(strict).toMatchObject({
    code: 400,
    body: { message: 'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.foo"' },
  });
  const large = await api.create(widgets, widget('b', { replicas: 11 }));
  expect(large).toMatchObject({
    code: 422,
    body: { message: 'Widget.example.com "b" is invalid: spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10' },
  });
  expect(await api.create(widgets, { ...widget('b'), kind: 'Gadget' })).toMatchObject({ code: 422 });
  expect(await api.create(widgets, { ...widget('b'), apiVersion: 'example.com/v2' })).toMatchObject({
    code: 400,
    body: { message: 'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)' },
  });
});

story('versions show the same object', async (api) => {
  await api.create(widgets, widget('a'));
  const older = await api.send('GET', '/apis/example.com/v1beta1/namespaces/default/widgets/a');
  expect(older).toMatchObject({
    body: { apiVersion: 'example.com/v1beta1', kind: 'Widget', spec: { replicas: 1 } },
    warnings: ['example.com/v1beta1 Widget is deprecated'],
  });
});

story('status and scale are separate subresources; strategic merge patches are not supported', async (api) => {
  await api.create(widgets, { ...widget('a'), status: { replicas: 9 } });
  const patch = (path: string, body: unknown, contentType = 'application/merge-patch+json') => api.send('PATCH', `${widgets}/${path}`, { body, contentType });
  expect((await api.send('GET', `${widgets}/a`)).body).not.toHaveProperty('status');
  expect(await patch('a/status', { spec: { replicas: 5 }, status: { replicas: 2 }, metadata: { labels: { x: 'y' } } })).toMatchObject({
    body: { spec: { replicas: 1 }, status: { replicas: 2 }, metadata: { generation: 1 } },
  });
  expect((await api.send('GET', `${widgets}/a`)).body.metadata).not.toHaveProperty('labels');
  expect(await patch('a/scale', { spec: { replicas: 3 } })).toMatchObject({ body: { kind: 'Scale', spec: { replicas: 3 }, status: { replicas: 2 } } });
  expect(await patch('a', {}, 'application/strategic-merge-patch+json')).toMatchObject({ code: 415 });
});

story('a write of the status owns the fields of the status, and nothing else', async (api) => {
  await api.create(widgets, widget('a'));
  const body = { ...widget('a'), status: { replicas: 2 } };
  const applied = await api.send('PATCH', `${widgets}/a/status`, { body, contentType: 'application/apply-patch+yaml', query: 'fieldManager=applier' });
  const patched = await api.send('PATCH', `${widgets}/a/status`, {
    body: { spec: { color: 'red' }, status: { replicas: 3 } },
    contentType: 'application/merge-patch+json',
    query: 'fieldManager=patcher',
  });
  const owners = ({ body }: typeof applied) =>
    (body.metadata.managedFields ?? []).map(({ manager, subresource, fieldsV1 }: Record<string, unknown>) => [manager, subresource, fieldsV1]);
  expect(owners(applied)).toContainEqual(['applier', 'status', { 'f:status': { 'f:replicas': {} } }]);
  expect(owners(patched)).toContainEqual(['patcher', 'status', { 'f:status': { 'f:replicas': {} } }]);
  expect(owners(patched).flat()).not.toContain('applier');
});

story('selectable fields select', async (api) => {
  await api.create(widgets, widget('a', { color: 'red' }));
  await api.create(widgets, widget('b', { color: 'green' }));
  const names = async (query: string) =>
    ((await api.send('GET', widgets, { query })).body as unknown as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
  expect(await names('fieldSelector=spec.color=red')).toEqual(['a']);
  expect(await api.send('GET', widgets, { query: 'fieldSelector=spec.nope=red' })).toMatchObject({ code: 400 });
});

story('an update of the definition changes what is served at once', async (api) => {
  await api.create(widgets, widget('a', { color: 'red' }));
  const patch = [
    { op: 'remove', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color' },
    { op: 'remove', path: '/spec/versions/0/selectableFields' },
  ];
  expect(await api.send('PATCH', `${definitions}/widgets.example.com`, { body: patch, contentType: 'application/json-patch+json' })).toMatchObject({
    code: 200,
  });
  expect(await api.send('GET', `${widgets}/a`)).toMatchObject({ body: { spec: { replicas: 1 } } });
  expect((await api.send('GET', `${widgets}/a`)).body).not.toHaveProperty('spec.color');
});

story('a definition is removed after its objects', async (api) => {
  await api.create(widgets, { ...widget('a'), metadata: { name: 'a', finalizers: ['example.com/x'] } });
  await api.create(widgets, widget('b'));
  expect(await api.send('DELETE', `${definitions}/widgets.example.com`)).toMatchObject({
    body: {
      metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] },
      status: { conditions: [{}, {}, { type: 'Terminating', reason: 'InstanceDeletionPending' }] },
    },
  });
  const gone = async (path: string) => {
    for (let i = 0; i < 100; i++) {
      if ((await api.send('GET', path)).code === 404) return true;
      await soon(api);
    }
    return false;
  };
  expect(await gone(`${widgets}/b`)).toBe(true);
  expect(await api.create(widgets, widget('c'))).toMatchObject({ code: 405 });
  expect(await api.send('GET', `${definitions}/widgets.example.com`)).toMatchObject({ code: 200 });
  await api.send('PATCH', `${widgets}/a`, { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' });
  expect(await gone(`${definitions}/widgets.example.com`)).toBe(true);
  expect(await api.send('GET', widgets)).toMatchObject({ code: 404 });
});

test.each([
  [
    { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://example.com/convert' }, conversionReviewVersions: ['v1'] } } },
    'spec.conversion.strategy: Forbidden: webhooks that convert objects are not supported: with several versions the strategy must be None',
  ],
  [{ scope: 'Galaxy' }, 'spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'],
  [{ group: 'nodots' }, 'spec.group: Invalid value: "nodots": should be a domain with at least one dot'],
  [{ versions: [] }, 'must have exactly one version marked as storage version'],
  [{ names: { plural: 'Widgets', kind: 'Widget' } }, 'spec.names.plural: Invalid value: "Widgets"'],
  [{ preserveUnknownFields: true }, 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'],
])('%j is refused', async (more, expected) => {
  const { code, body } = await simulate(1, (world) =>
    new ApiUnderTest(world).send('POST', definitions, {
      body: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...definition('widgets', 'Widget', more) },
    }),
  );
  expect(code).toBe(422);
  expect((body as unknown as { message: string }).message).toContain(expected);
});

story('a restarted server serves the stored definitions', async ({ store, world }) => {
  const again = new ApiUnderTest(world, store);
  expect(await again.send('GET', widgets)).toMatchObject({ code: 200 });
});

/** Watches widgets. @returns the events, and 'end' */
async function follow({ api }: ApiUnderTest): Promise<string[]> {
  const query = new URLSearchParams('watch=1');
  const user = { name: 'test', groups: ['system:masters'] };
  const answer = await api.handle({ info: parseRequestInfo('GET', widgets, query), query, user, body: { type: 'none' }, userAgent: 'test' });
  if (answer.type !== 'watch') throw new Error('no watch');
  const told: string[] = [];
  answer.start({
    events: (events) => told.push(...events.map(({ type, stored }) => `${type} ${stored.object.metadata.name ?? ''}`)),
    end: () => told.push('end'),
  });
  return told;
}

const patchDefinition = (api: ApiUnderTest, body: object) =>
  api.send('PATCH', `${definitions}/widgets.example.com`, { body, contentType: 'application/merge-patch+json' });

story('a watch ends when the spec of its definition changes, not when other fields do', async (api) => {
  const told = await follow(api);
  await api.create(widgets, widget('a'));
  await patchDefinition(api, { metadata: { labels: { x: 'y' } } });
  await api.create(widgets, widget('b'));
  await soon(api);
  expect(told).toEqual(['ADDED a', 'ADDED b']);
  await patchDefinition(api, { spec: { names: { shortNames: ['wdg'] } } });
  await soon(api);
  expect(told).toEqual(['ADDED a', 'ADDED b', 'end']);
});

story('a watch gets the deletions of all objects of a deleted definition, and then ends', async (api) => {
  await api.create(widgets, widget('a'));
  const told = await follow(api);
  await api.send('DELETE', `${definitions}/widgets.example.com`);
  for (let i = 0; i < 100 && !told.includes('end'); i++) await soon(api);
  expect(told).toEqual(['ADDED a', 'DELETED a', 'end']);
});
