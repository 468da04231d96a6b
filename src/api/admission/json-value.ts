import { isJsonObject } from '../json.ts';

/** A CEL value as JSON: the inverse of `celValue`. */
export function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Map) return jsonValue(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(jsonValue);
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, jsonValue(member)]));
}
