import { duplicate, type FieldError, tooMany } from '../../field-error.ts';
import { repeats } from '../../validation/repeats.ts';

export interface ListRules<T> {
  readonly field: string;
  /** More items are not looked at. */
  readonly max?: number;
  readonly validate: (item: T, field: string) => readonly FieldError[];
  /** Present: no two items have the same key. */
  readonly key?: (item: T) => string;
}

/** All that is wrong with a list: its length, its items, and items that are there twice. */
export function validateList<T>(items: readonly T[], { field, max = Number.POSITIVE_INFINITY, validate, key }: ListRules<T>): FieldError[] {
  if (items.length > max) return [tooMany(field, items.length, max)];
  const isRepeated = key === undefined ? [] : repeats(items.map(key));
  return items.flatMap((item, i) => [
    ...validate(item, `${field}[${i}]`),
    ...(isRepeated[i] === true && key !== undefined ? [duplicate(`${field}[${i}]`, key(item))] : []),
  ]);
}
