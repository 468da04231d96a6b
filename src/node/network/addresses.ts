/** The addresses of a block such as '10.128.4.0/22', without its first and its last. */
interface Block {
  /** The block's first address, as a number. */
  readonly base: number;
  readonly size: number;
}

/** Undefined: it is no block of IPv4 addresses. */
function parseBlock(cidr: string): Block | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(cidr);
  if (match === null) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, prefix = 0] = match.slice(1).map(Number);
  if (prefix > 32 || [a, b, c, d].some((part) => part > 255)) return undefined;
  const size = 2 ** (32 - prefix);
  const address = ((a * 256 + b) * 256 + c) * 256 + d;
  return { base: address - (address % size), size };
}

export function addressAt(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

/**
 * A free address of the block; undefined: there is none. The search begins at a hash of the holder, so that an address that was released is
 * not the next to be assigned.
 */
export function freeAddress(cidr: string, taken: ReadonlySet<string>, holder: string): string | undefined {
  const block = parseBlock(cidr);
  const usable = block === undefined ? 0 : block.size - 2;
  if (block === undefined || usable < 1) return undefined;
  const start = hash(holder) % usable;
  for (let i = 0; i < usable && i <= taken.size; i++) {
    const address = addressAt(block.base + 1 + ((start + i) % usable));
    if (!taken.has(address)) return address;
  }
  return undefined;
}

/** Private networks that pod CIDRs are taken from; the first is the largest. */
const pools = ['10.128.0.0/9', '172.16.0.0/12', '100.64.0.0/10', '192.168.0.0/16'];
const podBlockPrefix = 22;

/**
 * A pod CIDR that overlaps none of those taken. It follows from a hash of the node's name: the node gets the same one with each start, and nodes
 * of two clusters on one machine rarely collide. If there is none, one that overlaps only wider routes: the narrower route wins.
 */
export function freeBlock(node: string, taken: readonly string[]): string {
  const used = taken.flatMap((cidr) => parseBlock(cidr) ?? []);
  const narrow = used.filter(({ size }) => size <= 2 ** 16);
  return findBlock(node, used) ?? findBlock(node, narrow) ?? findBlock(node, []) ?? '';
}

function findBlock(node: string, used: readonly Block[]): string | undefined {
  const size = 2 ** (32 - podBlockPrefix);
  for (const pool of pools.flatMap((cidr) => parseBlock(cidr) ?? [])) {
    const count = pool.size / size;
    const start = hash(node) % count;
    for (let i = 0; i < count; i++) {
      const base = pool.base + ((start + i) % count) * size;
      if (!used.some((other) => overlap(other, { base, size }))) return `${addressAt(base)}/${podBlockPrefix}`;
    }
  }
  return undefined;
}

/** All addresses that no host of the internet has: any block that `freeBlock` finds is one of them, and so may those be that an administrator chose. */
const privateNetworks = ['10.0.0.0/8', ...pools.slice(1)];

export function isPrivateBlock(cidr: string): boolean {
  const block = parseBlock(cidr);
  if (block === undefined) return false;
  return privateNetworks.flatMap((network) => parseBlock(network) ?? []).some(({ base, size }) => base <= block.base && block.base + block.size <= base + size);
}

/** Whether two blocks have an address in common. */
export function blocksOverlap(a: string, b: string): boolean {
  const [one, other] = [parseBlock(a), parseBlock(b)];
  return one !== undefined && other !== undefined && overlap(one, other);
}

const overlap = (a: Block, b: Block): boolean => a.base < b.base + b.size && b.base < a.base + a.size;

function hash(text: string): number {
  let value = 7;
  for (let i = 0; i < text.length; i++) value = (value * 31 + text.charCodeAt(i)) % 1_000_003;
  return value;
}
