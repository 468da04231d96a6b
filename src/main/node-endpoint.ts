import { isIP } from 'node:net';
import type { HttpAccess } from '../machinery/http-transport.ts';
import type { Transport } from '../machinery/transport.ts';
import type { NodeAgent } from '../node/agent.ts';
import { Callers } from '../node/endpoint/callers.ts';
import { NodeEndpoint } from '../node/endpoint/endpoint.ts';
import type { Host } from '../node/host.ts';
import type { SecretFiles } from '../server/auth/certificate-files.ts';
import type { PodStreams } from '../streams/contract.ts';
import type { World } from '../world/world.ts';
import { type KeyAndCertificate, keepCertificate } from './certificate-renewal.ts';
import { type CertificateWanted, keptCertificate, requestCertificate } from './requested-certificate.ts';

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
  serve(what: Served): Promise<() => Promise<void>>;
}

export interface Served {
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
  const at = (host: string, port: number) => NodeEndpoint.listen({ host, port, authority: access.ca, world });
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

async function serve(endpoint: NodeEndpoint, what: Served, world: World): Promise<() => Promise<void>> {
  const { agent, streams, host, own, files, expirationSeconds, renewAt } = what;
  const callers = new Callers({ client: agent.client, node: host.name, clock: world.clock });
  endpoint.serve({ callers, offers: { pods: agent.pods, streams } });
  const over = new AbortController();
  const wanted: CertificateWanted = { node: host.name, use: 'serving', hosts: [host.name, host.ip], files, world, expirationSeconds, over: over.signal };
  const present = (certificate: KeyAndCertificate): void => endpoint.present(certificate);
  const current = await keptCertificate(wanted);
  if (current !== undefined) present(current);
  const cancel = keepCertificate({
    world,
    current,
    whose: 'the node, as a server',
    ask: () => requestCertificate(own, wanted),
    renewed: present,
    ...(renewAt === undefined ? {} : { renewAt }),
  });
  return async () => {
    cancel();
    over.abort();
    await endpoint.close();
  };
}
