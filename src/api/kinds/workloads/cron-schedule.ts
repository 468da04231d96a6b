/** When a cron job runs: 'minute hour day-of-month month day-of-week', or '@daily', '@every 1h30m'. */

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Names of the values, the first for `min`. */
  readonly names?: readonly string[];
}

const parts: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];
const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const EVERY = '@every ';

/** What is wrong with a schedule, in the words of the parser that Kubernetes uses; nothing: it is one. */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule === '') return 'empty spec string';
  const { problem, rest } = readTimeZone(schedule);
  if (problem !== undefined) return problem;
  if (rest.startsWith('@')) return descriptorProblem(rest);
  const fields = rest.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== parts.length) return `expected exactly ${parts.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  return first(fields, (field, i) => fieldProblem(field, parts[i] ?? { min: 0, max: 0 }));
}

function first<T>(items: readonly T[], problemOf: (item: T, i: number) => string | undefined): string | undefined {
  for (const [i, item] of items.entries()) {
    const problem = problemOf(item, i);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** 'TZ=Europe/Berlin 0 1 * * *': refused later, but its own errors come first. */
function readTimeZone(schedule: string): { problem?: string; rest: string } {
  if (!schedule.startsWith('TZ=') && !schedule.startsWith('CRON_TZ=')) return { rest: schedule };
  const space = schedule.indexOf(' ');
  if (space < 0) return { problem: 'invalid schedule format: runtime error: slice bounds out of range [:-1]', rest: '' };
  const zone = schedule.slice(schedule.indexOf('=') + 1, space);
  if (!isTimeZone(zone)) return { problem: `provided bad location ${zone}: unknown time zone ${zone}`, rest: '' };
  return { rest: schedule.slice(space).trim() };
}

function descriptorProblem(descriptor: string): string | undefined {
  if (descriptors.includes(descriptor)) return undefined;
  if (!descriptor.startsWith(EVERY)) return `unrecognized descriptor: ${descriptor}`;
  const problem = durationProblem(descriptor.slice(EVERY.length));
  return problem === undefined ? undefined : `failed to parse duration ${descriptor}: ${problem}`;
}

const durationUnits = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'];

/** '1h30m', as Go reads it. */
function durationProblem(text: string): string | undefined {
  const shown = JSON.stringify(text);
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return undefined;
  const step = /([0-9]+\.?[0-9]*|\.[0-9]+)([^0-9.]*)/y;
  do {
    const [, , unit] = step.exec(unsigned) ?? [];
    if (unit === undefined) return `time: invalid duration ${shown}`;
    if (unit === '') return `time: missing unit in duration ${shown}`;
    if (!durationUnits.includes(unit)) return `time: unknown unit ${JSON.stringify(unit)} in duration ${shown}`;
  } while (step.lastIndex < unsigned.length);
  return undefined;
}

/** '5', '1-5', 'mon-fri', a star, any of these with '/10' behind it, and lists of them. */
const fieldProblem = (field: string, bounds: Bounds): string | undefined =>
  first(
    field.split(',').filter((range) => range !== ''),
    (range) => rangeProblem(range, bounds),
  );

type Parsed = { readonly value: number; readonly problem?: undefined } | { readonly problem: string };

function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [ends = '', ...steps] = range.split('/');
  const [low = '', ...highs] = ends.split('-');
  const isAny = low === '*' || low === '?';
  const start = isAny ? { value: bounds.min } : parseValue(low, bounds);
  if (start.problem !== undefined) return start.problem;
  if (!isAny && highs.length > 1) return `too many hyphens: ${range}`;
  const end = isAny ? { value: bounds.max } : highs[0] === undefined ? start : parseValue(highs[0], bounds);
  if (end.problem !== undefined) return end.problem;
  if (steps.length > 1) return `too many slashes: ${range}`;
  const step = steps[0] === undefined ? { value: 1 } : parseNumber(steps[0]);
  if (step.problem !== undefined) return step.problem;
  // 'N/step' means from N to the end.
  const last = steps.length === 1 && highs.length === 0 ? bounds.max : end.value;
  if (start.value < bounds.min) return `beginning of range (${start.value}) below minimum (${bounds.min}): ${range}`;
  if (last > bounds.max) return `end of range (${last}) above maximum (${bounds.max}): ${range}`;
  if (start.value > last) return `beginning of range (${start.value}) beyond end of range (${last}): ${range}`;
  return step.value === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

function parseValue(text: string, { names = [], min }: Bounds): Parsed {
  const position = names.indexOf(text.toLowerCase());
  return position >= 0 ? { value: position + min } : parseNumber(text);
}

function parseNumber(text: string): Parsed {
  if (!/^[+-]?[0-9]+$/.test(text)) return { problem: `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax` };
  const value = Number(text);
  if (Math.abs(value) >= 2 ** 63) return { problem: `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range` };
  return value < 0 ? { problem: `negative number (${value}) not allowed: ${text}` } : { value };
}

/** Whether there is such a time zone. Names are those of files, and so have one way of writing. */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
