import { isJsonObject, setOwn } from '../json.ts';
import { cloneObject } from '../schema/plain-object.ts';

/** RFC 7386: objects are merged, null removes, everything else replaces. The given document stays as it is. */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return cloneObject(patch);
  const result: Record<string, unknown> = {};
  if (isJsonObject(document)) {
    // Unpatched parts are shared with the given document, which is immutable.
    for (const key of Object.keys(document)) if (!Object.hasOwn(patch, key)) setOwn(result, key, document[key]);
  }
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) continue;
    const current = isJsonObject(document) && Object.hasOwn(document, key) ? document[key] : undefined;
    setOwn(result, key, isJsonObject(current) ? applyMergePatch(current, value) : withoutNulls(value));
  }
  return result;
}

/** Nulls in new objects are dropped; in lists they stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(result, key, withoutNulls(value[key]));
  return result;
}
