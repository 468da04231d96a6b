/** What happened, in the order in which it did. What repeats itself is one entry that counts. */
export interface TimelineEntry {
  /** Milliseconds since the scenario began. */
  readonly at: number;
  readonly type: EntryType;
  /** Who did or said it. */
  readonly who: string;
  /** 'pod/web-0' */
  readonly about: string;
  readonly what: string;
  /** How often it was said, and when for the last time. */
  readonly times: number;
  readonly until: number;
}

/**
 * - `happening`: a line of the script
 * - `change`: an object changed
 * - `event`, `warning`: what Kubernetes tells
 * - `backend`, `failure`: a call to a storage backend
 * - `why`: what something waits for
 */
export type EntryType = 'happening' | 'change' | 'event' | 'warning' | 'backend' | 'failure' | 'why';

export type NewEntry = Pick<TimelineEntry, 'at' | 'type' | 'who' | 'about' | 'what'>;

/** More than anybody reads; a scenario that goes on and on ends in a few lines that count. */
const mostEntries = 20_000;

type Counted = { -readonly [K in keyof TimelineEntry]: TimelineEntry[K] };

export class ScenarioTimeline {
  readonly #entries: Counted[] = [];
  readonly #repeatable = new Map<string, Counted>();
  dropped = 0;

  get entries(): readonly TimelineEntry[] {
    return this.#entries;
  }

  /** `sameAs`: what has been added with the same key, and says the same, is counted. */
  add({ at, type, who, about, what }: NewEntry, sameAs?: string): void {
    const key = `${sameAs ?? ''} ${type} ${who} ${about} ${what}`;
    const earlier = sameAs === undefined ? undefined : this.#repeatable.get(key);
    if (earlier !== undefined) {
      earlier.times++;
      earlier.until = at;
      return;
    }
    if (this.#entries.length >= mostEntries) {
      this.dropped++;
      return;
    }
    const entry = { at, type, who, about, what, times: 1, until: at };
    this.#entries.push(entry);
    if (sameAs !== undefined) this.#repeatable.set(key, entry);
  }
}
