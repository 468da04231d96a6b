import { compareQuantities } from '../quantity.ts';

/** Maps whose values are amounts. */
const amountMaps: ReadonlySet<string> = new Set(['limits', 'requests', 'overhead']);

/**
 * Whether two parts of a workload say the same, however they say it: a list or map that is empty is as good as none, but a
 * struct is not; and of amounts 1Gi and 1073741824 are the same.
 */
export function sameMeaning(a: unknown, b: unknown): boolean {
  return areSame(a, b, false);
}

function areSame(a: unknown, b: unknown, areAmounts: boolean): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true;
  if (typeof a === 'string' && typeof b === 'string') return areAmounts && compareQuantities(a, b) === 0;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => areSame(item, b[i], false));
  if (Array.isArray(a) || Array.isArray(b)) return false;
  return areSameRecords(a as Record<string, unknown>, b as Record<string, unknown>, areAmounts);
}

function areSameRecords(a: Record<string, unknown>, b: Record<string, unknown>, areAmounts: boolean): boolean {
  for (const key of Object.keys(a)) {
    const other = Object.hasOwn(b, key) ? b[key] : undefined;
    if (!areSame(a[key], other, areAmounts || isAmountMap(key, other))) return false;
  }
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !isNothing(b[key])) return false;
  return true;
}

const isAmountMap = (key: string, value: unknown): boolean => amountMaps.has(key) && typeof value === 'object';
const isNothing = (value: unknown): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0);
