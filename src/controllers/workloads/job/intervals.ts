/** Sets of completion indexes as in a Job's status: '1,3-5,7'. Intervals are sorted, and neither overlap nor touch. */
export type Intervals = readonly Interval[];

interface Interval {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/** Invalid parts and indexes from `completions` on are left out: the Job may have been made smaller. */
export function parseIntervals(text: string | undefined, completions: number): Intervals {
  const read: Interval[] = [];
  for (const part of (text ?? '').split(',')) {
    const [first = '', last = first] = part.split('-');
    if (!isNumber(first) || !isNumber(last)) continue;
    if (Number(first) >= completions) break;
    read.push({ first: Number(first), last: Math.min(Number(last), completions - 1) });
  }
  return union(read, []);
}

const isNumber = (text: string): boolean => /^\d+$/.test(text);

export const intervalsOf = (indexes: Iterable<number>): Intervals =>
  union(
    [...indexes].sort((a, b) => a - b).map((index) => ({ first: index, last: index })),
    [],
  );

/** Both have to be sorted. */
export function union(a: Intervals, b: Intervals): Intervals {
  const merged: Interval[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [one, other] = [a[i], b[j]];
    const next = other === undefined || (one !== undefined && one.first < other.first) ? one : other;
    if (next === undefined) return merged;
    if (next === one) i++;
    else j++;
    const last = merged.at(-1);
    if (last === undefined || next.first > last.last + 1) merged.push(next);
    else if (next.last > last.last) merged[merged.length - 1] = { first: last.first, last: next.last };
  }
}

export const countOf = (intervals: Intervals): number => intervals.reduce((count, { first, last }) => count + last - first + 1, 0);

export const has = (intervals: Intervals, index: number): boolean => intervals.some(({ first, last }) => first <= index && index <= last);

/** How many indexes are in both. */
export function countShared(a: Intervals, b: Intervals): number {
  let [i, j, shared] = [0, 0, 0];
  for (;;) {
    const [one, other] = [a[i], b[j]];
    if (one === undefined || other === undefined) return shared;
    shared += Math.max(0, Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1);
    if (one.last <= other.last) i++;
    if (other.last <= one.last) j++;
  }
}

/** The first `count` indexes below `completions` that are in no interval. */
export function firstGaps(taken: Intervals, count: number, completions: number): readonly number[] {
  const gaps: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...taken, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && gaps.length < count; candidate++) gaps.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return gaps;
}

/** Two neighbouring indexes are written as '1,2', more as '1-3'. */
export const formatIntervals = (intervals: Intervals): string =>
  intervals.map(({ first, last }) => (first === last ? String(first) : `${first}${last === first + 1 ? ',' : '-'}${last}`)).join(',');
