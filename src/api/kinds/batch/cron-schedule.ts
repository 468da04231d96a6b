/** When a cron job runs: 'minute hour day-of-month month day-of-week', or '@daily', '@every 1h30m'. */
import { parseGoDuration } from '../../go-duration.ts';

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
const EVERY = '@every ';

/** When it runs: at the times that fit every field, in a time zone, or again and again after so many seconds. */
export type Schedule =
  | ({ readonly type: 'calendar' /** Absent: the time zone of the controller. */; readonly zone?: string } & Calendar)
  | { readonly type: 'interval'; readonly seconds: number };

export interface Calendar {
  readonly minutes: Field;
  readonly hours: Field;
  readonly days: Field;
  /** January is 1. */
  readonly months: Field;
  /** Sunday is 0. */
  readonly weekdays: Field;
}

export interface Field {
  readonly values: ReadonlySet<number>;
  /** It was written as a star: of the two fields for days, the other one decides. */
  readonly any: boolean;
}

export type ParsedSchedule = { readonly schedule: Schedule; readonly problem?: undefined } | { readonly problem: string };

/** What is wrong with a schedule, in the words of the parser that Kubernetes uses; nothing: it is one. */
export const scheduleProblem = (text: string): string | undefined => parseSchedule(text).problem;

export function parseSchedule(text: string): ParsedSchedule {
  if (text === '') return { problem: 'empty spec string' };
  const prefix = readTimeZone(text);
  if (prefix.problem !== undefined) return prefix;
  const zone = prefix.zone === undefined ? {} : { zone: prefix.zone };
  if (prefix.rest.startsWith(EVERY)) return parseInterval(prefix.rest);
  const written = prefix.rest.startsWith('@') ? macros.get(prefix.rest) : prefix.rest;
  if (written === undefined) return { problem: `unrecognized descriptor: ${prefix.rest}` };
  const calendar = parseCalendar(written.split(/\s+/).filter((field) => field !== ''));
  return calendar.problem === undefined ? { schedule: { type: 'calendar', ...calendar.value, ...zone } } : calendar;
}

const macros: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/** 'TZ=Europe/Berlin 0 1 * * *': refused later, but its own errors come first. */
function readTimeZone(schedule: string): { problem?: undefined; zone?: string; rest: string } | { problem: string } {
  if (!schedule.startsWith('TZ=') && !schedule.startsWith('CRON_TZ=')) return { rest: schedule };
  const space = schedule.indexOf(' ');
  if (space < 0) return { problem: 'invalid schedule format: runtime error: slice bounds out of range [:-1]' };
  const zone = schedule.slice(schedule.indexOf('=') + 1, space);
  if (!isTimeZone(zone)) return { problem: `provided bad location ${zone}: unknown time zone ${zone}` };
  return { zone, rest: schedule.slice(space).trim() };
}

/** Of value `T`, or what is wrong with it. */
type Parsed<T> = { readonly value: T; readonly problem?: undefined } | { readonly problem: string };

/** Never less than a second, and whole seconds only. */
function parseInterval(descriptor: string): ParsedSchedule {
  const duration = parseGoDuration(descriptor.slice(EVERY.length));
  if (duration.problem !== undefined) return { problem: `failed to parse duration ${descriptor}: ${duration.problem}` };
  return { schedule: { type: 'interval', seconds: Math.max(1, Math.floor(duration.seconds)) } };
}

function parseCalendar(fields: readonly string[]): Parsed<Calendar> {
  if (fields.length !== parts.length) return { problem: `expected exactly ${parts.length} fields, found ${fields.length}: [${fields.join(' ')}]` };
  const parsed: Field[] = [];
  for (const [i, bounds] of parts.entries()) {
    const field = parseField(fields[i] ?? '', bounds);
    if (field.problem !== undefined) return field;
    parsed.push(field.value);
  }
  const [minutes = never, hours = never, days = never, months = never, weekdays = never] = parsed;
  return { value: { minutes, hours, days, months, weekdays } };
}

const never: Field = { values: new Set(), any: false };

/** '5', '1-5', 'mon-fri', a star, any of these with '/10' behind it, and lists of them. */
function parseField(field: string, bounds: Bounds): Parsed<Field> {
  const values = new Set<number>();
  let any = false;
  for (const text of field.split(',').filter((range) => range !== '')) {
    const range = parseRange(text, bounds);
    if (range.problem !== undefined) return range;
    const { from, to, step } = range.value;
    for (let value = from; value <= to; value += step) values.add(value);
    any ||= /^[*?]/.test(text) && step === 1;
  }
  return { value: { values, any } };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

function parseRange(range: string, bounds: Bounds): Parsed<Range> {
  const [ends = '', ...steps] = range.split('/');
  const [low = '', ...highs] = ends.split('-');
  const isAny = low === '*' || low === '?';
  const start = isAny ? { value: bounds.min } : parseValue(low, bounds);
  if (start.problem !== undefined) return start;
  if (!isAny && highs.length > 1) return { problem: `too many hyphens: ${range}` };
  const end = isAny ? { value: bounds.max } : highs[0] === undefined ? start : parseValue(highs[0], bounds);
  if (end.problem !== undefined) return end;
  if (steps.length > 1) return { problem: `too many slashes: ${range}` };
  const step = steps[0] === undefined ? { value: 1 } : parseNumber(steps[0]);
  if (step.problem !== undefined) return step;
  // 'N/step' means from N to the end.
  const to = steps.length === 1 && highs.length === 0 ? bounds.max : end.value;
  const problem = rangeProblem({ from: start.value, to, step: step.value }, bounds);
  return problem === undefined ? { value: { from: start.value, to, step: step.value } } : { problem: `${problem}: ${range}` };
}

function rangeProblem({ from, to, step }: Range, { min, max }: Bounds): string | undefined {
  if (from < min) return `beginning of range (${from}) below minimum (${min})`;
  if (to > max) return `end of range (${to}) above maximum (${max})`;
  if (from > to) return `beginning of range (${from}) beyond end of range (${to})`;
  return step === 0 ? 'step of range should be a positive number' : undefined;
}

function parseValue(text: string, { names = [], min }: Bounds): Parsed<number> {
  const position = names.indexOf(text.toLowerCase());
  return position >= 0 ? { value: position + min } : parseNumber(text);
}

function parseNumber(text: string): Parsed<number> {
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
