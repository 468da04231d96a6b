import type { Change } from '../contract.ts';
import type { Version } from './version.ts';

/** What one revision wrote, and what watchers are told of it. */
export interface Revision {
  readonly versions: readonly Version[];
  readonly changes: readonly Change[];
}

/** Every revision after a first one, found by its number. */
export class History {
  /** Revision `#first + i` is at `#revisions[#head + i]`. */
  #revisions: Revision[] = [];
  #head = 0;
  #first: number;

  /** The first revision to be pushed is the one after `revision`. */
  constructor(revision: number) {
    this.#first = revision + 1;
  }

  /** The oldest revision that is still here; if there is none, the next one that will be pushed. */
  get first(): number {
    return this.#first;
  }

  push(revision: Revision): void {
    this.#revisions.push(revision);
  }

  at(revision: number): Revision | undefined {
    return revision < this.#first ? undefined : this.#revisions[this.#head + revision - this.#first];
  }

  /** Takes out the oldest revision. */
  shift(): Revision | undefined {
    const oldest = this.#revisions[this.#head];
    if (oldest === undefined) return undefined;
    this.#revisions[this.#head] = NOTHING;
    this.#head++;
    this.#first++;
    if (this.#head > 1024 && this.#head * 2 > this.#revisions.length) {
      this.#revisions = this.#revisions.slice(this.#head);
      this.#head = 0;
    }
    return oldest;
  }
}

const NOTHING: Revision = { versions: [], changes: [] };
