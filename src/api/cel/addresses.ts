/** ip() and cidr(), as Kubernetes adds them to the language (v1.36.4: apiserver/pkg/cel/library/{ip,cidr}.go). */
import type { Environment } from '@marcbachmann/cel-js';
import { type Cidr, formatIp, type IpAddress, parseCidr, parseIp } from '../validation/ip.ts';
import { quoteGo } from '../json.ts';

class CelIp {
  readonly ip: IpAddress;
  constructor(ip: IpAddress) {
    this.ip = ip;
  }
  toString(): string {
    return formatIp(this.ip);
  }
}

class CelCidr {
  readonly cidr: Cidr;
  constructor(cidr: Cidr) {
    this.cidr = cidr;
  }
  toString(): string {
    return `${formatIp(this.cidr.ip)}/${this.cidr.prefix}`;
  }
}

/** The value of `ip` outside a call. */
class IpLibrary {
  isCanonical(text: string): boolean {
    return readIp(text).toString() === text;
  }
}

export function registerAddresses(environment: Environment): void {
  registerIps(environment);
  registerRanges(environment);
}

function registerIps(environment: Environment): void {
  const is = (name: string, test: (bytes: readonly number[]) => boolean): void => {
    environment.registerFunction(`net.IP.${name}(): bool`, ({ ip }: CelIp) => test(ip.bytes));
  };
  environment
    .registerType('net.IP', { ctor: CelIp, fields: {} })
    .registerType('kubernetes.IPLibrary', { ctor: IpLibrary, fields: {} })
    .registerConstant('ip', 'kubernetes.IPLibrary', new IpLibrary())
    .registerFunction('ip(string): net.IP', readIp)
    .registerFunction('isIP(string): bool', (text: string) => usableIp(text) instanceof CelIp)
    .registerFunction('kubernetes.IPLibrary.isCanonical(string): bool', (library: IpLibrary, text: string) => library.isCanonical(text))
    .registerFunction('string(net.IP): string', String)
    .registerFunction('net.IP.family(): int', ({ ip }: CelIp) => (ip.bytes.length === 4 ? 4n : 6n))
    .registerOperator('net.IP == net.IP', (a: CelIp, b: CelIp) => a.toString() === b.toString());
  is('isUnspecified', isUnspecified);
  is('isLoopback', isLoopback);
  is('isLinkLocalMulticast', isLinkLocalMulticast);
  is('isLinkLocalUnicast', isLinkLocalUnicast);
  is('isGlobalUnicast', (bytes) => !isBroadcast(bytes) && !isUnspecified(bytes) && !isLoopback(bytes) && !isMulticast(bytes) && !isLinkLocalUnicast(bytes));
}

const isUnspecified = (bytes: readonly number[]): boolean => bytes.every((byte) => byte === 0);
const isBroadcast = (bytes: readonly number[]): boolean => bytes.length === 4 && bytes.every((byte) => byte === 255);
const isLoopback = (bytes: readonly number[]): boolean => (bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, i) => byte === (i === 15 ? 1 : 0)));
const isMulticast = (bytes: readonly number[]): boolean => (bytes.length === 4 ? ((bytes[0] ?? 0) & 0xf0) === 0xe0 : bytes[0] === 0xff);
const isLinkLocalMulticast = (bytes: readonly number[]): boolean =>
  bytes.length === 4 ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0 : bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 2;
const isLinkLocalUnicast = (bytes: readonly number[]): boolean =>
  bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80;

/** Or why it is invalid. */
function usableIp(text: string): CelIp | string {
  const ip = parseIp(text);
  if (ip === undefined || ip.leadingZeros) {
    const zone = text.includes('%') && parseIp(text.slice(0, text.indexOf('%')))?.bytes.length === 16;
    if (zone) return `IP address ${quoteGo(text)} with zone value is not allowed`;
    return `IP Address ${quoteGo(text)} parse error during conversion from string: ParseAddr(${quoteGo(text)}): unable to parse IP`;
  }
  return ip.mapped ? `IPv4-mapped IPv6 address ${quoteGo(text)} is not allowed` : new CelIp(ip);
}

function readIp(text: string): CelIp {
  const ip = usableIp(text);
  if (typeof ip === 'string') throw new Error(ip);
  return ip;
}

function registerRanges(environment: Environment): void {
  environment
    .registerType('net.CIDR', { ctor: CelCidr, fields: {} })
    .registerFunction('cidr(string): net.CIDR', readCidr)
    .registerFunction('isCIDR(string): bool', (text: string) => usableCidr(text) instanceof CelCidr)
    .registerFunction('string(net.CIDR): string', String)
    .registerFunction('net.CIDR.containsIP(net.IP): bool', ({ cidr }: CelCidr, { ip }: CelIp) => contains(cidr, ip))
    .registerFunction('net.CIDR.containsIP(string): bool', ({ cidr }: CelCidr, text: string) => contains(cidr, readIp(text).ip))
    .registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', (a: CelCidr, b: CelCidr) => containsRange(a.cidr, b.cidr))
    .registerFunction('net.CIDR.containsCIDR(string): bool', (a: CelCidr, text: string) => containsRange(a.cidr, readCidr(text).cidr))
    .registerFunction('net.CIDR.ip(): net.IP', ({ cidr }: CelCidr) => new CelIp(cidr.ip))
    .registerFunction('net.CIDR.prefixLength(): int', ({ cidr }: CelCidr) => BigInt(cidr.prefix))
    .registerFunction('net.CIDR.masked(): net.CIDR', ({ cidr }: CelCidr) => {
      const { ip, prefix } = cidr;
      return new CelCidr({ ...cidr, ip: { ...ip, bytes: ip.bytes.map((byte, i) => byte & maskOf(prefix, i)) } });
    })
    .registerOperator('net.CIDR == net.CIDR', (a: CelCidr, b: CelCidr) => a.toString() === b.toString());
}

function usableCidr(text: string): CelCidr | string {
  const cidr = parseCidr(text);
  const problem = 'network address parse error during conversion from string: ';
  if (cidr === undefined || cidr.leadingZeros) return `${problem}${problem}netip.ParsePrefix(${quoteGo(text)}): unable to parse`;
  return cidr.ip.mapped ? `${problem}IPv4-mapped IPv6 address ${quoteGo(text)} is not allowed` : new CelCidr(cidr);
}

function readCidr(text: string): CelCidr {
  const cidr = usableCidr(text);
  if (typeof cidr === 'string') throw new Error(cidr);
  return cidr;
}

/** The bits of a byte that a prefix covers. */
const maskOf = (prefix: number, place: number): number => (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * place))) & 0xff;

function contains({ ip: base, prefix }: Cidr, ip: IpAddress): boolean {
  return base.bytes.length === ip.bytes.length && base.bytes.every((byte, i) => ((byte ^ (ip.bytes[i] ?? 0)) & maskOf(prefix, i)) === 0);
}

const containsRange = (outer: Cidr, inner: Cidr): boolean => outer.prefix <= inner.prefix && contains(outer, inner.ip);
