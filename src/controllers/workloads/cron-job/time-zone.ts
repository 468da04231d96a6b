/** Wall clocks: what they show somewhere at a moment, and at which moment they show something. Moments are milliseconds since 1970. */

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

/** A time zone by its name of the IANA data base. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat | undefined;
  /** Offsets by quarter of an hour: no zone changes its clocks in between. */
  readonly #offsets = new Map<number, number>();

  /** @throws RangeError there is no such zone */
  constructor(name: string) {
    this.#format = name === 'UTC' ? undefined : new Intl.DateTimeFormat('en-US', { ...everyPart, timeZone: name });
  }

  /** How far its clocks are ahead of UTC, in milliseconds. */
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
   * When the clocks show this; days and months beyond their end run over into the next. A time that is skipped in spring is taken as
   * if the clocks had not been moved yet or already, one that comes twice in autumn as one of both: as Go does.
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

/** Undefined: there is no such zone. Made once for each: they are expensive, and there are few. */
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
