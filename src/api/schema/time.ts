/**
 * Times as Go reads and Kubernetes prints them: RFC 3339 in UTC, to the second ('2026-01-31T23:59:59Z') or, for a
 * MicroTime, with six decimals.
 */

const layouts = {
  Time: '2006-01-02T15:04:05Z07:00',
  MicroTime: '2006-01-02T15:04:05.000000Z07:00',
} as const;

/** The parts of a time in order; `word` is how Go's messages call the part. */
const parts = [
  { word: '2006', pattern: /^[0-9]{4}/ },
  { word: '-', pattern: /^-/ },
  { word: '01', pattern: /^[0-9]{2}/, range: [1, 12], name: 'month' },
  { word: '-', pattern: /^-/ },
  // Days are checked last, with the month known.
  { word: '02', pattern: /^[0-9]{2}/ },
  { word: 'T', pattern: /^T/ },
  { word: '15', pattern: /^[0-9]{1,2}/, range: [0, 23], name: 'hour' },
  { word: ':', pattern: /^:/ },
  { word: '04', pattern: /^[0-9]{2}/, range: [0, 59], name: 'minute' },
  { word: ':', pattern: /^:/ },
  { word: '05', pattern: /^[0-9]{2}/, range: [0, 59], name: 'second' },
] as const;

const zeroTime = '0001-01-01T00:00:00';

/** @throws Error in the words of Go's time package; null for the zero time, which prints as null */
export function normalizeTime(text: string, kind: 'Time' | 'MicroTime'): string | null {
  if (kind === 'Time' && isPlainUtc(text)) return text;
  const { seconds, micros } = parseGoTime(text, kind);
  const iso = new Date(seconds * 1000).toISOString();
  const whole = (/^[+-]/.test(iso) ? iso.slice(1) : iso).slice(-24, -5);
  if (whole === zeroTime && micros === 0) return null;
  return kind === 'Time' ? `${whole}Z` : `${whole}.${String(micros).padStart(6, '0')}Z`;
}

/** What nearly every time looks like; days up to 28 exist in every month. */
function isPlainUtc(text: string): boolean {
  return /^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$/.test(text);
}

/** Seconds since 1970, and the microseconds beyond them. */
export function parseGoTime(text: string, kind: 'Time' | 'MicroTime'): { seconds: number; micros: number } {
  const layout = layouts[kind];
  const numbers: number[] = [];
  let rest = text;
  for (const part of parts) {
    const matched = part.pattern.exec(rest)?.[0];
    if (matched === undefined) throw cannotParse(text, layout, rest, part.word);
    if ('range' in part && (Number(matched) < part.range[0] || Number(matched) > part.range[1])) throw outOfRange(text, part.name);
    if (part.word.length > 1) numbers.push(Number(matched));
    rest = rest.slice(matched.length);
  }
  const fraction = (kind === 'Time' ? /^[.,]([0-9]+)/ : /^[.,]([0-9]{6})/).exec(rest);
  if (fraction === null && kind === 'MicroTime') throw cannotParse(text, layout, rest, '.000000');
  rest = rest.slice(fraction?.[0].length ?? 0);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const offset = parseOffset(text, layout, rest);
  if (day < 1 || day > daysIn(year, month)) throw outOfRange(text, 'day');
  const date = new Date(0);
  // Years below 100 mean themselves only here.
  date.setUTCFullYear(year, month - 1, day);
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset;
  return { seconds, micros: Number((fraction?.[1] ?? '').slice(0, 6).padEnd(6, '0')) };
}

function parseOffset(text: string, layout: string, rest: string): number {
  const zone = /^(?:Z|([+-])([0-9]{2}):([0-9]{2}))/.exec(rest);
  if (zone === null) throw cannotParse(text, layout, rest, 'Z07:00');
  const hours = Number(zone[2] ?? 0);
  const minutes = Number(zone[3] ?? 0);
  if (hours > 24) throw outOfRange(text, 'time zone offset hour');
  if (minutes > 60) throw outOfRange(text, 'time zone offset minute');
  const extra = rest.slice(zone[0].length);
  if (extra !== '') throw new Error(`parsing time ${quoteTime(text)}: extra text: ${quoteTime(extra)}`);
  const seconds = hours * 3600 + minutes * 60;
  return zone[1] === '-' ? -seconds : seconds;
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();

function cannotParse(text: string, layout: string, rest: string, word: string): Error {
  return new Error(`parsing time ${quoteTime(text)} as ${quoteTime(layout)}: cannot parse ${quoteTime(rest)} as ${quoteTime(word)}`);
}

function outOfRange(text: string, what: string): Error {
  return new Error(`parsing time ${quoteTime(text)}: ${what} out of range`);
}

/** Go's time package quotes in its own way: every byte outside printable ASCII as \\xNN. */
function quoteTime(text: string): string {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => {
    if (byte < 0x20 || byte >= 0x7f) return `\\x${byte.toString(16).padStart(2, '0')}`;
    const char = String.fromCharCode(byte);
    return char === '"' || char === '\\' ? `\\${char}` : char;
  });
  return `"${bytes.join('')}"`;
}
