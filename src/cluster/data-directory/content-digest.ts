import { createHash } from 'node:crypto';
import type { Entry } from '../../store/contract.ts';

/** Of all keys and values: two stores with the same one hold the same objects. */
export function digestOf(entries: Iterable<Pick<Entry, 'key' | 'value'>>): string {
  const hash = createHash('sha256');
  for (const { key, value } of entries) hash.update(`${Buffer.byteLength(key)} ${value.byteLength} ${key}`).update(value);
  return hash.digest('hex');
}
