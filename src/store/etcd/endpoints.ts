import { Http2Channel } from '../../grpc/http2-channel.ts';
import type { ClientTls } from '../../grpc/http2-connection.ts';
import type { Timers } from '../../world/world.ts';
import type { EtcdEndpoint } from './client.ts';

/** Kubernetes' keepaliveTime and keepaliveTimeout (storage/storagebackend/factory/etcd3.go): a member that is gone without a word is noticed. */
const keepalive = { intervalMs: 30_000, timeoutMs: 10_000 };
/** A page of large objects exceeds gRPC's own limit. */
const maxMessageBytes = 0x7f_ff_ff_ff;

/**
 * `servers`: 'https://10.0.0.1:2379'. `tls`: of all servers with https.
 * @throws Error for a URL that is none
 */
export function etcdEndpoints(servers: readonly string[], { tls, timers }: { readonly tls: ClientTls; readonly timers: Timers }): readonly EtcdEndpoint[] {
  return servers.map((server) => {
    const { host, port, isSecure } = parseServer(server);
    return {
      url: server,
      channel: new Http2Channel({ address: `${host}:${port}`, timers, keepalive, maxMessageBytes, ...(isSecure && { tls }) }),
    };
  });
}

function parseServer(server: string): { readonly host: string; readonly port: number; readonly isSecure: boolean } {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  const isSecure = url?.protocol === 'https:';
  if (url === undefined || url.hostname === '' || (!isSecure && url.protocol !== 'http:') || (url.pathname !== '/' && url.pathname !== ''))
    throw new Error(`${JSON.stringify(server)} is no URL of an etcd server: https://10.0.0.1:2379 would be`);
  return { host: url.hostname, port: Number(url.port) || DEFAULT_PORT, isSecure };
}

const DEFAULT_PORT = 2379;
