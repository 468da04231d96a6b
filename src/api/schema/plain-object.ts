import { setOwn } from '../json.ts';

/** Freezes plain JSON, all the way down. What is frozen already is taken to be frozen all the way. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else for (const key in value) deepFreeze(value[key]);
  return value;
}

/** A copy of plain JSON that shares nothing with the original and is not frozen. */
export function cloneObject<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (const item of value) copy.push(typeof item === 'object' ? cloneObject(item) : item);
    return copy as T;
  }
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    const member = value[key];
    setOwn(copy, key, typeof member === 'object' ? cloneObject(member) : member);
  }
  return copy as T;
}

/**
 * Whether two decoded objects are the same to Kubernetes: keys in any order; null and an empty list are as good as
 * nothing. An empty object is something: `emptyDir: {}` differs from no emptyDir.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && equalLists(a, b);
  return equalObjects(a as Record<string, unknown>, b as Record<string, unknown>);
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0);

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
  return true;
}

function equalObjects(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  for (const key in a) if (!deepEqual(a[key], ownValue(b, key))) return false;
  for (const key in b) if (!Object.hasOwn(a, key) && !isNothing(b[key])) return false;
  return true;
}

const ownValue = (object: Record<string, unknown>, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);
