/**
 * Cluster IPs and node ports: each allocated one is a key of its own beside the Services, written and removed in the
 * transactions that create, change and delete Services. So no two Services have the same one, and none leaks.
 */
import type { IPAddress, Service } from '../../api/generated/types.ts';
import { prefixEnd, type Store } from '../../store/contract.ts';
import type { Clock, Random } from '../../world/world.ts';
import { fillSystemFields } from './metadata.ts';
import { encode } from './object-revision.ts';
import { keyOf, type Resource } from './resources.ts';
import type { TransactionDraft } from './transaction.ts';

const IPS = '/mooring/cluster-ips/';
const PORTS = '/mooring/node-ports/';
/** The IPAddress objects of cluster IPs, and of addresses that clients keep for other purposes. */
const IP_ADDRESSES = '/registry/networking.k8s.io/ipaddresses/';

/** Random tries before all allocations are read to find a free one. */
const PROBES = 16;

/** A range of numbers to allocate from: IPv4 addresses or ports. */
export interface Pool {
  readonly prefix: string;
  /** Objects that occupy a number as well, by the number as it is written. */
  readonly objects?: string;
  readonly first: number;
  readonly last: number;
  /** Lower numbers are reserved for static allocation as long as higher ones are free (upstream: ipallocator). */
  readonly firstDynamic: number;
  /** How a number is written: '10.96.0.1', '30080'. */
  readonly format: (number: number) => string;
  /** undefined: it is not in the pool. */
  readonly parse: (text: string) => number | undefined;
  /** '10.96.0.0/12', '30000-32767' */
  readonly text: string;
}

/** `cidr`: '10.96.0.0/12'. The first address is the API server's own service. */
export function ipPool(cidr: string): Pool {
  const [address = '', bits = ''] = cidr.split('/');
  const base = parseIp(address);
  const size = 2 ** (32 - Number(bits));
  if (base === undefined || !Number.isInteger(size) || size < 4) throw new Error(`not a usable IPv4 network: ${cidr}`);
  const offset = Math.min(Math.max(16, size / 16), 256);
  return {
    prefix: IPS,
    objects: IP_ADDRESSES,
    first: base + 1,
    last: base + size - 2,
    firstDynamic: size > 32 ? base + offset : base + 2,
    format: formatIp,
    parse: (text) => {
      const ip = parseIp(text);
      return ip !== undefined && ip > base && ip < base + size - 1 ? ip : undefined;
    },
    text: cidr,
  };
}

export function portPool(first: number, last: number): Pool {
  const size = last - first + 1;
  const offset = Math.min(Math.max(16, Math.floor(size / 32)), 128);
  return {
    prefix: PORTS,
    first,
    last,
    firstDynamic: size > 2 * offset ? first + offset : first,
    format: String,
    parse: (text) => (Number(text) >= first && Number(text) <= last ? Number(text) : undefined),
    text: `${first}-${last}`,
  };
}

function parseIp(text: string): number | undefined {
  const parts = text.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return undefined;
  return parts.reduce((ip, part) => ip * 256 + part, 0);
}

const formatIp = (ip: number): string => [ip >>> 24, (ip >>> 16) & 255, (ip >>> 8) & 255, ip & 255].join('.');

export type AllocationResult = { readonly type: 'taken'; readonly text: string } | { readonly type: 'refused'; readonly why: 'allocated' | 'outside' | 'full' };

/** Allocates from a pool within a transaction, which requires that the key of the allocation does not exist: none is given out twice. */
export class AddressAllocator {
  readonly #draft: TransactionDraft;
  readonly #store: Store;
  readonly #owner: Uint8Array;
  readonly #free = new Map<Pool, Iterator<string>>();

  constructor(draft: TransactionDraft, store: Store, owner: string) {
    this.#draft = draft;
    this.#store = store;
    this.#owner = Buffer.from(owner);
  }

  async allocate(pool: Pool, text: string): Promise<AllocationResult> {
    const number = pool.parse(text);
    if (number === undefined) return { type: 'refused', why: 'outside' };
    const canonical = pool.format(number);
    if (await this.#isTaken(pool, canonical)) return { type: 'refused', why: 'allocated' };
    return this.#record(pool.prefix + canonical, canonical);
  }

  async allocateNext(pool: Pool, random: Random): Promise<AllocationResult> {
    for (let probe = 0; probe < PROBES; probe++) {
      const text = pool.format(pool.firstDynamic + Math.floor(random.float() * (pool.last - pool.firstDynamic + 1)));
      if (!this.#draft.isWritten(pool.prefix + text) && !(await this.#isTaken(pool, text))) return this.#record(pool.prefix + text, text);
    }
    const free = await this.#freeIn(pool);
    for (let next = free.next(); next.done !== true; next = free.next())
      if (!this.#draft.isWritten(pool.prefix + next.value)) return this.#record(pool.prefix + next.value, next.value);
    return { type: 'refused', why: 'full' };
  }

  async #isTaken({ prefix, objects }: Pool, text: string): Promise<boolean> {
    if ((await this.#store.get(prefix + text)) !== undefined) return true;
    return objects !== undefined && (await this.#store.get(objects + text)) !== undefined;
  }

  /** What the store has free, read once: one Service may ask for the whole range. What was tried is not tried again. */
  async #freeIn(pool: Pool): Promise<Iterator<string>> {
    const known = this.#free.get(pool);
    if (known !== undefined) return known;
    const taken = new Set<string>();
    for (const prefix of [pool.prefix, ...(pool.objects === undefined ? [] : [pool.objects])]) {
      const { entries } = await this.#store.range({ from: prefix, to: prefixEnd(prefix) });
      for (const { key } of entries) taken.add(key.slice(prefix.length));
    }
    const free = freeNumbers(pool, taken);
    this.#free.set(pool, free);
    return free;
  }

  #record(key: string, text: string): AllocationResult {
    this.#draft.expect(key, 0);
    this.#draft.putBytes(key, this.#owner);
    return { type: 'taken', text };
  }
}

/** Those for static allocation come last. */
function* freeNumbers({ first, firstDynamic, last, format }: Pool, taken: ReadonlySet<string>): Generator<string> {
  for (let i = 0; i <= last - first; i++) {
    const number = firstDynamic + i <= last ? firstDynamic + i : first + (firstDynamic + i - last - 1);
    if (!taken.has(format(number))) yield format(number);
  }
}

export function releaseIp(draft: TransactionDraft, ip: string): void {
  draft.remove(IPS + ip);
  draft.remove(IP_ADDRESSES + ip);
}

export const releasePort = (draft: TransactionDraft, port: number): void => draft.remove(`${PORTS}${port}`);

/** Releases all IPs and ports of a Service. */
export function releaseAddresses(draft: TransactionDraft, { spec }: Service): void {
  for (const ip of clusterIpsOf(spec)) releaseIp(draft, ip);
  for (const port of nodePortsOf(spec)) releasePort(draft, port);
}

const clusterIpsOf = ({ clusterIPs = [] }: Service['spec']): readonly string[] => clusterIPs.filter((ip) => ip !== 'None' && ip !== '');

export interface ServiceChange {
  readonly service: Service;
  /** undefined: the Service is new. */
  readonly old: Service | undefined;
  /** Where IPAddresses are stored. */
  readonly ipAddresses: Resource;
  readonly world: { readonly clock: Clock; readonly random: Random };
}

/** Writes an IPAddress for each cluster IP that a Service has got, as kube-apiserver's allocator does. */
export function recordClusterIps(draft: TransactionDraft, { service, old, ipAddresses, world }: ServiceChange): void {
  const before = old === undefined ? [] : clusterIpsOf(old.spec);
  for (const ip of clusterIpsOf(service.spec)) {
    if (before.includes(ip)) continue;
    const address = ipAddressOf(service, ip);
    fillSystemFields(address, world);
    const key = keyOf(ipAddresses, '', ip);
    draft.expect(key, 0);
    draft.put(key, encode(ipAddresses, address));
  }
}

/** The IPAddress of a cluster IP. */
export const ipAddressOf = ({ metadata: { namespace = '', name = '' } }: Pick<Service, 'metadata'>, ip: string): IPAddress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  metadata: {
    name: ip,
    labels: { 'ipaddress.kubernetes.io/ip-family': ip.includes(':') ? 'IPv6' : 'IPv4', 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' },
  },
  spec: { parentRef: { resource: 'services', namespace, name } },
});

/** The node ports of a service, the one for health checks included. */
export function nodePortsOf({ ports = [], healthCheckNodePort = 0 }: Service['spec']): Set<number> {
  const all = [...ports.map((port) => port.nodePort ?? 0), healthCheckNodePort];
  return new Set(all.filter((port) => port !== 0));
}
