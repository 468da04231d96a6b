import { asMap } from './shape.ts';

/** Whether two JSON values are equal. Unlike for stored objects, null, absent and an empty list are different. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  const x = asMap(a);
  const y = asMap(b);
  if (x === undefined || y === undefined) return false;
  const keys = Object.keys(x);
  return keys.length === Object.keys(y).length && keys.every((key) => Object.hasOwn(y, key) && sameValue(x[key], y[key]));
}
