import { connect } from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { credentials, requestHttp2, send, until } from './client.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

const collection = '/api/v1/namespaces/default/configmaps';

function openWatch(wire: WireServer, agent: https.Agent): Promise<{ state: string }> {
  return new Promise((resolve, reject) => {
    const watch = { state: 'open' };
    https
      .get(`${wire.server.url}${collection}?watch=1`, { agent }, (response) => {
        response.resume();
        response.on('end', () => (watch.state = 'ended'));
        response.on('error', () => (watch.state = 'broken'));
        resolve(watch);
      })
      .on('error', reject);
  });
}

describe('stopping', () => {
  test('watches end cleanly, requests are finished, idle connections are closed, new ones refused', async () => {
    const wire = await startWireServer();
    const agent = new https.Agent({ keepAlive: true, ...credentials(wire) });
    const session = connect(wire.server.url, credentials(wire));
    await requestHttp2(session, '/version');
    const idle = https.get(`${wire.server.url}/healthz`, { agent }, (response) => response.resume());
    await new Promise((resolve) => idle.once('close', resolve));
    const watch = await openWatch(wire, agent);
    let finish: (() => void) | undefined;
    wire.api.before = () => new Promise((resolve) => (finish = resolve));
    const slow = send(wire, collection);
    const slowHttp2 = requestHttp2(session, '/version');
    await until('a request is under way', () => finish !== undefined);

    const stopped = wire.server.stop();
    await until('the watch ended', () => watch.state === 'ended');
    await expect(send(wire, '/healthz')).rejects.toThrow(/ECONNREFUSED|socket|reset/i);
    finish?.();
    expect(await slow).toMatchObject({ code: 200 });
    expect((await slow).headers['connection']).toBe('close');
    expect(await slowHttp2).toMatchObject({ code: 200 });
    await stopped;
    await wire.server.stop();
    expect(wire.api.openWatches).toBe(0);
    agent.destroy();
  });

  test('what does not finish in time is cut off', async () => {
    const wire = await startWireServer({ limits: { stopMs: 100 } });
    wire.api.before = () => new Promise(() => undefined);
    const stuck = send(wire, collection).catch((error: unknown) => error);
    await until('it arrived', () => wire.api.requests.length === 1);
    const halfOpen = net.connect(wire.server.port, '127.0.0.1');
    halfOpen.on('error', () => undefined);
    await new Promise<void>((resolve) => halfOpen.once('connect', () => resolve()));
    await wire.server.stop();
    expect(await stuck).toBeInstanceOf(Error);
  });

  test('a port that is taken is said plainly', async () => {
    await using wire = await startWireServer();
    const { startHttpServer } = await import('../../src/apiserver/http/server.ts');
    const again = startHttpServer({ ...wire.options, listen: { host: '127.0.0.1', port: wire.server.port } });
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('readiness can be refused while health is fine', async () => {
    let problem: string | undefined = 'not yet';
    await using wire = await startWireServer({ ready: () => problem });
    const reply = await send(wire, '/readyz');
    expect(reply).toMatchObject({ code: 500, text: '[+]ping ok\n[-]started failed: reason withheld\nreadyz check failed\n' });
    expect(await send(wire, '/readyz/started')).toMatchObject({ code: 500, text: 'internal server error: not yet\n' });
    expect(await send(wire, '/readyz?exclude=started&exclude=x&verbose')).toMatchObject({
      code: 200,
      text: '[+]ping ok\n[+]started excluded: ok\nwarn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
    });
    expect(await send(wire, '/livez')).toMatchObject({ code: 200, text: 'ok' });
    problem = undefined;
    expect(await send(wire, '/readyz')).toMatchObject({ code: 200, text: 'ok' });
  });

  test('a new certificate is shown to new connections', async () => {
    await using wire = await startWireServer();
    const other = await wire.certificates.issueClient({ name: 'other', groups: [] });
    wire.server.replaceCertificate({ certificate: other.certificate, key: other.key, clientAuthority: wire.certificates.authority.certificate });
    const subject = await new Promise<string>((resolve, reject) => {
      const request = https.get(`${wire.server.url}/healthz`, { agent: false, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve(String((response.socket as TLSSocket).getPeerCertificate().subject.CN));
      });
      request.on('error', reject);
    });
    expect(subject).toBe('other');
  });
});
