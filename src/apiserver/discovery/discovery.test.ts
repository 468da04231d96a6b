import { describe, expect, test } from 'vitest';
import type { Kind } from '../../api/kind.ts';
import { decodeProtobuf } from '../../api/protobuf/index.ts';
import type { PathAnswer, PathRequest } from './path-request.ts';
import type { PathOptions } from './paths.ts';
import { createPaths } from './paths.ts';

const kind = (fields: Partial<Kind>): Kind =>
  ({
    group: '',
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    singular: 'pod',
    shortNames: [],
    categories: [],
    namespaced: true,
    storage: { resource: 'pods' },
    verbs: ['get', 'list', 'watch', 'create'],
    ...fields,
  }) as unknown as Kind;

const pods = kind({ shortNames: ['po'], categories: ['all'], status: {} });
const events = kind({ kind: 'Event', plural: 'events', singular: 'event', storage: { resource: 'events' } });
const newEvents = kind({
  group: 'events.k8s.io',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  storage: { resource: 'events', convert: { fromStored: (object) => object, toStored: (object) => object } },
});
const deployments = kind({
  group: 'apps',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  storage: { resource: 'apps/deployments' },
  status: {},
  scale: {} as NonNullable<Kind['scale']>,
});
const own = kind({
  group: 'mooring.dev',
  kind: 'Intent',
  plural: 'intents',
  singular: 'intent',
  namespaced: false,
  storage: { resource: 'mooring.dev/intents' },
});

const options: PathOptions = {
  kinds: [own, newEvents, events, pods, deployments],
  version: '1.2.3',
  health: { live: [], ready: [] },
  serverAddress: () => '127.0.0.1:6443',
  metrics: () => Promise.resolve('x 1\n'),
  openApi: {
    v2Protobuf: () => Promise.resolve(Buffer.of(10, 3, 50, 46, 48)),
    v2: () => Promise.resolve({ swagger: '2.0' }),
    v3: (name) => Promise.resolve({ openapi: '3.0.0', name }),
    groupVersions: ['api/v1', 'apis/apps/v1'],
  },
  tokens: { issuer: 'https://issuer', keys: () => Promise.resolve({ keys: [] }) },
};
const paths = createPaths(options);

function ask(path: string, headers: Record<string, string> = {}): Promise<PathAnswer | undefined> {
  const [bare = '', query = ''] = path.split('?');
  const request: PathRequest = { path: bare, query: new URLSearchParams(query), header: (name) => headers[name] };
  return Promise.resolve(paths(request));
}

const textOf = (answer: PathAnswer | undefined): string => (answer?.body.type === 'whole' ? Buffer.from(answer.body.bytes).toString() : '');
const read = async (path: string, headers?: Record<string, string>): Promise<unknown> => JSON.parse(textOf(await ask(path, headers)));
const header = (answer: PathAnswer | undefined, name: string): string | undefined => {
  const at = answer?.headers.indexOf(name) ?? -1;
  return at < 0 ? undefined : answer?.headers[at + 1];
};

describe('plain discovery', () => {
  test('versions of the core group', async () => {
    expect(await read('/api')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    });
  });

  test('groups, in the order of Kubernetes, unknown ones last', async () => {
    const list = (await read('/apis')) as { kind: string; apiVersion: string; groups: { name: string }[] };
    expect(list).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
    expect(list.groups.map(({ name }) => name)).toEqual(['apps', 'events.k8s.io', 'mooring.dev']);
    const apps = { name: 'apps', versions: [{ groupVersion: 'apps/v1', version: 'v1' }], preferredVersion: { groupVersion: 'apps/v1', version: 'v1' } };
    expect(list.groups[0]).toEqual(apps);
    expect(await read('/apis/apps')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...apps });
    expect(await read('/apis/apps/')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...apps });
  });

  test('resources of the core group', async () => {
    const list = (await read('/api/v1')) as { resources: { name: string }[] };
    expect(Object.keys(list)).toEqual(['kind', 'groupVersion', 'resources']);
    expect(list.resources.map(({ name }) => name)).toEqual([
      'bindings',
      'events',
      'pods',
      'pods/attach',
      'pods/binding',
      'pods/eviction',
      'pods/exec',
      'pods/log',
      'pods/portforward',
      'pods/proxy',
      'pods/status',
    ]);
    expect(list.resources[2]).toEqual({
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['create', 'get', 'list', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
      storageVersionHash: 'xPOwRZ+Yhw8=',
    });
    expect(list.resources[5]).toEqual({
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
  });

  test('resources of another group; two views of the same objects share their hash', async () => {
    expect(await read('/apis/apps/v1')).toMatchObject({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'apps/v1',
      resources: [{ name: 'deployments' }, { name: 'deployments/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' }, { name: 'deployments/status' }],
    });
    expect(await read('/apis/events.k8s.io/v1')).toMatchObject({ resources: [{ storageVersionHash: 'r2yiGXH7wu8=' }] });
  });

  test.each(['/api/v2', '/api/v1/x', '/apis/apps/v2', '/apis/apps/v1/x/y'])('the API has no %s', async (path) => {
    expect(await ask(path)).toBe(undefined);
  });

  // kube-apiserver v1.36.4: what no group serves ends at http.NotFound.
  test.each(['/nowhere', '/apis/nope', '/apis/nope/v1', '/healthzz', '/openapi/v4', '/openapi/v3/apis/nope/v1', '/__proto__', '/constructor'])(
    'there is no page %s',
    async (path) => {
      const answer = await ask(path);
      expect(answer).toMatchObject({ code: 404 });
      expect(textOf(answer)).toBe('404 page not found\n');
      expect(header(answer, 'content-type')).toBe('text/plain; charset=utf-8');
      expect(header(answer, 'x-content-type-options')).toBe('nosniff');
    },
  );

  test.each(['/api', '/apis', '/apis/apps', '/api/v1', '/apis/apps/v1'])('%s says the same in protobuf as in JSON', async (path) => {
    const answer = await ask(path, { accept: 'application/vnd.kubernetes.protobuf, */*' });
    expect(header(answer, 'content-type')).toBe('application/vnd.kubernetes.protobuf');
    expect(decodeProtobuf(answer?.body.type === 'whole' ? answer.body.bytes : new Uint8Array())).toEqual(await read(path));
  });

  test('YAML if wanted, 406 if impossible', async () => {
    expect(header(await ask('/api', { accept: 'application/yaml' }), 'content-type')).toBe('application/yaml');
    await expect(ask('/api', { accept: 'image/png' })).rejects.toMatchObject({ code: 406 });
  });
});

describe('aggregated discovery', () => {
  const accept = (version: string): string => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

  test.each(['v2', 'v2beta1'])('%s, as kubectl asks for it', async (version) => {
    const asked = { accept: `${accept(version)},application/json` };
    const answer = await ask('/api', asked);
    expect(header(answer, 'content-type')).toBe(accept(version));
    expect(JSON.parse(textOf(answer))).toEqual({
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: [
        {
          metadata: {},
          versions: [
            {
              version: 'v1',
              resources: [
                {
                  resource: 'bindings',
                  responseKind: { group: '', version: '', kind: 'Binding' },
                  scope: 'Namespaced',
                  singularResource: 'binding',
                  verbs: ['create'],
                },
                expect.objectContaining({ resource: 'events' }),
                {
                  resource: 'pods',
                  responseKind: { group: '', version: '', kind: 'Pod' },
                  scope: 'Namespaced',
                  singularResource: 'pod',
                  verbs: ['create', 'get', 'list', 'watch'],
                  shortNames: ['po'],
                  categories: ['all'],
                  subresources: [
                    { subresource: 'attach', responseKind: { group: '', version: '', kind: 'PodAttachOptions' }, verbs: ['create', 'get'] },
                    { subresource: 'binding', responseKind: { group: '', version: '', kind: 'Binding' }, verbs: ['create'] },
                    { subresource: 'eviction', responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' }, verbs: ['create'] },
                    { subresource: 'exec', responseKind: { group: '', version: '', kind: 'PodExecOptions' }, verbs: ['create', 'get'] },
                    { subresource: 'log', responseKind: { group: '', version: '', kind: 'Pod' }, verbs: ['get'] },
                    { subresource: 'portforward', responseKind: { group: '', version: '', kind: 'PodPortForwardOptions' }, verbs: ['create', 'get'] },
                    {
                      subresource: 'proxy',
                      responseKind: { group: '', version: '', kind: 'PodProxyOptions' },
                      verbs: ['create', 'delete', 'get', 'patch', 'update'],
                    },
                    { subresource: 'status', responseKind: { group: '', version: '', kind: 'Pod' }, verbs: ['get', 'patch', 'update'] },
                  ],
                },
              ],
              freshness: 'Current',
            },
          ],
        },
      ],
    });
    expect(await read('/apis', asked)).toMatchObject({
      items: [{ metadata: { name: 'apps' } }, { metadata: { name: 'events.k8s.io' } }, { metadata: { name: 'mooring.dev' } }],
    });
  });

  test('is not sent again to who has it', async () => {
    const first = await ask('/apis', { accept: accept('v2') });
    const etag = header(first, 'etag') ?? '';
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    expect(header(first, 'cache-control')).toBe('public');
    expect(header(first, 'vary')).toBe('Accept');
    expect(await ask('/apis', { accept: accept('v2'), 'if-none-match': etag })).toMatchObject({ code: 304 });
    expect(await ask('/apis', { accept: accept('v2'), 'if-none-match': '"other"' })).toMatchObject({ code: 200 });
  });

  test('an unknown version falls back to the plain form', async () => {
    expect(await read('/apis', { accept: `${accept('v9')},application/json` })).toMatchObject({ kind: 'APIGroupList' });
  });
});

describe('other paths', () => {
  test('the version is that of Kubernetes, with ours behind it', async () => {
    expect(await read('/version')).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.4+mooring-1.2.3' });
  });

  test('metrics are ours and those of the process', async () => {
    const answer = await ask('/metrics');
    expect(header(answer, 'content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(textOf(answer)).toMatch(/^x 1\n# HELP process_cpu/);
  });

  test('the root lists them all', async () => {
    const { paths: listed } = (await read('/')) as { paths: string[] };
    expect(listed).toEqual([...listed].sort());
    expect(listed).toEqual(
      expect.arrayContaining(['/api', '/api/v1', '/apis/apps', '/apis/apps/v1', '/healthz/ping', '/metrics', '/openapi/v2', '/openid/v1/jwks', '/version']),
    );
    for (const path of listed) expect(await ask(path), path).toBeDefined();
  });

  test('OpenAPI documents are found by their hash', async () => {
    const { paths: index } = (await read('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> };
    expect(Object.keys(index)).toEqual(['api/v1', 'apis/apps/v1']);
    const url = index['apis/apps/v1']?.serverRelativeURL ?? '';
    const answer = await ask(url);
    expect(JSON.parse(textOf(answer))).toEqual({ openapi: '3.0.0', name: 'apis/apps/v1' });
    expect(header(answer, 'cache-control')).toBe('public, immutable');
    expect(await ask('/openapi/v3/apis/apps/v1', { 'if-none-match': header(answer, 'etag') ?? '' })).toMatchObject({ code: 304 });
    const moved = await ask('/openapi/v3/apis/apps/v1?hash=old');
    expect([moved?.code, header(moved, 'location')]).toEqual([301, url]);
    expect(await read('/openapi/v2')).toEqual({ swagger: '2.0' });
    const protobuf = { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' };
    expect(await ask('/openapi/v2', protobuf)).toMatchObject({ code: 200, body: { bytes: Buffer.of(10, 3, 50, 46, 48) } });
    await expect(ask('/openapi/v3/api/v1', protobuf)).rejects.toMatchObject({ code: 406 });
  });

  test('who issues tokens, and how to check them', async () => {
    expect(await read('/.well-known/openid-configuration')).toEqual({
      issuer: 'https://issuer',
      jwks_uri: 'https://issuer/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    expect(header(await ask('/openid/v1/jwks'), 'content-type')).toBe('application/jwk-set+json');
  });
});
