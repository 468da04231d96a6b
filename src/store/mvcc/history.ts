import type { Version } from './version.ts';

/** The writes of every revision after a first one. */
export class History {
  /** Revision `#first + i` is at `#revisions[#head + i]`. */
  #revisions: (readonly Version[])[] = [];
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

  push(versions: readonly Version[]): void {
    this.#revisions.push(versions);
  }

  /** Revisions without writes here. */
  skip(revisions: number): void {
    for (let i = 0; i < revisions; i++) this.#revisions.push(NOTHING);
  }

  at(revision: number): readonly Version[] | undefined {
    return revision < this.#first ? undefined : this.#revisions[this.#head + revision - this.#first];
  }

  /** Takes out the oldest revision. */
  shift(): readonly Version[] {
    const oldest = this.#revisions[this.#head];
    if (oldest === undefined) return NOTHING;
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

const NOTHING: readonly Version[] = [];
