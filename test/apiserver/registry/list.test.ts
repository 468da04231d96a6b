import { describe, expect, test } from 'vitest';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const names = (body: { items: { metadata: { name: string } }[] }) => body.items.map((item) => item.metadata.name);
const fill = async (api: ApiUnderTest, count: number) => {
  for (let i = 0; i < count; i++) await api.create(maps, { metadata: { name: `m${i}`, labels: { parity: i % 2 === 0 ? 'even' : 'odd' } } });
};

describe('reading one object', () => {
  test(
    'not older than a version that this server has seen; a version from the future is waited for, but not for ever',
    onApi(async (api) => {
      const { body } = await api.create(maps, { metadata: { name: 'a' } });
      const { resourceVersion } = body.metadata;
      for (const query of ['', 'resourceVersion=0', `resourceVersion=${resourceVersion}`])
        expect((await api.send('GET', `${maps}/a`, { query })).body).toEqual(body);
      const future = Number(resourceVersion) + 2;
      const began = api.world.clock.now();
      expect((await api.send('GET', `${maps}/a`, { query: `resourceVersion=${future}` })).body).toMatchObject({
        code: 504,
        reason: 'Timeout',
        message: `Timeout: Too large resource version: ${future}, current: ${resourceVersion}`,
        details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
      });
      expect(api.world.clock.now() - began).toBe(3000);
      const waiting = api.send('GET', `${maps}/a`, { query: `resourceVersion=${future}` });
      await api.create(maps, { metadata: { name: 'b' } });
      await api.create(maps, { metadata: { name: 'c' } });
      expect((await waiting).code).toBe(200);
      expect((await api.send('GET', `${maps}/a`, { query: 'resourceVersion=abc' })).code).toBe(400);
    }),
  );

  test(
    'what is not there is not found, and a path that is none says so',
    onApi(async (api) => {
      await api.send('GET', '/api/v1/configmaps');
      expect((await api.send('GET', `${maps}/nope`)).body).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: 'configmaps "nope" not found',
        details: { name: 'nope', kind: 'configmaps' },
      });
      for (const path of [
        '/api/v1/nonsense',
        '/api/v2/pods',
        '/apis/nope/v1/x',
        '/api/v1/configmaps/a',
        '/api/v1/namespaces/default/nodes',
        '/api/v1/nodes/a/nope',
        '/api',
        '/nope',
      ]) {
        expect((await api.send('GET', path)).body, path).toMatchObject({ code: 404, message: 'the server could not find the requested resource', details: {} });
      }
      for (const name of ['.', '..', 'a%2Fb', 'a%25'])
        expect((await api.send('GET', `${maps}/${name}`)).body, name).toMatchObject({ code: 400, reason: 'BadRequest' });
      expect((await api.send('GET', `${maps}/%ff`)).code).toBe(400);
      expect((await api.send('POST', `${maps}/a`)).body).toMatchObject({
        code: 405,
        message: 'the server does not allow this method on the requested resource',
      });
      expect((await api.send('PUT', maps)).code).toBe(405);
      expect((await api.send('POST', '/api/v1/configmaps', { body: {} })).code).toBe(405);
    }),
  );
});

describe('lists', () => {
  test(
    'pages are of one revision, whatever is written meanwhile',
    onApi(async (api) => {
      await fill(api, 7);
      const first = (await api.send('GET', maps, { query: 'limit=3' })).body;
      expect(names(first)).toEqual(['m0', 'm1', 'm2']);
      expect(first.metadata).toMatchObject({ remainingItemCount: 4, continue: expect.any(String) });
      await api.send('DELETE', `${maps}/m4`);
      await api.create(maps, { metadata: { name: 'm31' } });
      await api.send('PUT', `${maps}/m3`, { body: { metadata: { name: 'm3' }, data: { new: 'yes' } } });
      const second = (await api.send('GET', maps, { query: `limit=3&continue=${first.metadata.continue}` })).body;
      expect(names(second)).toEqual(['m3', 'm4', 'm5']);
      expect(second.items[0].data).toBeUndefined();
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      const third = (await api.send('GET', maps, { query: `limit=3&continue=${second.metadata.continue}` })).body;
      expect(names(third)).toEqual(['m6']);
      expect(third.metadata.continue).toBeUndefined();
      expect(names((await api.send('GET', maps)).body)).toEqual(['m0', 'm1', 'm2', 'm3', 'm31', 'm5', 'm6']);
    }),
  );

  test(
    'a page of a compacted revision is refused with a token for the current one',
    onApi(async (api) => {
      await fill(api, 4);
      const first = (await api.send('GET', maps, { query: 'limit=2' })).body;
      await api.create(maps, { metadata: { name: 'm9' } });
      await api.store.compact(api.store.revision());
      const expired = (await api.send('GET', maps, { query: `limit=2&continue=${first.metadata.continue}` })).body;
      expect(expired).toMatchObject({ code: 410, reason: 'Expired', metadata: { continue: expect.any(String) } });
      expect(expired.message).toMatch(/^The provided continue parameter is too old to display a consistent list result\. You can start a new list/);
      expect(names((await api.send('GET', maps, { query: `continue=${expired.metadata.continue}` })).body)).toEqual(['m2', 'm3', 'm9']);
      expect((await api.send('GET', maps, { query: 'resourceVersion=3&resourceVersionMatch=Exact' })).body).toMatchObject({
        code: 410,
        message: 'The resourceVersion for the provided list is too old.',
      });
    }),
  );

  test(
    'selectors filter across pages, and then remainingItemCount is absent',
    onApi(async (api) => {
      await fill(api, 25);
      const even = (await api.send('GET', maps, { query: 'labelSelector=parity=even&limit=10' })).body;
      expect(even.items).toHaveLength(10);
      expect(even.metadata.remainingItemCount).toBeUndefined();
      const rest = (await api.send('GET', maps, { query: `labelSelector=parity=even&limit=10&continue=${even.metadata.continue}` })).body;
      expect([...names(even), ...names(rest)]).toHaveLength(13);
      expect(names((await api.send('GET', maps, { query: 'fieldSelector=metadata.name=m7' })).body)).toEqual(['m7']);
      expect(names((await api.send('GET', '/api/v1/configmaps', { query: 'fieldSelector=metadata.name=m7,metadata.namespace=default' })).body)).toEqual(['m7']);
      expect(names((await api.send('GET', '/api/v1/configmaps', { query: 'fieldSelector=metadata.namespace=elsewhere' })).body)).toEqual([]);
      expect(names((await api.send('GET', maps, { query: 'fieldSelector=metadata.name!=m7&labelSelector=parity in (odd)&limit=500' })).body)).toHaveLength(11);
      expect((await api.send('GET', maps, { query: 'fieldSelector=spec.x=1' })).body).toMatchObject({
        code: 400,
        message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
      });
      expect((await api.send('GET', '/api/v1/pods', { query: 'fieldSelector=spec.x=1' })).body).toMatchObject({
        code: 400,
        message: 'field label not supported: spec.x',
      });
      expect((await api.send('GET', maps, { query: 'labelSelector=a b' })).body).toMatchObject({
        code: 400,
        message: "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
      });
    }),
  );

  test(
    'an exact version shows the past, any other at least that version',
    onApi(async (api) => {
      await fill(api, 2);
      const then = (await api.send('GET', maps)).body.metadata.resourceVersion;
      await fill(api, 4);
      const at = (query: string) => api.send('GET', maps, { query });
      expect(names((await at(`resourceVersion=${then}&resourceVersionMatch=Exact`)).body)).toEqual(['m0', 'm1']);
      expect(names((await at(`resourceVersion=${then}&limit=10`)).body)).toEqual(['m0', 'm1']);
      expect((await at(`resourceVersion=${then}&resourceVersionMatch=NotOlderThan&limit=10`)).body.items).toHaveLength(4);
      expect((await at(`resourceVersion=${then}`)).body.items).toHaveLength(4);
      expect((await at('resourceVersion=0')).body.items).toHaveLength(4);
      expect((await at('resourceVersion=999&resourceVersionMatch=Exact')).code).toBe(504);
    }),
  );

  test.each([
    [
      'resourceVersionMatch=Exact',
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      'resourceVersionMatch=Nearly&resourceVersion=1',
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Nearly": supported values: "Exact", "NotOlderThan", ""',
    ],
    ['sendInitialEvents=true', 'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
    [
      'watch=1&sendInitialEvents=true',
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ],
  ])('%s makes no sense', (query, message) =>
    onApi(async (api) => expect((await api.send('GET', maps, { query })).body).toMatchObject({ code: 422, message }))(),
  );

  test.each([
    ['limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['resourceVersion=x', 'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'],
    ['continue=***', 'invalid continue token: continue key is not valid: illegal base64 data'],
    [
      `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../../secrets/a"}').toString('base64url')}`,
      'invalid continue token: continue key is not valid: ../../secrets/a',
    ],
    [
      `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":"a"}').toString('base64url')}`,
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    [
      `continue=${Buffer.from('null').toString('base64url')}`,
      'invalid continue token: continue key is not valid: server does not recognize this encoded version undefined',
    ],
  ])('%s is refused', (query, message) => onApi(async (api) => expect((await api.send('GET', maps, { query })).body).toMatchObject({ code: 400, message }))());

  test(
    'every list is consistent during concurrent writes',
    onApi(async (api) => {
      // Two objects are written one after the other with the same value: no list shows the second ahead of the first.
      await fill(api, 2);
      const writer = (async () => {
        for (let i = 0; i < 50; i++)
          for (const name of ['m0', 'm1']) await api.send('PUT', `${maps}/${name}`, { body: { metadata: { name }, data: { i: String(i) } } });
      })();
      for (let i = 0; i < 40; i++) {
        const { body } = await api.send('GET', maps);
        const [first, second] = body.items.map((item: { data?: { i: string } }) => Number(item.data?.i ?? -1));
        expect(first - second === 0 || first - second === 1).toBe(true);
        for (const item of body.items) expect(Number(item.metadata.resourceVersion)).toBeLessThanOrEqual(Number(body.metadata.resourceVersion));
      }
      await writer;
    }),
  );
});
