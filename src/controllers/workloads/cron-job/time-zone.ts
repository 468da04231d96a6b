/** Converts between moments (milliseconds since 1970) and wall-clock times of a time zone. */

export interface WallTime {
  readonly year: number;
  /** January is 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** Sunday is 0. */
  readonly weekday: number;
}

/** A time zone of the IANA database. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat | undefined;
  /** Offsets by quarter of an hour: clocks are only changed at full quarters. */
  readonly #offsets = new Map<number, number>();

  /** @throws RangeError there is no such zone */
  constructor(name: string) {
    this.#format = name === 'UTC' ? undefined : new Intl.DateTimeFormat('en-US', { ...everyPart, timeZone: name });
  }

  /** The offset from UTC in milliseconds. */
  offsetAt(moment: number): number {
    if (this.#format === undefined) return 0;
    const quarter = Math.floor(moment / quarterHourMs);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const offset = measure(this.#format, quarter * quarterHourMs);
    if (this.#offsets.size >= offsetsLimit) this.#offsets.clear();
    this.#offsets.set(quarter, offset);
    return offset;
  }

  wallAt(moment: number): WallTime {
    const shown = new Date(moment + this.offsetAt(moment));
    return {
      year: shown.getUTCFullYear(),
      month: shown.getUTCMonth() + 1,
      day: shown.getUTCDate(),
      hour: shown.getUTCHours(),
      minute: shown.getUTCMinutes(),
      weekday: shown.getUTCDay(),
    };
  }

  /**
   * The moment of a wall-clock time; days and months beyond their end run over into the next. A time that is skipped in spring is read
   * with the offset before or after the change, one that comes twice in autumn as one of the two: as Go's time.Date does.
   */
  moment({ year, month, day, hour = 0, minute = 0 }: Pick<WallTime, 'year' | 'month' | 'day'> & Partial<WallTime>): number {
    const shown = Date.UTC(year, month - 1, day, hour, minute);
    return shown - this.offsetAt(shown - this.offsetAt(shown));
  }

  /** '2026-03-29T03:00:00+02:00' */
  format(moment: number): string {
    const offset = this.offsetAt(moment);
    const shown = new Date(moment + offset).toISOString().slice(0, 19);
    if (offset === 0) return `${shown}Z`;
    const minutes = Math.floor(Math.abs(offset) / 60_000);
    return `${shown}${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
  }
}

const quarterHourMs = 15 * 60_000;
const offsetsLimit = 10_000;

const twoDigits = (n: number): string => String(n).padStart(2, '0');

const everyPart = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  era: 'short',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const;

function measure(format: Intl.DateTimeFormat, moment: number): number {
  const shown = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => shown.get(type) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) - moment;
}

const zones = new Map<string, TimeZone>();

/** Undefined: there is no such zone. Cached, because a formatter is expensive and zones are few. */
export function timeZone(name: string): TimeZone | undefined {
  let zone = zones.get(name);
  if (zone !== undefined) return zone;
  try {
    zone = new TimeZone(name);
  } catch {
    return undefined;
  }
  zones.set(name, zone);
  return zone;
}
