import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import { ensureCertificates } from '../../src/apiserver/certificates/certificate-files.ts';
import type { SecretFiles } from '../../src/world/secret-files.ts';
import { credentials } from './client.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

const day = 24 * 60 * 60 * 1000;

/** One request on a bare TLS connection; `session` continues an earlier one without a full handshake. */
function get(
  wire: WireServer,
  client: { cert?: string; key?: string },
  session?: Buffer,
): Promise<{ code: number; reused: boolean; session: Buffer | undefined }> {
  return new Promise((resolve, reject) => {
    const { ca } = credentials(wire);
    const socket = tls.connect({ host: '127.0.0.1', port: wire.server.port, ca, ...client, session, ALPNProtocols: ['http/1.1'] });
    let ticket: Buffer | undefined;
    let received = '';
    let reused = false;
    socket.on('session', (given) => (ticket = given));
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.once('secureConnect', () => {
      reused = socket.isSessionReused();
      socket.write('GET /api HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    });
    socket.once('close', () => resolve({ code: Number(received.slice(9, 12)), reused, session: ticket }));
  });
}

const files = (): SecretFiles => {
  const contents = new Map<string, string>();
  return { read: (name) => Promise.resolve(contents.get(name)), write: (name, text) => Promise.resolve(void contents.set(name, text)) };
};

describe('client certificates', () => {
  test('ours is known, also on a connection that continues an earlier session', async () => {
    await using wire = await startWireServer();
    const { certificate, key } = wire.certificates.admin;
    const first = await get(wire, { cert: certificate, key });
    expect(first).toMatchObject({ code: 200, reused: false });
    expect(first.session).toBeDefined();
    expect(await get(wire, { cert: certificate, key }, first.session)).toMatchObject({ code: 200, reused: true });
  });

  test('without one, a client is anonymous', async () => {
    await using wire = await startWireServer();
    const first = await get(wire, {});
    expect(first).toMatchObject({ code: 403 });
    expect(await get(wire, {}, first.session)).toMatchObject({ code: 403, reused: true });
  });

  test('one of another authority is refused', async () => {
    await using wire = await startWireServer();
    const { admin } = await ensureCertificates({ files: files(), hosts: [], now: Date.now() });
    const first = await get(wire, { cert: admin.certificate, key: admin.key });
    expect(first).toMatchObject({ code: 401 });
    expect(await get(wire, { cert: admin.certificate, key: admin.key }, first.session)).toMatchObject({ code: 401 });
  });

  test('an expired one is refused', async () => {
    await using wire = await startWireServer();
    const { issueCertificate } = await import('../../src/apiserver/certificates/issue-certificates.ts');
    const old = await issueCertificate({
      type: 'client',
      name: 'kubernetes-admin',
      groups: ['system:masters'],
      notBefore: Date.now() - 2 * day,
      notAfter: Date.now() - day,
      authority: wire.certificates.authority,
    });
    expect(await get(wire, { cert: old.certificate, key: old.key })).toMatchObject({ code: 401 });
  });

  test('a serving certificate does not make a client', async () => {
    await using wire = await startWireServer();
    const { certificate, key } = wire.certificates.serving;
    expect(await get(wire, { cert: certificate, key })).toMatchObject({ code: 401 });
  });
});
