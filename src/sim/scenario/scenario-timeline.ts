/** What happened, in order. Repetitions are one entry with a count. */
export interface TimelineEntry {
  /** Milliseconds since the scenario began. */
  readonly at: number;
  readonly type: EntryType;
  /** The component or user. */
  readonly who: string;
  /** 'pod/web-0' */
  readonly about: string;
  readonly what: string;
  /** The number of repetitions, and the time of the last one. */
  readonly times: number;
  readonly until: number;
}

/**
 * - `happening`: a line of the script
 * - `change`: an object changed
 * - `event`, `warning`: an Event
 * - `backend`, `failure`: a call to a storage backend
 * - `why`: what an object waits for, as `moor why` explains it
 */
export type EntryType = 'happening' | 'change' | 'event' | 'warning' | 'backend' | 'failure' | 'why';

export type NewEntry = Pick<TimelineEntry, 'at' | 'type' | 'who' | 'about' | 'what'>;

/** The limit of the timeline; entries beyond it are only counted. */
const mostEntries = 20_000;

type Counted = { -readonly [K in keyof TimelineEntry]: TimelineEntry[K] };

export class ScenarioTimeline {
  readonly #entries: Counted[] = [];
  readonly #repeatable = new Map<string, Counted>();
  dropped = 0;

  get entries(): readonly TimelineEntry[] {
    return this.#entries;
  }

  /** `sameAs`: an entry with the same key and text is counted, not added. */
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
