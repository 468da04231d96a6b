import type { HttpServer } from '../../apiserver/http/server.ts';
import type { Client } from '../../client/client.ts';
import { isLoopback } from './advertised-address.ts';
import { publishDns } from './bootstrap.ts';

export interface ServedPods {
  readonly server: HttpServer;
  readonly listen: { readonly host: string };
  /** Pods reach the server under this address. */
  readonly publish: (address: string) => Promise<void>;
  /** Each node's address in the network of its pods. */
  readonly gateways: ReadonlyMap<string, string>;
}

/**
 * Pods do not reach the loopback of the host: a server that listens there listens on the first node's address in the network of its pods too. The DNS servers on
 * the nodes' addresses become the Service kube-dns. Resolves with its cluster IP.
 */
export async function servePods(client: Client, { server, listen, gateways, publish }: ServedPods): Promise<string | undefined> {
  const [gateway] = gateways.values();
  if (gateway !== undefined && isLoopback(listen.host)) {
    await server.listenAlso(gateway);
    await publish(gateway);
  }
  return publishDns(client, gateways);
}
