import type { SuccessPolicy } from '../../../api/generated/types.ts';
import { countOf, countShared, type Intervals, parseIntervals } from './intervals.ts';

/** Which rule of spec.successPolicy is met. Undefined: none. */
export function reasonForSuccess(policy: SuccessPolicy | undefined, succeeded: Intervals, completions: number): string | undefined {
  if (succeeded.length === 0) return undefined;
  const met = (policy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount = Infinity }) => {
    if (succeededIndexes === undefined) return countOf(succeeded) >= succeededCount;
    const required = parseIntervals(succeededIndexes, completions);
    const reached = countShared(required, succeeded);
    return required.length > 0 && (reached === countOf(required) || reached >= succeededCount);
  });
  return met < 0 ? undefined : `Matched rules at index ${met}`;
}
