import { isIP } from 'node:net';
import type { HttpAccess } from '../../client/http-transport.ts';
import type { Transport } from '../../client/transport.ts';
import type { NodeAgent } from '../../node/agent.ts';
import { WebhookAuth } from '../../node/kubelet-api/webhook-auth.ts';
import { KubeletServer } from '../../node/kubelet-api/server.ts';
import type { Host } from '../../node/host.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import type { PodStreams } from '../../streams/contract.ts';
import type { World } from '../../world/world.ts';
import { type KeyAndCertificate, startCertificateManager } from './certificate-manager.ts';
import { type NodeCertificateOptions, loadNodeCertificate, requestNodeCertificate } from './node-certificate.ts';

export interface EndpointOptions {
  readonly access: HttpAccess;
  /** Undefined: every address, on the kubelet's port if that is free. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  readonly world: World;
}

export interface OpenEndpoint {
  /** Its address, if it listens on only one. */
  readonly ip: string | undefined;
  readonly port: number;
  /** Resolves with a function that stops it. */
  serve(services: EndpointServices): Promise<() => Promise<void>>;
}

export interface EndpointServices {
  readonly agent: Pick<NodeAgent, 'client' | 'pods'>;
  readonly streams: PodStreams;
  readonly host: Pick<Host, 'name' | 'ip'>;
  /** With the node's own credentials. */
  readonly own: Transport;
  readonly files: SecretFiles;
  readonly expirationSeconds?: number;
  readonly renewAt?: () => number;
}

const kubeletPort = 10_250;
const anyAddress = '0.0.0.0';

/** The kubelet API of a node in this process. Undefined: an API server without TLS issues no serving certificate. @throws Error if it cannot listen */
export async function openEndpoint({ access, listen, world }: EndpointOptions): Promise<OpenEndpoint | undefined> {
  if (access.url.startsWith('http://')) return undefined;
  const at = (host: string, port: number) => KubeletServer.listen({ host, port, authority: access.ca, world });
  const endpoint =
    listen === undefined
      ? await at(anyAddress, kubeletPort).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EADDRINUSE') throw error;
          return at(anyAddress, 0);
        })
      : await at(listen.host, listen.port);
  const { host = anyAddress } = listen ?? {};
  const isAddress = isIP(host) !== 0 && host !== anyAddress && host !== '::';
  return { ip: isAddress ? host : undefined, port: endpoint.port, serve: (services) => serve(endpoint, services, world) };
}

async function serve(endpoint: KubeletServer, services: EndpointServices, world: World): Promise<() => Promise<void>> {
  const { agent, streams, host, own, files, expirationSeconds, renewAt } = services;
  const callers = new WebhookAuth({ client: agent.client, node: host.name, clock: world.clock });
  endpoint.serve({ callers, offers: { pods: agent.pods, streams } });
  const abort = new AbortController();
  const options: NodeCertificateOptions = {
    node: host.name,
    use: 'serving',
    hosts: [host.name, host.ip],
    files,
    world,
    expirationSeconds,
    signal: abort.signal,
  };
  const present = (certificate: KeyAndCertificate): void => endpoint.present(certificate);
  const current = await loadNodeCertificate(options);
  if (current !== undefined) present(current);
  const cancel = startCertificateManager({
    world,
    current,
    whose: 'the node, as a server',
    request: () => requestNodeCertificate(own, options),
    onRenewed: present,
    ...(renewAt === undefined ? {} : { renewAt }),
  });
  return async () => {
    cancel();
    abort.abort();
    await endpoint.close();
  };
}
