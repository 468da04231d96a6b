/** Sets of indexes as jobs write them: '1,3-5,7'. */

export type Indexes = { readonly total: number; readonly problem?: undefined } | { readonly problem: string };

/** All must rise, and stay below the number of completions. */
export function readIndexes(text: string, completions: number): Indexes {
  let total = 0;
  let last: number | undefined;
  for (const part of text === '' ? [] : text.split(',')) {
    const interval = readInterval(part, completions);
    if (interval.problem !== undefined) return interval;
    if (last !== undefined && last >= interval.from) return { problem: `non-increasing order, previous: ${last}, current: ${interval.from}` };
    total += interval.to - interval.from + 1;
    last = interval.to;
  }
  return { total };
}

type Interval = { readonly from: number; readonly to: number; readonly problem?: undefined } | { readonly problem: string };

function readInterval(text: string, completions: number): Interval {
  const ends = text.split('-');
  if (ends.length > 2) {
    return { problem: `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'` };
  }
  const numbers: number[] = [];
  for (const end of ends) {
    if (!/^[+-]?[0-9]+$/.test(end)) return { problem: `cannot convert string to integer for index: ${JSON.stringify(end)}` };
    if (Number(end) >= completions) return { problem: `too large index: ${JSON.stringify(end)}` };
    numbers.push(Number(end));
  }
  const [from = 0, to = from] = numbers;
  return ends.length === 2 && from >= to ? { problem: `non-increasing order, previous: ${from}, current: ${to}` } : { from, to };
}

/** The first index that is in both sets. Parts that cannot be read are passed over: they are reported elsewhere. */
export function sharedIndex(a: string, b: string, completions: number): number | undefined {
  const [left, right] = [readableIntervals(a, completions), readableIntervals(b, completions)];
  let [i, j] = [0, 0];
  for (;;) {
    const [one, other] = [left[i], right[j]];
    if (one === undefined || other === undefined) return undefined;
    if (one.from <= other.to && other.from <= one.to) return Math.max(one.from, other.from);
    if (one.from <= other.from) i++;
    else j++;
  }
}

const readableIntervals = (text: string, completions: number) =>
  text
    .split(',')
    .map((part) => readInterval(part, completions))
    .filter((interval) => interval.problem === undefined);
