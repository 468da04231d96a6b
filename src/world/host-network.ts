/** The network of this machine: packet filters, links, addresses, routes and kernel parameters. Texts are of the programs nft(8), ip(8), bridge(8) and conntrack(8). */
export interface HostNetwork {
  /** All commands in one transaction. Resolves with the error; '': none. */
  nft(commands: string): Promise<string>;
  /** One command for each line; a failing one does not stop those after it. Resolves with the errors; '': none. */
  ip(commands: string): Promise<string>;
  /** The same for bridge(8): forwarding entries of a tunnel. */
  bridge(commands: string): Promise<string>;
  /** Removes entries of connection tracking. Resolves with the error; '': none, also if there was no such entry. */
  conntrack(args: readonly string[]): Promise<string>;
  /** `name`: 'net/ipv4/ip_forward'. Undefined: the kernel has no such parameter. */
  sysctl(name: string): Promise<string | undefined>;
  /** Resolves with the error; '': none. */
  setSysctl(name: string, value: string): Promise<string>;
}
