import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';

/**
 * The address of the API server in the endpoints of the Service `kubernetes`. As in Kubernetes: the one it listens on, unless that is unspecified or
 * loopback; then one of the machine's interfaces. undefined: the machine has none.
 */
export function advertisedAddress(listening: string): string | undefined {
  if (isIP(listening) !== 0 && !isLocal(listening)) return listening;
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const others = addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80:') && !address.startsWith('169.254.'));
  return (others.find(({ family }) => family === 'IPv4') ?? others[0])?.address;
}

const isLocal = (address: string): boolean => address === '0.0.0.0' || address === '::' || isLoopback(address);

export const isLoopback = (address: string): boolean => address === 'localhost' || address === '::1' || address.startsWith('127.');
