/** What clients asked for and were told, and what watchers saw: the input of the checker. */

/** Ticks count all beginnings and ends of a history: what ended before another began has a lower one. */
export interface Operation {
  readonly key: string;
  readonly call: number;
  readonly end: number;
  readonly what:
    | { readonly type: 'read' /** undefined: the key was absent. */; readonly found: FoundVersion | undefined }
    | {
        readonly type: 'write';
        readonly value: string;
        /** The revision that the write was based on; 0: the key had to be absent. */
        readonly base: number;
        readonly outcome: number | 'refused' | 'unknown';
        /** Of the leader that wrote; absent: the write is not fenced. */
        readonly epoch?: number;
      }
    | { readonly type: 'delete'; readonly base: number; readonly outcome: 'done' | 'refused' | 'unknown' };
}

export interface FoundVersion {
  readonly revision: number;
  readonly value: string;
}

/** What one watcher was told of a key. */
export interface WatchedChange {
  readonly key: string;
  readonly revision: number;
  /** undefined: it was deleted. */
  readonly value: string | undefined;
}

/** A watcher from its first list on. `listedAgain`: changes up to this revision were not delivered, since the watch could not be resumed. */
export interface Watched {
  readonly name: string;
  readonly after: number;
  readonly events: readonly (WatchedChange | { readonly listedAgain: number })[];
}

export interface History {
  readonly operations: readonly Operation[];
  readonly watchers: readonly Watched[];
  /** Revisions at which a leader took over. */
  readonly epochs: readonly number[];
  /** The store behind the servers loses events: when a server notices, its watches list again. */
  readonly losesEvents?: boolean;
  /** The reads of a server that has not noticed yet may be old. */
  readonly readsMayBeOld?: boolean;
}

/** Collects a history. */
export class Recorder {
  readonly operations: Operation[] = [];
  readonly watchers: { name: string; after: number; events: Watched['events'][number][] }[] = [];
  readonly epochs: number[] = [];
  #ticks = 0;
  #values = 0;

  /** No two writes have the same value. */
  nextValue(): string {
    return `v${++this.#values}`;
  }

  async during(key: string, ask: () => Promise<Operation['what'] | undefined>): Promise<void> {
    const call = ++this.#ticks;
    const what = await ask();
    if (what !== undefined) this.operations.push({ key, call, end: ++this.#ticks, what });
  }

  /** One answer about several keys. */
  async reading(ask: () => Promise<ReadonlyMap<string, FoundVersion | undefined> | undefined>): Promise<void> {
    const call = ++this.#ticks;
    const found = await ask();
    const end = ++this.#ticks;
    for (const [key, version] of found ?? []) this.operations.push({ key, call, end, what: { type: 'read', found: version } });
  }
}
