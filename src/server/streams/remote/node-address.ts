import type { Node } from '../../../api/generated/types.ts';
import { ApiError } from '../../../api/status.ts';
import { nothingRuns } from '../hollow.ts';

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** As kubeadm has it. */
const preferred = ['InternalIP', 'ExternalIP', 'Hostname'];

/** Where a node's own endpoint is, as the node announces it. @throws ApiError if it announces none */
export function addressOf({ metadata: { name = '' }, status }: Node): NodeAddress {
  const addresses = status.addresses ?? [];
  const port = status.daemonEndpoints.kubeletEndpoint.Port;
  const host = preferred.flatMap((type) => addresses.filter((each) => each.type === type))[0]?.address;
  if (host === undefined) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
    throw new ApiError(500, '', `no preferred addresses found; known addresses: [${known}]`);
  }
  if (port <= 0) throw nothingRuns(name);
  return { host, port };
}

export const urlOf = ({ host, port }: NodeAddress, path: string): string => `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
