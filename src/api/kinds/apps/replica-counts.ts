import { type FieldError, invalid } from '../../field-error.ts';
import { nonNegative } from '../../validation/metadata.ts';

type Counts = Readonly<Record<string, number>>;

/** Counts that a controller reports in a status. */
export const nonNegativeCounts = (counts: Counts): FieldError[] => Object.entries(counts).flatMap(([name, count]) => nonNegative(count, `status.${name}`));

/** `whole`: as the message calls what they are counted of. */
export const countsWithin = (parts: Counts, limit: number, whole: string): FieldError[] =>
  Object.entries(parts).flatMap(([name, count]) => (count > limit ? [invalid(`status.${name}`, count, `cannot be greater than ${whole}`)] : []));

/** How often the hash of a revision collided: forgetting that would make it collide again. */
export function collisionCountKept(status: { collisionCount?: number }, old: { collisionCount?: number }): FieldError[] {
  const { collisionCount: count } = status;
  if (old.collisionCount === undefined || (count !== undefined && count >= old.collisionCount)) return [];
  return [invalid('status.collisionCount', count ?? 0, 'cannot be decremented')];
}
