import { isJsonObject } from '../json.ts';

/** A JSON value as Go's %v prints it: map[a:1 b:[x y]]. */
export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${key}:${goText(value[key])}`);
    return `map[${members.join(' ')}]`;
  }
  if (value === null || value === undefined) return '<nil>';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The Go type of a decoded JSON value, as a message names it. */
export function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return isJsonObject(value) ? 'map[string]interface {}' : '%!s(<nil>)';
  }
}
