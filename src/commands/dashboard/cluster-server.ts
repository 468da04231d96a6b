import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { RemoteCall, RemoteAnswer, RemoteServers } from '../../apiserver/aggregator/remote-server.ts';
import type { HttpAccess } from '../../client/http-transport.ts';

/** Headers of the browser that are none of the cluster's business. */
const dropped = /^(cookie|mooring-session|origin|referer|authorization|impersonate-.*|sec-.*|accept-encoding|host|content-length)$/;

interface ClusterServer extends RemoteServers {
  resolve(): Promise<{ readonly host: string; readonly port: number }>;
}

/** The API server of a kubeconfig, reached with its credentials. */
export function clusterServer(access: HttpAccess): ClusterServer {
  const url = new URL(access.url);
  const isPlain = url.protocol === 'http:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port === '' ? (isPlain ? 80 : 443) : url.port);
  const { ca, cert, key, serverName: servername, insecure } = access;
  const agent = isPlain
    ? new HttpAgent({ keepAlive: true })
    : new HttpsAgent({ keepAlive: true, ca, cert, key, servername, rejectUnauthorized: insecure !== true });
  const authorization = access.token === undefined ? {} : { authorization: `Bearer ${access.token}` };
  return {
    resolve: () => Promise.resolve({ host, port }),
    send: ({ method, path, headers, body, signal }: RemoteCall) =>
      new Promise<RemoteAnswer>((resolve, reject) => {
        const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.test(name))) as Record<string, string | string[]>;
        const length = body.length === 0 ? {} : { 'content-length': body.length };
        const sent = (isPlain ? httpRequest : httpsRequest)(
          { host, port, agent, method, path: `${url.pathname.replace(/\/$/, '')}${path}`, headers: { ...kept, ...authorization, ...length }, signal },
          (response) => resolve({ code: response.statusCode ?? 502, rawHeaders: response.rawHeaders, body: response }),
        );
        sent.on('error', reject);
        sent.end(body);
      }),
    stop: () => agent.destroy(),
  };
}
