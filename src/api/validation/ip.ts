import { type FieldError, invalid } from '../field-error.ts';

/** An IP address as numbers: 4 or 16 of them. */
export interface IpAddress {
  readonly bytes: readonly number[];
  /** Written as IPv4 within IPv6: '::ffff:10.0.0.1'. */
  readonly mapped: boolean;
  /** An octet was written with a zero before it, which some programs read as octal. */
  readonly leadingZeros: boolean;
}

/** Reads an address as Kubernetes always has: leading zeros in octets count for nothing. */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^[0-9]+$/.test(part) && Number(part) <= 255)) return undefined;
  return { bytes: parts.map(Number), mapped: false, leadingZeros: parts.some((part) => part.length > 1 && part.startsWith('0')) };
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const tail = halves.length === 2 ? (halves[1] ?? '') : '';
  const head = readGroups(halves[0] ?? '', halves.length === 1);
  const end = readGroups(tail, true);
  if (head === undefined || end === undefined) return undefined;
  const missing = 16 - head.bytes.length - end.bytes.length;
  // "::" stands for at least one group of zeros.
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined;
  const bytes = [...head.bytes, ...Array<number>(missing).fill(0), ...end.bytes];
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return { bytes, mapped, leadingZeros: head.leadingZeros || end.leadingZeros };
}

/** The groups on one side of "::"; only the last may be an IPv4 address. */
function readGroups(text: string, last: boolean): { bytes: number[]; leadingZeros: boolean } | undefined {
  if (text === '') return { bytes: [], leadingZeros: false };
  const bytes: number[] = [];
  const groups = text.split(':');
  let leadingZeros = false;
  for (const [i, group] of groups.entries()) {
    if (group.includes('.')) {
      const ipv4 = last && i === groups.length - 1 ? parseIpv4(group) : undefined;
      if (ipv4 === undefined) return undefined;
      bytes.push(...ipv4.bytes);
      leadingZeros = ipv4.leadingZeros;
    } else if (/^[0-9a-fA-F]{1,4}$/.test(group)) bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff);
    else return undefined;
  }
  return { bytes, leadingZeros };
}

export const isIpv4 = (ip: IpAddress): boolean => ip.bytes.length === 4 || ip.mapped;

/** The canonical form (RFC 5952): lower case, no leading zeros, the longest run of zeros as "::". */
export function formatIp(ip: IpAddress): string {
  if (isIpv4(ip)) return ip.bytes.slice(-4).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((ip.bytes[2 * i] ?? 0) << 8) | (ip.bytes[2 * i + 1] ?? 0));
  const run = longestZeroRun(groups);
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (run.length < 2) return hex(groups);
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.length))}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

const notAnAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** An address in a field from before addresses had one form only; those that the old object had may stay. */
export function validateLegacyIp(text: string, field: string, old: readonly string[] = []): FieldError[] {
  if (old.includes(text)) return [];
  const ip = parseIp(text);
  if (ip === undefined) return [invalid(field, text, notAnAddress)];
  const errors = ip.leadingZeros ? [invalid(field, text, 'must not have leading 0s')] : [];
  return ip.mapped && !ip.leadingZeros ? [invalid(field, text, 'must not be an IPv4-mapped IPv6 address')] : errors;
}

/** An address in the one form it should have. */
export function validateIp(text: string, field: string): FieldError[] {
  const errors = validateLegacyIp(text, field);
  const ip = parseIp(text);
  if (errors.length > 0 || ip === undefined || formatIp(ip) === text) return errors;
  return [invalid(field, text, `must be in canonical form (${JSON.stringify(formatIp(ip))})`)];
}

/** What clients are told about an address that is accepted but should be written otherwise. */
export function ipWarnings(text: string, field: string): string[] {
  const ip = parseIp(text);
  if (ip === undefined) return [];
  if (ip.leadingZeros || ip.mapped) return [`${field}: non-standard IP address ${JSON.stringify(text)} is invalid: use ${JSON.stringify(formatIp(ip))}`];
  if (ip.bytes.length === 16 && formatIp(ip) !== text) {
    return [`${field}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(formatIp(ip))})`];
  }
  return [];
}

/** A range of addresses, '10.9.8.0/24'. */
export interface Cidr {
  readonly ip: IpAddress;
  readonly prefix: number;
  readonly leadingZeros: boolean;
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const ip = parseIp(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (ip === undefined || !/^[0-9]+$/.test(length) || Number(length) > ip.bytes.length * 8) return undefined;
  return { ip, prefix: Number(length), leadingZeros: ip.leadingZeros || (length.length > 1 && length.startsWith('0')) };
}

function masked(cidr: Cidr): IpAddress {
  const bytes = cidr.ip.bytes.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, cidr.prefix - 8 * i))) & 0xff);
  return { ...cidr.ip, bytes };
}

const hasHostBits = (cidr: Cidr): boolean => masked(cidr).bytes.some((byte, i) => byte !== cidr.ip.bytes[i]);

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(masked(cidr))}/${cidr.ip.mapped ? cidr.prefix - 96 : cidr.prefix}`;
}

export function validateLegacyCidr(text: string, field: string, old: readonly string[] = []): FieldError[] {
  if (old.includes(text)) return [];
  const cidr = parseCidr(text);
  if (cidr === undefined) return [invalid(field, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  if (cidr.leadingZeros) return [invalid(field, text, 'must not have leading 0s in IP or prefix length')];
  if (cidr.ip.mapped) return [invalid(field, text, 'must not have an IPv4-mapped IPv6 address')];
  return hasHostBits(cidr) ? [invalid(field, text, 'must not have bits set beyond the prefix length')] : [];
}

/** A range in the one form it should have. */
export function validateCidr(text: string, field: string): FieldError[] {
  const errors = validateLegacyCidr(text, field);
  const cidr = parseCidr(text);
  if (errors.length > 0 || cidr === undefined || formatCidr(cidr) === text) return errors;
  return [invalid(field, text, `must be in canonical form (${JSON.stringify(formatCidr(cidr))})`)];
}

export function cidrWarnings(text: string, field: string): string[] {
  const cidr = parseCidr(text);
  if (cidr === undefined) return [];
  const shown = JSON.stringify(text);
  const canonical = JSON.stringify(formatCidr(cidr));
  const warnings: string[] = [];
  if (hasHostBits(cidr)) {
    const single = `${formatIp(cidr.ip)}/${cidr.ip.bytes.length * 8}`;
    warnings.push(`${field}: CIDR value ${shown} is ambiguous in this context (should be ${canonical} or ${JSON.stringify(single)}?)`);
  }
  if (cidr.leadingZeros || cidr.ip.mapped) warnings.push(`${field}: non-standard CIDR value ${shown} is invalid: use ${canonical}`);
  if (warnings.length === 0 && cidr.ip.bytes.length === 16 && formatCidr(cidr) !== text) {
    warnings.push(`${field}: IPv6 CIDR value ${shown} should be in RFC 5952 canonical format (${canonical})`);
  }
  return warnings;
}
