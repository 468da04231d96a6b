/** HTTPS to the servers behind APIServices (kube-aggregator's proxyHandler). */
import { Agent, request as httpsRequest } from 'node:https';
import type { RemoteAnswer, RemoteCall, RemoteServers } from '../../apiserver/aggregator/remote-server.ts';
import type { User } from '../../apiserver/api.ts';
import type { KeyPair } from '../../apiserver/certificates/certificate-files.ts';
import { goDialError } from '../../apiserver/dial-errors.ts';

/** `client`: the front proxy's certificate. */
export function httpsRemoteServers(client: KeyPair): RemoteServers {
  // Pools connections by address, CA bundle and name.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 16, minVersion: 'TLSv1.2', cert: client.certificate, key: client.key });
  return { send: (call) => send(call, agent), stop: () => agent.destroy() };
}

function send({ service, address, user, method, path, headers, body, signal }: RemoteCall, agent: Agent): Promise<RemoteAnswer> {
  const { caBundle = '', insecureSkipTLSVerify = false, service: { namespace = '', name = '' } = {} } = service.spec;
  const named = `${name}.${namespace}.svc`;
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      {
        ...address,
        agent,
        // The certificate of a Service is for its DNS name, not for the IP address that is dialled.
        servername: named,
        rejectUnauthorized: !insecureSkipTLSVerify,
        ...(caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }),
        method,
        path,
        headers: { ...headers, ...userHeaders(user), host: named, 'content-length': body.length },
        signal,
      },
      (response) => resolve({ code: response.statusCode ?? 502, rawHeaders: response.rawHeaders, body: response }),
    );
    sent.on('error', (error) => reject(new Error(goDialError(error, { address: `${address.host}:${address.port}`, named }))));
    sent.end(body);
  });
}

/** Who the client is, for a server that trusts this one's certificate. */
function userHeaders({ name, uid = '', groups, extra = {} }: User): Record<string, string | string[]> {
  return {
    'x-remote-user': name,
    ...(uid === '' ? {} : { 'x-remote-uid': uid }),
    ...(groups.length === 0 ? {} : { 'x-remote-group': [...groups] }),
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`x-remote-extra-${encodeURIComponent(key).toLowerCase()}`, [...values]])),
  };
}
