import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../authentication/authenticator.ts';

const known = new WeakMap<TLSSocket, ClientCertificate>();

/** Read once per connection: it cannot change. */
export function clientCertificate(socket: TLSSocket): ClientCertificate {
  const before = known.get(socket);
  if (before !== undefined) return before;
  const certificate = readCertificate(socket);
  known.set(socket, certificate);
  return certificate;
}

function readCertificate(socket: TLSSocket): ClientCertificate {
  const peer = socket.getPeerCertificate();
  // A connection without a client certificate yields null, or an object without members.
  if (peer === null || Object.keys(peer).length === 0) return { type: 'none' };
  if (!socket.authorized) return { type: 'invalid' };
  const { CN, O } = peer.subject as { CN?: string | string[]; O?: string | string[] };
  const fingerprint = peer.fingerprint256.replaceAll(':', '').toLowerCase();
  return { type: 'valid', commonName: textOf(CN), organizations: O === undefined ? [] : [O].flat(), fingerprint };
}

const textOf = (value: string | string[] | undefined): string => (Array.isArray(value) ? (value.at(-1) ?? '') : (value ?? ''));
