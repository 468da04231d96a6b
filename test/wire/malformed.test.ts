import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from '../../src/apiserver/api.ts';
import { allKinds } from '../../src/api/kinds/index.ts';
import { json, type Reply, type Send, send } from './client.ts';
import { startRealWireServer, type WireServer } from './wire-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';

let wire: WireServer<Api>;
beforeAll(async () => {
  wire = await startRealWireServer(allKinds);
  await post('/api/v1/namespaces', '{"metadata":{"name":"default"}}');
});
afterAll(() => wire[Symbol.asyncDispose]());

function post(path: string, body: string | Uint8Array, options: Send = {}): Promise<Reply> {
  return send(wire, path, { method: 'POST', body, ...options, headers: { 'content-type': 'application/json', ...options.headers } });
}

const named = (name: string, rest: string): string => `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}"}${rest}}`;
const nested = (depth: number, open: string, close: string): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

/** Whatever was sent, it was answered with a Status; it was a client's fault, and nothing broke. */
function expectRefused(reply: Reply, code: number, message: string | RegExp): void {
  expect(json(reply)).toMatchObject({ kind: 'Status', status: 'Failure', code, message: expect.stringMatching(message) as string });
  expect(reply.code).toBe(code);
  expect(wire.errors).toEqual([]);
}

describe('bodies that are no JSON', () => {
  test.each<[string, string | Uint8Array]>([
    ['nothing', ''],
    ['a word', 'hello'],
    ['half an object', '{"kind":"ConfigMap",'],
    ['two objects', `${named('a', '')}${named('b', '')}`],
    ['a trailing comma', '{"kind":"ConfigMap",}'],
    ['an array', '[]'],
    ['a number', '7'],
    ['a NUL byte', '\u0000'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['UTF-16', Buffer.from(named('a', ''), 'utf16le')],
    ['deep nesting of arrays', `{"data":${nested(200_000, '[', ']')}}`],
    ['deep nesting of objects', nested(200_000, '{"a":', '}')],
    ['deep nesting that never ends', '['.repeat(1_000_000)],
  ])('%s', async (_case, body) => {
    expectRefused(await post(maps, body), 400, /./);
  });
});

describe('bodies of the wrong shape', () => {
  test.each<[string, string]>([
    ['a string for an object', named('a', ',"data":"text"')],
    ['a number for a string', named('a', ',"data":{"k":7}')],
    ['an object for a string', '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":{}}}'],
    ['an array for metadata', '{"kind":"ConfigMap","apiVersion":"v1","metadata":[]}'],
    ['a string for a list', '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","finalizers":"x"}}'],
    ['another kind', '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}'],
    ['another version', '{"kind":"ConfigMap","apiVersion":"v7","metadata":{"name":"a"}}'],
  ])('%s', async (_case, body) => {
    expectRefused(await post(maps, body), 400, /./);
  });

  test('null, which Kubernetes takes for an object without anything', async () => {
    expectRefused(await post(maps, 'null'), 422, /name or generateName is required/);
  });

  test('unknown fields are refused, warned of or ignored, as the client wishes', async () => {
    const body = named('typo', ',"dta":{"k":"v"}');
    expectRefused(await post(`${maps}?fieldValidation=Strict`, body), 400, /strict decoding error: unknown field "dta"/);
    const warned = await post(`${maps}?fieldValidation=Warn`, body);
    expect(warned.code).toBe(201);
    expect(warned.headers['warning']).toBe('299 - "unknown field \\"dta\\""');
    const ignored = await post(`${maps}?fieldValidation=Ignore`, named('typo-2', ',"dta":{"k":"v"}'));
    expect(ignored.code).toBe(201);
    expect(ignored.headers['warning']).toBe(undefined);
    expect(json(ignored)).not.toHaveProperty('dta');
  });
});

describe('keys that reach for prototypes', () => {
  test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])('%s is a key like any other, or none', async (key) => {
    const name = `p-${key.replace(/[^a-z]/gi, '').toLowerCase()}`;
    const body = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","labels":{"l-${name}":"x"},"${key}":{"polluted":"yes"}},"data":{"a":"b"},"${key}":{"polluted":"yes"}}`;
    const reply = await post(`${maps}?fieldValidation=Ignore`, body);
    expect(reply.code).toBe(201);
    expect(({} as { polluted?: string }).polluted).toBe(undefined);
    expect(reply.text).not.toContain('polluted');
    const strict = await post(`${maps}?fieldValidation=Strict`, body);
    expect(strict.code).toBe(400);
  });

  test('as a key of a map it is kept or refused, and nothing else changes', async () => {
    const reply = await post(maps, named('proto-data', ',"data":{"constructor":"x","toString":"y"}'));
    expect(reply.code).toBe(201);
    expect(json(reply)['data']).toEqual({ constructor: 'x', toString: 'y' });
    const patch = await send(wire, `${maps}/proto-data`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"__proto__":{"polluted":"yes"},"metadata":{"labels":{"__proto__":"x"}}}',
    });
    expect(patch.code).toBeLessThan(500);
    expect(({} as { polluted?: string }).polluted).toBe(undefined);
    expect(wire.errors).toEqual([]);
  });

  test.each(['/metadata/__proto__/polluted', '/__proto__/polluted', '/constructor/prototype/polluted'])('a JSON patch of %s', async (path) => {
    await post(maps, named('json-patched', ''));
    const body = JSON.stringify([{ op: 'add', path, value: 'yes' }]);
    const reply = await send(wire, `${maps}/json-patched`, { method: 'PATCH', headers: { 'content-type': 'application/json-patch+json' }, body });
    expect(reply.code).toBeLessThan(500);
    expect(({} as { polluted?: string }).polluted).toBe(undefined);
  });

  test.each(['/api/v1/__proto__', '/api/v1/namespaces/default/__proto__/x', '/apis/__proto__/v1/x', '/api/v1/namespaces/__proto__/configmaps/constructor'])(
    'a path with it: %s',
    async (path) => {
      expectRefused(await send(wire, path), 404, /./);
    },
  );
});

describe('much of everything', () => {
  test('60,000 labels', async () => {
    const labels = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`label-${i}`, 'value-'.repeat(5)]));
    const reply = await post(maps, JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'labels', labels } }));
    expect([201, 413, 422]).toContain(reply.code);
    expect(wire.errors).toEqual([]);
  });

  const causesOf = (reply: Reply): unknown[] => (json(reply) as { details: { causes: unknown[] } }).details.causes;

  test.each<[string, object, RegExp]>([
    ['labels', { labels: Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`-bad-${i}!`, 'not a value!'])) }, /metadata\.labels/],
    ['annotations', { annotations: Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`-bad-${i}!`, ''])) }, /metadata\.annotations/],
    ['finalizers', { finalizers: Array.from({ length: 50_000 }, () => '!') }, /metadata\.finalizers/],
    ['owners', { ownerReferences: Array.from({ length: 50_000 }, () => ({})) }, /metadata\.ownerReferences/],
  ])('%s that are none: the message names some of them', async (_case, metadata, message) => {
    const reply = await post(maps, JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'much', ...metadata } }));
    expectRefused(reply, 422, message);
    expect(causesOf(reply).length).toBeLessThanOrEqual(1_000);
  });

  test.each(['volumes', 'containers', 'tolerations'])('a pod of 400,000 %s without anything', async (list) => {
    const spec = { containers: [{ name: 'a', image: 'x' }], [list]: Array.from({ length: 400_000 }, () => ({})) };
    const reply = await post('/api/v1/namespaces/default/pods', JSON.stringify({ metadata: { name: 'much' }, spec }));
    expectRefused(reply, 400, /a list of 400000 elements is longer than/);
  });

  test('a template with 50,000 volumes, all of them wrong', async () => {
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'a', image: 'x' }], volumes: Array.from({ length: 50_000 }, () => ({})) },
    };
    const body = JSON.stringify({ metadata: { name: 'much' }, spec: { selector: { matchLabels: { a: 'b' } }, template } });
    expectRefused(await post('/apis/apps/v1/namespaces/default/deployments', body), 422, /./);
  });

  test('YAML with 20,000 aliases, each of them known', async () => {
    const bulk = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aliases}\nx: &x v\ny: [${'*x ,'.repeat(20_000)}]\n`;
    expect(await post(maps, bulk, { headers: { 'content-type': 'application/yaml' } })).toMatchObject({ code: 201 });
  });

  test('a name of a megabyte', async () => {
    expectRefused(await post(maps, named('a'.repeat(1_000_000), '')), 422, /metadata\.name/);
  });

  test('a selector of 1,500 terms', async () => {
    const selector = Array.from({ length: 1_500 }, (_, i) => `a${i}=b`).join(',');
    const reply = await send(wire, `${maps}?labelSelector=${encodeURIComponent(selector)}`);
    expect([200, 400]).toContain(reply.code);
  });

  test('YAML that explodes', async () => {
    const bomb = `a: &a ["x","x","x","x","x","x","x","x","x"]\n${Array.from({ length: 9 }, (_, i) => `${String.fromCharCode(98 + i)}: &${String.fromCharCode(98 + i)} [${Array.from({ length: 9 }, () => `*${String.fromCharCode(97 + i)}`).join(',')}]`).join('\n')}\n`;
    const reply = await post(maps, bomb, { headers: { 'content-type': 'application/yaml' } });
    expectRefused(reply, 400, /./);
  });

  test('protobuf that is none', async () => {
    for (const bytes of [Buffer.from('k8s\u0000'), Buffer.from([0x6b, 0x38, 0x73, 0, 0xff, 0xff, 0xff, 0xff, 0xff]), Buffer.alloc(1000, 0xff)]) {
      expectRefused(await post(maps, bytes, { headers: { 'content-type': 'application/vnd.kubernetes.protobuf' } }), 400, /./);
    }
  });
});

describe('what the wire carries', () => {
  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'nonsense'])('a body of type %s is 415', async (type) => {
    expectRefused(await post(maps, named('x', ''), { headers: { 'content-type': type } }), 415, /the body of the request was in an unknown format/);
  });

  test('a patch of an unknown type is 415', async () => {
    await post(maps, named('patched', ''));
    const reply = await send(wire, `${maps}/patched`, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect(reply.code).toBe(415);
  });

  test('the same object in JSON, YAML and protobuf', async () => {
    await post(maps, named('forms', ',"data":{"k":"ü"}'));
    const forms = await Promise.all(
      ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'].map((accept) => send(wire, `${maps}/forms`, { headers: { accept } })),
    );
    expect(forms.map(({ headers }) => headers['content-type'])).toEqual(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']);
    expect(forms[2]?.text.startsWith('k8s\u0000')).toBe(true);
    const missing = await send(wire, `${maps}/none`, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    expect(missing).toMatchObject({ code: 404 });
    expect(missing.text).toContain('configmaps "none" not found');
  });
});
