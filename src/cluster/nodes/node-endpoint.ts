import { isIP } from 'node:net';
import type { HttpAccess } from '../../client/http-transport.ts';
import type { Transport } from '../../client/transport.ts';
import type { NodeAgent } from '../../node/agent.ts';
import { WebhookAuth } from '../../node/kubelet-api/webhook-auth.ts';
import { KubeletServer } from '../../node/kubelet-api/server.ts';
import type { Host } from '../../node/host.ts';
import type { SecretFiles } from '../../apiserver/certificates/certificate-files.ts';
import type { PodStreams } from '../../streams/contract.ts';
import type { World } from '../../world/world.ts';
import { type KeyAndCertificate, startCertificateManager } from './certificate-manager.ts';
import { type NodeCertificateOptions, loadNodeCertificate, requestNodeCertificate } from './node-certificate.ts';

export interface EndpointOptions {
  readonly access: HttpAccess;
  /** Undefined: everywhere, on the kubelet's port if that is free. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  readonly world: World;
}

export interface OpenEndpoint {
  /** By which others reach it, if that is known. */
  readonly ip: string | undefined;
  readonly port: number;
  /** Resolves with what ends it. */
  serve(what: EndpointServices): Promise<() => Promise<void>>;
}

export interface EndpointServices {
  readonly agent: Pick<NodeAgent, 'client' | 'pods'>;
  readonly streams: PodStreams;
  readonly host: Pick<Host, 'name' | 'ip'>;
  /** As the node itself. */
  readonly own: Transport;
  readonly files: SecretFiles;
  readonly expirationSeconds?: number;
  readonly renewAt?: () => number;
}

const kubeletPort = 10_250;
const everywhere = '0.0.0.0';

/** The endpoint of a node in this process. Undefined: a server without TLS gives no certificates, so there is none. @throws Error if it cannot listen */
export async function openEndpoint({ access, listen, world }: EndpointOptions): Promise<OpenEndpoint | undefined> {
  if (access.url.startsWith('http://')) return undefined;
  const at = (host: string, port: number) => KubeletServer.listen({ host, port, authority: access.ca, world });
  const endpoint =
    listen === undefined
      ? await at(everywhere, kubeletPort).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EADDRINUSE') throw error;
          return at(everywhere, 0);
        })
      : await at(listen.host, listen.port);
  const { host = everywhere } = listen ?? {};
  const isAddress = isIP(host) !== 0 && host !== everywhere && host !== '::';
  return { ip: isAddress ? host : undefined, port: endpoint.port, serve: (what) => serve(endpoint, what, world) };
}

async function serve(endpoint: KubeletServer, what: EndpointServices, world: World): Promise<() => Promise<void>> {
  const { agent, streams, host, own, files, expirationSeconds, renewAt } = what;
  const callers = new WebhookAuth({ client: agent.client, node: host.name, clock: world.clock });
  endpoint.serve({ callers, offers: { pods: agent.pods, streams } });
  const over = new AbortController();
  const wanted: NodeCertificateOptions = { node: host.name, use: 'serving', hosts: [host.name, host.ip], files, world, expirationSeconds, over: over.signal };
  const present = (certificate: KeyAndCertificate): void => endpoint.present(certificate);
  const current = await loadNodeCertificate(wanted);
  if (current !== undefined) present(current);
  const cancel = startCertificateManager({
    world,
    current,
    whose: 'the node, as a server',
    request: () => requestNodeCertificate(own, wanted),
    onRenewed: present,
    ...(renewAt === undefined ? {} : { renewAt }),
  });
  return async () => {
    cancel();
    over.abort();
    await endpoint.close();
  };
}
