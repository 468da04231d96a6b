import type { Node } from '../../../api/generated/types.ts';
import { ApiError } from '../../../api/status.ts';
import { noKubelet } from '../no-kubelet.ts';

export interface KubeletAddress {
  readonly host: string;
  readonly port: number;
}

/** kubeadm's --kubelet-preferred-address-types. */
const preferred = ['InternalIP', 'ExternalIP', 'Hostname'];

/** The address of a node's kubelet, from its status. @throws ApiError if there is none */
export function kubeletAddress({ metadata: { name = '' }, status }: Node): KubeletAddress {
  const addresses = status.addresses ?? [];
  const port = status.daemonEndpoints.kubeletEndpoint.Port;
  const host = preferred.flatMap((type) => addresses.filter((each) => each.type === type))[0]?.address;
  if (host === undefined) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
    throw new ApiError(500, '', `no preferred addresses found; known addresses: [${known}]`);
  }
  if (port <= 0) throw noKubelet(name);
  return { host, port };
}

export const urlOf = ({ host, port }: KubeletAddress, path: string): string => `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
