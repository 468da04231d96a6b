/** Kubernetes' CEL libraries (v1.36.4: apiserver/pkg/cel/environment/base.go): lists and regular expressions here, the others in the files beside this. */
import type { Environment } from '@marcbachmann/cel-js';
import { type Pattern, patternOf } from '../pattern.ts';
import { registerAddresses } from './addresses.ts';
import { registerNamedFormats } from './named-formats.ts';
import { registerQuantities } from './quantities.ts';
import { registerSets } from './sets.ts';
import { registerFormat } from './text-format.ts';
import { registerUrls } from './urls.ts';
import { registerVersions } from './versions.ts';

type Comparable = bigint | number | string;

/** `optional`: makes a CEL optional; of undefined, an empty one. */
export function registerExtensions(environment: Environment, optional: (value: unknown) => unknown): Environment {
  registerLists(environment);
  registerText(environment);
  registerFormat(environment);
  registerSets(environment);
  registerAddresses(environment);
  registerUrls(environment);
  registerQuantities(environment);
  registerVersions(environment);
  registerNamedFormats(environment, optional);
  return environment;
}

function registerLists(environment: Environment): void {
  const smaller = (a: Comparable, b: Comparable): boolean => a < b;
  environment
    .registerFunction('list.isSorted(): bool', (list: readonly Comparable[]) => list.every((item, i) => i === 0 || !smaller(item, list[i - 1] as Comparable)))
    .registerFunction('list.sum(): dyn', (list: readonly (bigint | number)[]) => sum(list))
    .registerFunction('list.min(): dyn', (list: readonly Comparable[]) => extreme(list, smaller))
    .registerFunction('list.max(): dyn', (list: readonly Comparable[]) => extreme(list, (a, b) => smaller(b, a)))
    .registerFunction('list.reverse(): list', (list: readonly unknown[]) => [...list].reverse())
    .registerFunction('list.slice(int, int): list', slice)
    .registerFunction('list.indexOf(dyn): int', (list: readonly unknown[], item: unknown) => BigInt(list.indexOf(item)))
    .registerFunction('list.lastIndexOf(dyn): int', (list: readonly unknown[], item: unknown) => BigInt(list.lastIndexOf(item)));
}

function slice(list: readonly unknown[], start: bigint, end: bigint): readonly unknown[] {
  if (start < 0n || end < 0n) throw new Error(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) throw new Error(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > BigInt(list.length)) throw new Error(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
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
    // cel-js's own `matches` backtracks: environment.ts renames its calls to this.
    .registerFunction('string.matchesPattern(string): bool', (text: string, pattern: string) => regexpOf(pattern).test(text))
    .registerFunction('matches(string, string): bool', (text: string, pattern: string) => regexpOf(pattern).test(text))
    .registerFunction('string.find(string): string', (text: string, pattern: string) => regexpOf(pattern).find(text) ?? '')
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => regexpOf(pattern).findAll(text))
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
      regexpOf(pattern).findAll(text, limit < 0n ? undefined : Number(limit)),
    )
    .registerFunction('string.replace(string, string): string', (text: string, old: string, by: string) => text.replaceAll(old, () => by))
    .registerFunction('string.replace(string, string, int): string', replaceSome)
    .registerFunction('string.charAt(int): string', (text: string, at: bigint) => Array.from(text)[Number(at)] ?? '');
}

function replaceSome(text: string, old: string, by: string, limit: bigint): string {
  if (limit < 0n) return text.replaceAll(old, () => by);
  const parts = text.split(old);
  const kept = Number(limit) >= parts.length ? parts.length - 1 : Number(limit);
  return [parts.slice(0, kept + 1).join(by), ...parts.slice(kept + 1)].join(old);
}

function regexpOf(source: string): Pattern {
  const pattern = patternOf(source);
  if (pattern instanceof Error) throw new Error(`Illegal regex: ${pattern.message}`);
  return pattern;
}
