/** A copy without some fields. */
export function without<T extends object, K extends keyof T>(object: T, ...fields: readonly K[]): Omit<T, K> {
  const copy = { ...object };
  for (const field of fields) delete copy[field];
  return copy;
}
