/** What Kubernetes adds to the language: lists, regular expressions, URLs, addresses, quantities. */
import type { Environment } from '@marcbachmann/cel-js';
import { type Pattern, patternOf } from '../regexp/pattern.ts';
import { compareQuantities, parseQuantity, type Quantity } from '../quantity.ts';
import { isIpv4, parseCidr, parseIp } from '../validation/ip.ts';

/** A quantity in an expression. */
class CelQuantity {
  readonly value: Quantity;
  constructor(value: Quantity) {
    this.value = value;
  }
}

class CelUrl {
  readonly url: URL;
  constructor(url: URL) {
    this.url = url;
  }
}

type Comparable = bigint | number | string;

export function registerExtensions(environment: Environment): Environment {
  registerLists(environment);
  registerText(environment);
  registerAddresses(environment);
  return registerQuantities(environment);
}

function registerLists(environment: Environment): void {
  const smaller = (a: Comparable, b: Comparable): boolean => a < b;
  environment
    .registerFunction('list.isSorted(): bool', (list: readonly Comparable[]) => list.every((item, i) => i === 0 || !smaller(item, list[i - 1] as Comparable)))
    .registerFunction('list.sum(): dyn', (list: readonly (bigint | number)[]) => sum(list))
    .registerFunction('list.min(): dyn', (list: readonly Comparable[]) => extreme(list, smaller))
    .registerFunction('list.max(): dyn', (list: readonly Comparable[]) => extreme(list, (a, b) => smaller(b, a)))
    .registerFunction('list.indexOf(dyn): int', (list: readonly unknown[], item: unknown) => BigInt(list.indexOf(item)))
    .registerFunction('list.lastIndexOf(dyn): int', (list: readonly unknown[], item: unknown) => BigInt(list.lastIndexOf(item)));
}

function sum(list: readonly (bigint | number)[]): bigint | number {
  if (typeof list[0] === 'number') return list.reduce<number>((total, item) => total + Number(item), 0);
  return list.reduce<bigint>((total, item) => total + BigInt(item), 0n);
}

function extreme(list: readonly Comparable[], isBetter: (a: Comparable, b: Comparable) => boolean): Comparable {
  const [first, ...others] = list;
  if (first === undefined) throw new Error('min/max called on empty list');
  return others.reduce((best, item) => (isBetter(item, best) ? item : best), first);
}

function registerText(environment: Environment): void {
  environment
    // `matches` of the language itself would go back and try again: calls of it are led here.
    .registerFunction('string.matchesPattern(string): bool', (text: string, pattern: string) => regexpOf(pattern).test(text))
    .registerFunction('matches(string, string): bool', (text: string, pattern: string) => regexpOf(pattern).test(text))
    .registerFunction('string.find(string): string', (text: string, pattern: string) => regexpOf(pattern).find(text) ?? '')
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => regexpOf(pattern).findAll(text))
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
      regexpOf(pattern).findAll(text, limit < 0n ? undefined : Number(limit)),
    )
    .registerFunction('string.replace(string, string): string', (text: string, old: string, by: string) => text.replaceAll(old, () => by))
    .registerFunction('string.charAt(int): string', (text: string, at: bigint) => Array.from(text)[Number(at)] ?? '');
}

function regexpOf(source: string): Pattern {
  const pattern = patternOf(source);
  if (pattern instanceof Error) throw new Error(`Illegal regex: ${pattern.message}`);
  return pattern;
}

function registerAddresses(environment: Environment): void {
  environment
    .registerType('kubernetes.URL', CelUrl)
    .registerFunction('url(string): kubernetes.URL', (text: string) => new CelUrl(new URL(text)))
    .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text))
    .registerFunction('kubernetes.URL.getScheme(): string', ({ url }: CelUrl) => url.protocol.replace(/:$/, ''))
    .registerFunction('kubernetes.URL.getHost(): string', ({ url }: CelUrl) => url.host)
    .registerFunction('kubernetes.URL.getHostname(): string', ({ url }: CelUrl) => url.hostname)
    .registerFunction('kubernetes.URL.getPort(): string', ({ url }: CelUrl) => url.port)
    .registerFunction('kubernetes.URL.getEscapedPath(): string', ({ url }: CelUrl) => url.pathname)
    .registerFunction('isIP(string): bool', (text: string) => parseIp(text)?.leadingZeros === false)
    .registerFunction('isIP(string, int): bool', (text: string, family: bigint) => {
      const ip = parseIp(text);
      return ip !== undefined && isIpv4(ip) === (family === 4n);
    })
    .registerFunction('isCIDR(string): bool', (text: string) => parseCidr(text) !== undefined);
}

function registerQuantities(environment: Environment): Environment {
  const read = (text: string): CelQuantity => new CelQuantity(parseQuantity(text));
  return environment
    .registerType('kubernetes.Quantity', CelQuantity)
    .registerFunction('quantity(string): kubernetes.Quantity', read)
    .registerFunction('isQuantity(string): bool', isQuantity)
    .registerFunction('kubernetes.Quantity.compareTo(kubernetes.Quantity): int', (a: CelQuantity, b: CelQuantity) =>
      BigInt(compareQuantities(a.value, b.value)),
    )
    .registerFunction('kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool', (a: CelQuantity, b: CelQuantity) => compareQuantities(a.value, b.value) < 0)
    .registerFunction(
      'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool',
      (a: CelQuantity, b: CelQuantity) => compareQuantities(a.value, b.value) > 0,
    )
    .registerFunction('kubernetes.Quantity.sign(): int', (a: CelQuantity) => BigInt(compareQuantities(a.value, parseQuantity('0'))));
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}
