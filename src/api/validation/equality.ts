/**
 * Whether two decoded values mean the same: a list that is empty, null or left out is one and the same. Structs are not: an
 * `emptyDir: {}` differs from none. Quantities are compared as strings, which decoding has made canonical.
 */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmptyList(a) && isEmptyList(b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return equalLists(a, b);
  return equalRecords(a as Record<string, unknown>, b as Record<string, unknown>);
}

const isEmptyList = (value: unknown): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0);

function equalLists(a: object, b: object): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, i) => semanticallyEqual(item, b[i]));
}

function equalRecords(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  for (const key of Object.keys(a)) if (!semanticallyEqual(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !isEmptyList(b[key])) return false;
  return true;
}
