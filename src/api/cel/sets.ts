/** cel-go's sets extension. Items are compared by their text, so that two long lists take linear time. */
import type { Environment } from '@marcbachmann/cel-js';

type List = readonly unknown[];

/** The value of `sets`. */
class SetsLibrary {
  contains(all: List, some: List): boolean {
    const known = new Set(all.map(textOf));
    return some.every((item) => known.has(textOf(item)));
  }
  equivalent(a: List, b: List): boolean {
    return this.contains(a, b) && this.contains(b, a);
  }
  intersects(a: List, b: List): boolean {
    const known = new Set(a.map(textOf));
    return b.some((item) => known.has(textOf(item)));
  }
}

const type = 'kubernetes.SetsLibrary';

export function registerSets(environment: Environment): void {
  environment.registerType(type, { ctor: SetsLibrary, fields: {} }).registerConstant('sets', type, new SetsLibrary());
  for (const name of ['contains', 'equivalent', 'intersects'] as const) {
    environment.registerFunction(`${type}.${name}(list, list): bool`, (sets: SetsLibrary, a: List, b: List) => sets[name](a, b));
  }
}

/** Equal for equal values, also of different numeric types. */
function textOf(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number') return `n${String(value)}`;
  if (value instanceof Date) return `d${value.getTime()}`;
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (value instanceof Map) return objectText([...(value as Map<unknown, unknown>)].map(([key, one]) => [textOf(key), one]));
  if (typeof value === 'object' && value !== null && [null, Object.prototype].includes(Object.getPrototypeOf(value) as null)) {
    return objectText(Object.entries(value).map(([key, one]) => [textOf(key), one]));
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function objectText(members: readonly (readonly [string, unknown])[]): string {
  return `{${members
    .map(([key, one]) => `${key}:${textOf(one)}`)
    .sort()
    .join()}}`;
}
