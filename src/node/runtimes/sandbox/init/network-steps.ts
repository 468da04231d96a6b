/** Sets up the interfaces of a network namespace, by ioctl(2): its loopback, and eth0, which exists already. */
import { resultOf, type Step } from './program.ts';

export interface InterfaceAddress {
  /** '10.128.0.5'. */
  readonly address: string;
  /** The length of the network's prefix. */
  readonly prefix: number;
  /** The way to all other networks. */
  readonly gateway: string;
}

const requests = { addRoute: 0x890b, setFlags: 0x8914, setAddress: 0x8916, setNetmask: 0x891c } as const;
const [up, isGateway] = [1, 2];
const [internet, datagram, closeOnExec] = [2, 2, 0o2_000_000];

export function networkSteps({ address, prefix, gateway }: InterfaceAddress): readonly Step[] {
  const failure = 'cannot set up the network';
  const all = [
    [requests.setFlags, flagsOf('lo')],
    [requests.setAddress, interfaceRequest('eth0', socketAddress(bytesOf(address)))],
    [requests.setNetmask, interfaceRequest('eth0', socketAddress(netmask(prefix)))],
    [requests.setFlags, flagsOf('eth0')],
    [requests.addRoute, defaultRoute(gateway)],
  ] as const;
  // A socket for each: a result is used once.
  return all.flatMap(([request, structure], index): readonly Step[] => [
    { call: 'socket', args: [internet, datagram | closeOnExec, 0], result: `socket ${index}`, failure },
    { call: 'ioctl', args: [resultOf(`socket ${index}`), request, structure], failure },
  ]);
}

/** The structure `ifreq`. */
function interfaceRequest(name: string, content: Buffer): Buffer {
  const bytes = Buffer.alloc(40);
  bytes.write(name, 'latin1');
  content.copy(bytes, 16);
  return bytes;
}

const flagsOf = (name: string): Buffer => interfaceRequest(name, Buffer.from([up, 0]));

/** The structure `sockaddr_in`. */
function socketAddress(address: readonly number[]): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(internet);
  bytes.set(address, 4);
  return bytes;
}

/** The structure `rtentry`: a destination, a gateway, a mask, flags. */
function defaultRoute(gateway: string): Buffer {
  const any = socketAddress([0, 0, 0, 0]);
  const bytes = Buffer.alloc(120);
  for (const [address, offset] of [
    [any, 8],
    [socketAddress(bytesOf(gateway)), 24],
    [any, 40],
  ] as const)
    address.copy(bytes, offset);
  bytes.writeUInt16LE(up | isGateway, 56);
  return bytes;
}

const bytesOf = (address: string): readonly number[] => address.split('.').map(Number);

/** Of a prefix of this length. */
export const netmask = (prefix: number): readonly number[] => [0, 8, 16, 24].map((before) => 256 - 2 ** (8 - Math.min(8, Math.max(0, prefix - before))));
