/** Freezes plain JSON, all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key of Object.keys(value)) deepFreeze((value as Record<string, unknown>)[key]);
  return value;
}

/** Equality of decoded objects as Kubernetes' semantic equality sees it: keys in any order, an empty list or map is as good as none. */
export function deepEqual(a: unknown, b: unknown): boolean {
  void a;
  void b;
  throw new Error('not written yet');
}

/** A copy of plain JSON that shares nothing with the original and is not frozen. */
export function cloneObject<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneObject) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = cloneObject((value as Record<string, unknown>)[key]);
    if (key === '__proto__') Object.defineProperty(copy, key, { value: member, writable: true, enumerable: true, configurable: true });
    else copy[key] = member;
  }
  return copy as T;
}
