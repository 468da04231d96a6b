import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statusErrors } from '../../src/api/status.ts';
import { credentials, json, type Reply, type Send, send, sendHttp2, until } from './client.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

const collection = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, data: Record<string, string> = { k: 'v' }): string =>
  JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data });

let wire: WireServer;
beforeAll(async () => {
  wire = await startWireServer();
});
afterAll(() => wire.server.stop());

describe.each<[string, (wire: WireServer, path: string, options?: Send) => Promise<Reply>]>([
  ['HTTP/1.1', send],
  ['HTTP/2', sendHttp2],
])('requests over %s', (protocol, request) => {
  const name = `map-${protocol.at(-1)}`;

  test('create, get, list, delete', async () => {
    const own = `/api/v1/namespaces/${name}/configmaps`;
    const created = await request(wire, own, { method: 'POST', headers: { 'content-type': 'application/json' }, body: configMap(name) });
    expect(created.code).toBe(201);
    expect(created.headers['content-type']).toBe('application/json');
    expect(created.headers['cache-control']).toBe('no-cache, private');
    expect(created.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.headers['content-length']).toBe(String(Buffer.byteLength(created.text)));
    expect(created.text.endsWith('}\n')).toBe(true);

    const got = await request(wire, `${own}/${name}`);
    expect(got.text).toBe(created.text);

    const listed = json(await request(wire, own));
    expect(listed['kind']).toBe('ConfigMapList');
    expect(listed['items']).toEqual([{ metadata: expect.objectContaining({ name }) as object, data: { k: 'v' } }]);

    expect(json(await request(wire, `${own}/${name}`, { method: 'DELETE' }))).toMatchObject({ status: 'Success' });
    expect(await request(wire, `${own}/${name}`)).toMatchObject({ code: 404 });
  });

  test('a long list arrives whole', async () => {
    for (let i = 0; i < 300; i++) wire.api.put('long', `m-${i}`, { text: 'x'.repeat(5_000) });
    const reply = await request(wire, '/api/v1/namespaces/long/configmaps');
    expect((json(reply)['items'] as unknown[]).length).toBe(300);
    expect(reply.headers['content-length']).toBe(String(Buffer.byteLength(reply.text)));
  });

  test('the API is told what was asked, and by whom', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8', 'user-agent': 'me/1', 'mooring-fence': 'kube-system/leader;epoch=7' };
    await request(wire, `${collection}?dryRun=All&x=%C3%BC`, { method: 'POST', headers, body: configMap('told') });
    const seen = wire.api.requests.at(-1);
    expect(seen).toMatchObject({
      info: { verb: 'create', namespace: 'default', resource: 'configmaps' },
      user: { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      userAgent: 'me/1',
      fence: { lease: 'kube-system/leader', epoch: 7 },
      body: { type: 'bytes', contentType: 'application/json' },
    });
    expect([...(seen?.query ?? [])]).toEqual([
      ['dryRun', 'All'],
      ['x', 'ü'],
    ]);
  });

  test.each<[string, string, Send, number, string]>([
    ['a resource that is none', '/api/v1/chairs', {}, 404, 'the server could not find the requested resource'],
    ['a version that is none', '/api/v7', {}, 404, 'the server could not find the requested resource'],
    ['OPTIONS', collection, { method: 'OPTIONS' }, 405, 'the server does not allow this method on the requested resource'],
    ['an unknown method', collection, { method: 'PURGE' }, 405, 'the server does not allow this method on the requested resource'],
    ['POST to a path', '/version', { method: 'POST' }, 405, 'the server does not allow this method on the requested resource'],
    [
      'a compressed body',
      collection,
      { method: 'POST', headers: { 'content-encoding': 'br' }, body: 'x' },
      415,
      'the body of the request is compressed (br): send it without content-encoding',
    ],
    ['a broken escape', '/api/v1/namespaces/%zz/configmaps', {}, 400, 'invalid URL escape in "%zz"'],
    ['a broken timeout', `${collection}?timeout=soon`, {}, 400, 'invalid timeout specified in the request URL - time: invalid duration "soon"'],
    [
      'a broken fence',
      collection,
      { method: 'POST', headers: { 'mooring-fence': 'x' }, body: '{}' },
      400,
      'invalid mooring-fence header: must be <namespace>/<lease>;epoch=<number>',
    ],
    [
      'acting as a group without a user',
      collection,
      { headers: { 'impersonate-group': 'ops' } },
      400,
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"ops"}, Extra:map[string][]string(nil)} without impersonating a user name',
    ],
    [
      'impersonating no user',
      collection,
      { headers: { 'impersonate-user': 'system:anonymous' } },
      403,
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
    ],
    ['an Accept header that cannot be met', collection, { headers: { accept: 'image/png' } }, 406, expect.stringContaining('406: Not Acceptable') as string],
    ['a wrong token', '/version', { as: 'anonymous', headers: { authorization: 'Bearer bad' } }, 401, 'Unauthorized'],
    ['an anonymous user', '/api', { as: 'anonymous' }, 403, 'forbidden: User "system:anonymous" cannot get path "/api"'],
    [
      'an anonymous user, for a resource',
      collection,
      { as: 'anonymous' },
      403,
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
    ],
  ])('%s is answered with a Status', async (_case, path, options, code, message) => {
    const reply = await request(wire, path, options);
    expect(reply.code).toBe(code);
    expect(json(reply)).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code });
    expect(reply.headers['audit-id']).toBeDefined();
  });

  test('a path that is none is no page', async () => {
    const reply = await request(wire, '/nowhere');
    expect(reply).toMatchObject({ code: 404, text: '404 page not found\n', headers: { 'content-type': 'text/plain; charset=utf-8' } });
    expect(reply.headers['audit-id']).toBeDefined();
    expect(await request(wire, '/nowhere', { as: 'anonymous' })).toMatchObject({ code: 403 });
  });

  test('HEAD has no body', async () => {
    expect(await request(wire, '/healthz', { method: 'HEAD' })).toMatchObject({ code: 200, text: '' });
    expect(await request(wire, collection, { method: 'HEAD' })).toMatchObject({ code: 405, text: '' });
  });

  test('anonymous users may read health and version', async () => {
    expect(await request(wire, '/readyz', { as: 'anonymous' })).toMatchObject({ code: 200, text: 'ok' });
    expect(json(await request(wire, '/version', { as: 'anonymous' }))).toMatchObject({ major: '1', minor: '36' });
  });

  test('a token is as good as a certificate', async () => {
    expect(await request(wire, collection, { as: 'anonymous', headers: { authorization: 'Bearer good' } })).toMatchObject({ code: 200 });
  });

  test('warnings go into headers, and the id of the client is kept', async () => {
    const body = configMap('warned', { warn: 'spec.x: "ü" is old' });
    const reply = await request(wire, collection, { method: 'POST', headers: { 'audit-id': 'mine' }, body });
    expect(reply.headers['audit-id']).toBe('mine');
    const warning = reply.headers['warning'];
    expect(Buffer.from(String(warning), 'latin1').toString()).toBe('299 - "spec.x: \\"ü\\" is old"');
  });

  test('curl gets JSON that people can read, unless it says otherwise', async () => {
    const headers = { 'user-agent': 'curl/8' };
    expect((await request(wire, collection, { headers })).text).toMatch(/^\{\n {2}"kind": "ConfigMapList",\n/);
    expect((await request(wire, `${collection}?pretty=false`, { headers })).text).toMatch(/^\{"kind":/);
    expect((await request(wire, '/api/v1/chairs', { headers })).text).toMatch(/^\{\n {2}"kind": "Status",\n/);
  });

  test('a failure of our own is told to the log, not to the client', async () => {
    wire.api.before = () => Promise.reject(new Error('secret detail'));
    const reply = await request(wire, collection).finally(() => {
      wire.api.before = () => Promise.resolve();
    });
    expect(json(reply)).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(reply.text).not.toContain('secret');
    expect(wire.errors.join()).toContain('secret detail');
  });

  test('a refusal that says when to come back says so in a header as well', async () => {
    wire.api.before = () => Promise.reject(statusErrors.tooManyRequests('later', 7));
    const reply = await request(wire, collection).finally(() => {
      wire.api.before = () => Promise.resolve();
    });
    expect(reply.code).toBe(429);
    expect(reply.headers['retry-after']).toBe('7');
  });

  test('a request that takes too long is given up', async () => {
    let finish: (() => void) | undefined;
    wire.api.before = () => new Promise((resolve) => (finish = resolve));
    const reply = await request(wire, `${collection}?timeout=30ms`).finally(() => {
      wire.api.before = () => Promise.resolve();
      finish?.();
    });
    expect(json(reply)).toMatchObject({ code: 504, reason: 'Timeout', message: 'request did not complete within the allotted timeout' });
  });
});

test('many requests at once on one HTTP/2 connection do not mix', async () => {
  const session = connect(wire.server.url, credentials(wire));
  for (let i = 0; i < 200; i++) wire.api.put('mix', `m-${i}`, { i: String(i) });
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, i) => {
      const stream = session.request({ ':path': `/api/v1/namespaces/mix/configmaps/m-${i}` });
      return new Promise<string>((resolve, reject) => {
        let text = '';
        stream.setEncoding('utf8');
        stream.on('data', (chunk: string) => (text += chunk));
        stream.on('end', () => resolve(text));
        stream.on('error', reject);
      });
    }),
  );
  session.close();
  replies.forEach((text, i) => expect((JSON.parse(text) as { data: unknown }).data).toEqual({ i: String(i) }));
});

describe('overload', () => {
  test('more requests of one user than allowed are sent away, and come back later', async () => {
    await using busy = await startWireServer({ limits: { requestsPerUser: 2, seats: 100 } });
    const waiting: (() => void)[] = [];
    busy.api.before = () => new Promise((resolve) => waiting.push(resolve));
    const held = [send(busy, collection), send(busy, collection)];
    await until('both are under way', () => waiting.length === 2);
    const refused = await send(busy, collection);
    expect(refused).toMatchObject({ code: 429 });
    expect(refused.headers['retry-after']).toBe('1');
    expect(await send(busy, '/healthz')).toMatchObject({ code: 200 });
    busy.api.before = () => Promise.resolve();
    for (const go of waiting) go();
    expect(await Promise.all(held)).toMatchObject([{ code: 200 }, { code: 200 }]);
    expect(await send(busy, collection)).toMatchObject({ code: 200 });
    expect(busy.metrics.text()).toContain('mooring_requests_refused_total{limit="requests of a user"} 1');
  });
});
