/**
 * What compiling a regular expression costs, in about the time of one literal character (some microseconds). It is estimated before the pattern is
 * compiled: repeats are unrolled, so that ten characters can cost as much as ten thousand.
 */

/** A Unicode class is a table of hundreds of ranges; groups and classes take several steps each. */
const costOf = { literal: 1, group: 20, class: 10, unicodeClass: 100 } as const;

interface Group {
  cost: number;
  /** Of the last atom, which a repeat multiplies. */
  last: number;
  /** The largest product of repeats within each other, in the group and in the last atom. */
  repeats: number;
  lastRepeats: number;
}

const newGroup = (): Group => ({ cost: 0, last: 0, repeats: 1, lastRepeats: 1 });

/** `isRefused`: RE2's parser refuses the pattern by itself, before it costs anything. Counting stops beyond `limit`. */
export function patternCost(source: string, limit: number): { readonly cost: number; readonly isRefused: boolean } {
  const tooMuch = { cost: limit + 1, isRefused: false };
  if (source.length > limit) return tooMuch;
  let group = newGroup();
  const outer: Group[] = [];
  for (let at = 0; at < source.length; ) {
    const repeat = source[at] === '{' ? repeatAt(source, at) : undefined;
    const [length, cost] = repeat === undefined ? nextToken(source, at) : [repeat.length, 0];
    if (repeat !== undefined) multiply(group, repeat.count);
    else if (source[at] === '(') {
      outer.push(group);
      group = newGroup();
    } else if (source[at] === ')') group = closeGroup(group, outer.pop());
    else addAtom(group, cost, 1);
    if (outer.length > maxNesting || group.repeats > maxRepeats) return { cost: limit + 1, isRefused: true };
    at += length;
  }
  const cost = [group, ...outer].reduce((sum, open) => sum + open.cost, 0);
  return cost > limit ? tooMuch : { cost, isRefused: false };
}

function multiply(group: Group, count: number): void {
  group.cost += group.last * (count - 1);
  group.last *= count;
  group.lastRepeats *= count;
  group.repeats = Math.max(group.repeats, group.lastRepeats);
}

function addAtom(group: Group, cost: number, repeats: number): void {
  group.last = cost;
  group.cost += cost;
  group.lastRepeats = repeats;
  group.repeats = Math.max(group.repeats, repeats);
}

/** The group around it goes on; a bracket too many is a letter to this count. */
function closeGroup(inner: Group, around: Group | undefined): Group {
  if (around === undefined) {
    addAtom(inner, costOf.literal, 1);
    return inner;
  }
  addAtom(around, inner.cost + costOf.group, inner.repeats);
  return around;
}

/** RE2's own bounds. */
const maxNesting = 1_000;
const maxRepeats = 1_000;

/** The length and the cost of what stands at a place. */
function nextToken(source: string, at: number): readonly [length: number, cost: number] {
  const character = source[at];
  if (character === '\\') {
    const escaped = source[at + 1];
    if (escaped === 'p' || escaped === 'P') return [2, costOf.unicodeClass];
    return [2, /[dDsSwW]/.test(escaped ?? '') ? costOf.class : costOf.literal];
  }
  if (character === '[') return [1, costOf.class];
  return [1, costOf.literal];
}

/** Of '{2,7}' the larger number counts. */
function repeatAt(source: string, at: number): { readonly length: number; readonly count: number } | undefined {
  const [text, from, , to] = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(source.slice(at, at + 12)) ?? [];
  if (text === undefined || from === undefined) return undefined;
  return { length: text.length, count: Math.max(1, Number(from), Number(to ?? 0)) };
}
