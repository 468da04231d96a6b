import { type ClientHttp2Session, connect } from 'node:http2';
import { expect, test } from 'vitest';
import { allKinds } from '../../src/api/kinds/index.ts';
import { credentials, requestHttp2, until } from './client.ts';
import { startRealWireServer } from './wire-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';

/** Counts the events that a watch gets. */
function watch(session: ClientHttp2Session, path: string, accept: string): Promise<{ events: number }> {
  return new Promise((resolve, reject) => {
    const seen = { events: 0 };
    const stream = session.request({ ':path': path, accept });
    stream.on('error', reject);
    stream.on('data', (chunk: Buffer) => (seen.events += chunk.toString('latin1').split('MODIFIED').length - 1));
    stream.on('response', () => resolve(seen));
  });
}

test('an update that 1,000 watchers of one collection see is encoded once, and once more for each other form', async () => {
  await using wire = await startRealWireServer(allKinds);
  const sessions = Array.from({ length: 5 }, () => connect(wire.server.url, credentials(wire)));
  for (const session of sessions) session.setMaxListeners(0);
  const [first] = sessions;
  if (first === undefined) throw new Error('no session');
  const post = (path: string, body: object): Promise<unknown> =>
    requestHttp2(first, path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  await post('/api/v1/namespaces', { metadata: { name: 'default' } });
  await post(maps, { metadata: { name: 'a' } });
  const metrics = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(wire.metrics.text())?.[1]);

  const list = JSON.parse((await requestHttp2(first, maps)).text) as { metadata: { resourceVersion: string } };
  const path = `${maps}?watch=1&resourceVersion=${list.metadata.resourceVersion}`;
  const watches = (
    await Promise.all(sessions.map((session) => Promise.all(Array.from({ length: 200 }, () => watch(session, path, 'application/json')))))
  ).flat();
  const others = [await watch(first, path, 'application/vnd.kubernetes.protobuf'), await watch(first, `${path}&labelSelector=!x`, 'application/json')];
  expect(metrics('apiserver_longrunning_requests')).toBe(1_002);
  expect(metrics('mooring_watch_encodings_total')).toBe(0);

  await requestHttp2(first, `${maps}/a`, { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: '{"data":{"k":"v"}}' });
  await until('all watches saw it', () => [...watches, ...others].every(({ events }) => events === 1));
  expect(metrics('mooring_watch_encodings_total')).toBe(2);
  expect(metrics('apiserver_watch_events_total')).toBe(1_002);
  for (const session of sessions) session.destroy();
  await until('no watch is left', () => metrics('apiserver_longrunning_requests') === 0);
});
