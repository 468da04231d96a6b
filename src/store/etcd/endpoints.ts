import { Http2Channel } from '../../grpc/http2-channel.ts';
import type { ClientTls } from '../../grpc/http2-connection.ts';
import type { Timers } from '../../world/world.ts';
import type { EtcdEndpoint } from './client.ts';

/** Kubernetes' keepaliveTime and keepaliveTimeout (storage/storagebackend/factory/etcd3.go): a member that is gone without a word is noticed. */
const keepalive = { intervalMs: 30_000, timeoutMs: 10_000 };
/** A page of large objects exceeds gRPC's own limit. */
const maxMessageBytes = 0x7f_ff_ff_ff;

/** `servers`: 'https://10.0.0.1:2379'. `tls`: of all servers with https. */
export function etcdEndpoints(servers: readonly string[], { tls, timers }: { readonly tls: ClientTls; readonly timers: Timers }): readonly EtcdEndpoint[] {
  return servers.map((server) => {
    const { hostname, port, protocol } = new URL(server);
    const address = `${hostname}:${port || DEFAULT_PORT}`;
    return { url: server, channel: new Http2Channel({ address, timers, keepalive, maxMessageBytes, ...(protocol === 'https:' && { tls }) }) };
  });
}

const DEFAULT_PORT = 2379;
