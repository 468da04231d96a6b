import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json, send } from './client.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

const collection = '/api/v1/namespaces/default/configmaps';

describe('requests over HTTP/1.1', () => {
  let wire: WireServer;
  beforeAll(async () => {
    wire = await startWireServer();
  });
  afterAll(() => wire.server.stop());

  test('create, get, list', async () => {
    const body = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } });
    const created = await send(wire, collection, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(created.code).toBe(201);
    expect(created.headers['content-type']).toBe('application/json');
    expect(created.headers['cache-control']).toBe('no-cache, private');
    expect(created.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.text.endsWith('}\n')).toBe(true);

    const got = await send(wire, `${collection}/a`);
    expect(got.text).toBe(created.text);

    const listed = json(await send(wire, collection));
    expect(listed['kind']).toBe('ConfigMapList');
    expect(listed['items']).toEqual([{ metadata: expect.objectContaining({ name: 'a', resourceVersion: '2' }), data: { k: 'v' } }]);
  });
});
