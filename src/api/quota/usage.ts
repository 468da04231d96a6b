/** Amounts by resource name. Pure. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isZeroQuantity,
  parseQuantity,
  type Quantity,
  quantityOf,
  quantitySign,
  subtractQuantities,
} from '../quantity.ts';

export type Usage = ReadonlyMap<string, Quantity>;

export const nothingUsed: Usage = new Map();
export const zero = quantityOf(0);
export const one = quantityOf(1);

export const parseUsage = (list: Readonly<Record<string, string>> | undefined): Usage =>
  new Map(Object.entries(list ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]));

export const formatUsage = (usage: Usage): Record<string, string> => Object.fromEntries([...usage].map(([name, amount]) => [name, formatQuantity(amount)]));

export function addUsage(a: Usage, b: Usage): Usage {
  const sum = new Map(a);
  for (const [name, amount] of b) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
  return sum;
}

/** The same amounts of the same names, written in the same way. */
export function sameUsage(a: Usage, b: Usage): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, amount]) => {
    const other = b.get(name);
    return other !== undefined && (other === amount || (other.format === amount.format && compareQuantities(other, amount) === 0));
  });
}

/** What `a` uses more than `b`; resources that it uses less of are left out. */
export function growth(a: Usage, b: Usage): Usage {
  const more = new Map<string, Quantity>();
  for (const [name, amount] of a) {
    const before = b.get(name);
    const difference = before === undefined ? amount : subtractQuantities(amount, before);
    if (quantitySign(difference) > 0) more.set(name, difference);
  }
  return more;
}

export const restrict = (usage: Usage, concerns: (name: string) => boolean): Usage =>
  new Map([...usage].filter(([name, amount]) => concerns(name) && !isZeroQuantity(amount)));

export const negativeNames = (usage: Usage): string[] =>
  [...usage]
    .filter(([, amount]) => quantitySign(amount) < 0)
    .map(([name]) => name)
    .sort();

/** The names of which `usage` has more than `hard`. */
export function exceeded(usage: Usage, hard: Usage): string[] {
  return [...usage].flatMap(([name, amount]) => {
    const bound = hard.get(name);
    return bound !== undefined && compareQuantities(amount, bound) > 0 ? [name] : [];
  });
}

/** 'persistentvolumeclaims=1,requests.storage=5Gi' */
export function describeUsage(usage: Usage, names: readonly string[]): string {
  return [...names]
    .sort()
    .flatMap((name) => {
      const amount = usage.get(name);
      return amount === undefined ? [] : [`${name}=${formatQuantity(amount)}`];
    })
    .join(',');
}
