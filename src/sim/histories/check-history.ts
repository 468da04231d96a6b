import type { History, Operation, Watched, WatchedChange } from './history.ts';

export interface HistoryViolation {
  readonly invariant: string;
  readonly what: string;
}

/** By revision; undefined: the key was deleted. */
type Versions = Map<number, string | undefined>;

/**
 * Whether a history is linearizable for each key, and its watches are ordered, complete and unique. Revisions make that decidable without a
 * search: every version has one, and a read has to be at least as new as all that was known before it was asked for.
 */
export function checkHistory(history: History): readonly HistoryViolation[] {
  const versions = versionsOf(history);
  const found: HistoryViolation[] = [...versions.violations];
  for (const watched of history.watchers) found.push(...checkWatched(watched));
  const byKey = groupedBy(history.operations, ({ key }) => key);
  for (const [key, operations] of byKey) {
    const known = versions.of(key);
    found.push(...checkWrites(key, operations, known));
    if (history.readsMayBeOld !== true) found.push(...checkFreshness(key, operations, known));
  }
  return [...found, ...checkComplete(history), ...checkFences(history)];
}

function groupedBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** All versions that any answer or event names. */
function versionsOf({ operations, watchers }: History) {
  const all = new Map<string, Versions>();
  const violations: HistoryViolation[] = [];
  const of = (key: string): Versions => {
    const known = all.get(key) ?? new Map<number, string | undefined>();
    all.set(key, known);
    return known;
  };
  const add = (key: string, revision: number, value: string | undefined): void => {
    const known = of(key);
    if (known.has(revision) && known.get(revision) !== value)
      violations.push({ invariant: 'a revision has one value', what: `${key} at ${revision} is ${known.get(revision)} and ${value}` });
    known.set(revision, value);
  };
  for (const { key, what } of operations) {
    if (what.type === 'read' && what.found !== undefined) add(key, what.found.revision, what.found.value);
    if (what.type === 'write' && typeof what.outcome === 'number') add(key, what.outcome, what.value);
  }
  for (const { events } of watchers) for (const event of events) if ('key' in event) add(event.key, event.revision, event.value);
  return { of, violations };
}

/** No write is lost, none happens twice, no refusal is false, and none overtakes what it was not based on. */
function checkWrites(key: string, operations: readonly Operation[], versions: Versions): readonly HistoryViolation[] {
  const revisionsOf = groupedBy(versions.keys(), (revision) => versions.get(revision));
  const sorted = [...versions.keys()].sort((a, b) => a - b);
  return operations.flatMap(({ what, end }) => {
    if (what.type !== 'write') return [];
    const times = revisionsOf.get(what.value) ?? [];
    if (what.outcome === 'refused')
      return times.length === 0 ? [] : [{ invariant: 'no refusal is false', what: `${key}=${what.value} was refused, and is at ${times.join()}` }];
    if (times.length > 1) return [{ invariant: 'no write happens twice', what: `${key}=${what.value} is at ${times.join()}` }];
    if (typeof what.outcome !== 'number') return [];
    const between = sorted.find(
      (revision) => revision > what.base && revision < Number(what.outcome) && (what.base > 0 || versions.get(revision) !== undefined),
    );
    // A key that had to be absent may have been there and gone before. Where a watch had to list again, no event tells of that.
    const last = sorted.findLast((revision) => revision < Number(what.outcome)) ?? 0;
    const isGone = what.base === 0 && (versions.get(last) === undefined || mayBeDeleted(last, operations, end));
    return between === undefined || isGone
      ? []
      : [{ invariant: 'no write overtakes another', what: `${key}=${what.value} at ${what.outcome} was based on ${what.base}, and ${between} lies between` }];
  });
}

/** A deletion of this version was asked for before `until`, and not refused. */
const mayBeDeleted = (revision: number, operations: readonly Operation[], until: number): boolean =>
  operations.some(({ what, call }) => what.type === 'delete' && what.base === revision && what.outcome !== 'refused' && call < until);

/** What was known when an operation was asked for, it sees. */
function checkFreshness(key: string, operations: readonly Operation[], versions: Versions): readonly HistoryViolation[] {
  const violations: HistoryViolation[] = [];
  const deletions = [...versions].filter(([, value]) => value === undefined).map(([revision]) => revision);
  const floors = floorsOf(operations);
  for (const operation of operations) {
    const { what } = operation;
    const floor = floors.get(operation) ?? 0;
    if (what.type === 'read' && what.found === undefined) {
      const isGone = deletions.some((revision) => revision > floor) || mayBeDeleted(floor, operations, operation.end);
      if (floor > 0 && versions.get(floor) !== undefined && !isGone)
        violations.push({ invariant: 'a read is fresh', what: `${key} was read as absent, and had revision ${floor} before` });
    } else if (what.type === 'read' && (what.found?.revision ?? 0) < floor)
      violations.push({ invariant: 'a read is fresh', what: `${key} was read at ${what.found?.revision}, and revision ${floor} was known before` });
    else if (what.type === 'write' && typeof what.outcome === 'number' && what.outcome <= floor)
      violations.push({
        invariant: 'a write comes after what was known',
        what: `${key} was written at ${what.outcome}, and revision ${floor} was known before`,
      });
  }
  return violations;
}

/** For each operation the newest revision of the key that had been told before it was asked for. */
function floorsOf(operations: readonly Operation[]): ReadonlyMap<Operation, number> {
  const moments = operations.flatMap((operation) => [
    { at: operation.call, operation, isEnd: false },
    { at: operation.end, operation, isEnd: true },
  ]);
  const floors = new Map<Operation, number>();
  let newest = 0;
  for (const { operation, isEnd } of moments.sort((a, b) => a.at - b.at)) {
    if (isEnd) newest = Math.max(newest, toldBy(operation));
    else floors.set(operation, newest);
  }
  return floors;
}

const toldBy = ({ what }: Operation): number =>
  what.type === 'read' ? (what.found?.revision ?? 0) : what.type === 'write' && typeof what.outcome === 'number' ? what.outcome : 0;

function checkWatched({ name, after, events }: Watched): readonly HistoryViolation[] {
  const violations: HistoryViolation[] = [];
  const seen = new Set<string>();
  let newest = after;
  for (const event of events) {
    if (!('key' in event)) {
      newest = Math.max(newest, event.listedAgain);
      continue;
    }
    const { key, revision } = event;
    if (revision < newest) violations.push({ invariant: 'a watch is in order', what: `${name}: ${key} at ${revision} came after ${newest}` });
    if (seen.has(`${key}@${revision}`)) violations.push({ invariant: 'a watch tells each change once', what: `${name}: ${key} at ${revision}` });
    seen.add(`${key}@${revision}`);
    newest = Math.max(newest, revision);
  }
  return violations;
}

/** What one watcher was told, all were, and what a client was told too; unless they had to list again. */
function checkComplete({ operations, watchers, losesEvents = false }: History): readonly HistoryViolation[] {
  const all = new Map<string, WatchedChange>();
  const add = (change: WatchedChange): void => void all.set(`${change.key}@${change.revision}`, change);
  for (const { events } of watchers) for (const event of events) if ('key' in event) add(event);
  for (const { key, what } of operations)
    if (what.type === 'write' && typeof what.outcome === 'number') add({ key, revision: what.outcome, value: what.value });
  const lastOf = ({ after, events }: Watched): number =>
    events.reduce((last, event) => Math.max(last, 'key' in event ? event.revision : event.listedAgain), after);
  // At the end all have come to the same revision, or the last changes are under way.
  const until = Math.min(...watchers.map(lastOf));
  return watchers.flatMap(({ name, after, events }) => {
    const seen = new Set<string>();
    const gaps: { readonly from: number; readonly to: number }[] = [];
    let newest = after;
    for (const event of events) {
      if ('key' in event) {
        seen.add(`${event.key}@${event.revision}`);
        newest = event.revision;
      } else {
        gaps.push({ from: losesEvents ? after : newest, to: event.listedAgain });
        newest = Math.max(newest, event.listedAgain);
      }
    }
    return [...all.values()]
      .filter(({ key, revision }) => revision > after && revision <= until && !seen.has(`${key}@${revision}`))
      .filter(({ revision }) => !gaps.some(({ from, to }) => revision > from && revision <= to))
      .map(({ key, revision }) => ({ invariant: 'a watch is complete', what: `${name} was not told of ${key} at ${revision}` }));
  });
}

/** After a leader has taken over, no write of an earlier one happens. */
function checkFences({ operations, epochs }: History): readonly HistoryViolation[] {
  return operations.flatMap(({ key, what }) => {
    if (what.type !== 'write' || what.epoch === undefined || typeof what.outcome !== 'number') return [];
    const { epoch, outcome } = what;
    const next = epochs.find((each) => each > epoch && each < outcome);
    return next === undefined ? [] : [{ invariant: 'a deposed leader does not write', what: `${key} at ${outcome} by epoch ${epoch}, after epoch ${next}` }];
  });
}
