/** TLS over TCP, in both directions with @grpc/grpc-js: the server's certificate, the client's, and those of strangers. */
import { credentials, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { issueCertificate, type IssuedCertificate } from '../../src/apiserver/certificates/issue-certificates.ts';
import type { CallHandler, Channel } from '../../src/grpc/channel.ts';
import { Http2Channel } from '../../src/grpc/http2-channel.ts';
import { GrpcServer } from '../../src/grpc/http2-server.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { GrpcJsChannel, serveWithGrpcJs } from './grpc-js-peer.ts';

const { timers } = createRealWorld({ logLevel: 'silent' });
const validity = { notBefore: 0, notAfter: Date.parse('2099-01-01') };
const handlers = new Map<string, CallHandler>([
  [
    '/test.Calls/Echo',
    async function* echo({ requests }) {
      for await (const request of requests) yield request;
    },
  ],
]);

interface Keys {
  readonly authority: IssuedCertificate;
  readonly server: IssuedCertificate;
  readonly client: IssuedCertificate;
}

async function issueKeys(name: string): Promise<Keys> {
  const authority = await issueCertificate({ type: 'authority', commonName: name, ...validity });
  const server = await issueCertificate({ type: 'server', commonName: 'driver', hosts: ['localhost'], authority, ...validity });
  const client = await issueCertificate({ type: 'client', name: 'moor', groups: [], authority, ...validity });
  return { authority, server, client };
}

let own: Keys;
let stranger: Keys;
let closers: (() => unknown)[];
beforeAll(async () => {
  own = await issueKeys('own');
  stranger = await issueKeys('stranger');
});
beforeEach(() => {
  closers = [];
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
});

const bytes = (text: string): Buffer => Buffer.from(text);

const servers: Readonly<Record<string, () => Promise<number>>> = {
  own: async () => {
    const server = new GrpcServer(handlers);
    closers.push(() => server.close());
    return server.listen('localhost:0', { timers, tls: { cert: own.server.certificate, key: own.server.key, ca: own.authority.certificate } });
  },
  'grpc-js': async () => {
    const pair = { cert_chain: bytes(own.server.certificate), private_key: bytes(own.server.key) };
    const server = await serveWithGrpcJs('localhost:0', handlers, ServerCredentials.createSsl(bytes(own.authority.certificate), [pair], true));
    closers.push(() => server.close());
    return server.port;
  },
};

const clients: Readonly<Record<string, (port: number, keys: { trusted: Keys; client: Keys }) => Channel>> = {
  own: (port, { trusted, client: { client } }) =>
    new Http2Channel({ address: `localhost:${port}`, timers, tls: { ca: trusted.authority.certificate, cert: client.certificate, key: client.key } }),
  'grpc-js': (port, { trusted, client: { client } }) =>
    new GrpcJsChannel(`localhost:${port}`, credentials.createSsl(bytes(trusted.authority.certificate), bytes(client.key), bytes(client.certificate))),
};

const echo = async (clientName: string, port: number, keys: { trusted: Keys; client: Keys }): Promise<string> => {
  const channel = clients[clientName]?.(port, keys);
  if (channel === undefined) throw new Error(`there is no client ${clientName}`);
  closers.push(() => channel.close());
  return Buffer.from(await channel.unary('/test.Calls/Echo', bytes('hello'), { timeoutMs: 60_000 })).toString();
};

test.each([
  ['own', 'own'],
  ['own', 'grpc-js'],
  ['grpc-js', 'own'],
])('client %s, server %s', async (clientName, serverName) => {
  const port = (await servers[serverName]?.()) ?? 0;
  expect(await echo(clientName, port, { trusted: own, client: own })).toBe('hello');
  // A server that the client does not trust, and a client that the server does not.
  await expect(echo(clientName, port, { trusted: stranger, client: own })).rejects.toMatchObject({ code: 'Unavailable' });
  await expect(echo(clientName, port, { trusted: own, client: stranger })).rejects.toMatchObject({ code: 'Unavailable' });
  expect(await echo(clientName, port, { trusted: own, client: own })).toBe('hello');
});
