import type { PersistentVolumeClaim, PersistentVolumeClaimCondition } from '../../api/generated/types.ts';

/** RFC 3339, as conditions have it. */
export const conditionTime = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`;

/**
 * Conditions of the types in `dropped` go unless they are wanted; others stay. A condition that holds already keeps its times. The same claim if
 * nothing changes.
 */
export function withConditions(
  claim: PersistentVolumeClaim,
  wanted: readonly PersistentVolumeClaimCondition[],
  dropped: ReadonlySet<string>,
): PersistentVolumeClaim {
  const before = claim.status.conditions ?? [];
  const kept = before.flatMap((old) => {
    const next = wanted.find(({ type }) => type === old.type);
    if (next !== undefined) return [isSame(next, old) ? old : next];
    return dropped.has(old.type) ? [] : [old];
  });
  const after = [...kept, ...wanted.filter(({ type }) => !before.some((old) => old.type === type))];
  if (after.length === before.length && after.every((each, i) => each === before[i])) return claim;
  const { conditions: _, ...rest } = claim.status;
  return { ...claim, status: after.length === 0 ? rest : { ...rest, conditions: after } };
}

const isSame = (one: PersistentVolumeClaimCondition, other: PersistentVolumeClaimCondition): boolean =>
  one.status === other.status && one.reason === other.reason && one.message === other.message;
