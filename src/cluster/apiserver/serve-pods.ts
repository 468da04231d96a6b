import type { HttpServer } from '../../apiserver/http/server.ts';
import type { Client } from '../../client/client.ts';
import { isLoopback } from './advertised-address.ts';
import { publishApiAddress, publishDns } from './bootstrap.ts';

export interface ServedPods {
  readonly server: HttpServer;
  readonly listen: { readonly host: string };
  /** Each node's address in the network of its pods. */
  readonly gateways: ReadonlyMap<string, string>;
}

/**
 * Pods do not reach the loopback of the host: a server that listens there listens on the first node's address in the network of its pods too. The DNS servers on
 * the nodes' addresses become the Service kube-dns. Resolves with its cluster IP.
 */
export async function servePods(client: Client, { server, listen, gateways }: ServedPods): Promise<string | undefined> {
  const [gateway] = gateways.values();
  if (gateway !== undefined && isLoopback(listen.host)) {
    await server.listenAlso(gateway);
    await publishApiAddress(client, gateway, server.port);
  }
  return publishDns(client, gateways);
}
