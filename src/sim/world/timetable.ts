/** A callback and its time. A cancelled plan stays in the heap and is skipped. */
export interface Plan {
  readonly at: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/** Plans by time: a binary heap. Plans of the same time come out in no particular order. */
export class Timetable {
  readonly #heap: Plan[] = [];

  add(plan: Plan): void {
    let child = this.#heap.push(plan) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (this.#at(parent) <= plan.at) break;
      this.#swap(parent, child);
      child = parent;
    }
  }

  nextTime(): number | undefined {
    return this.#heap[0]?.at;
  }

  /** Removes the earliest plan. */
  take(): Plan | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined || this.#heap.length === 0) return first;
    this.#heap[0] = last;
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const child = this.#at(left + 1) < this.#at(left) ? left + 1 : left;
      if (this.#at(child) >= last.at) return first;
      this.#swap(parent, child);
      parent = child;
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.at ?? Number.POSITIVE_INFINITY;
  }

  #swap(i: number, j: number): void {
    const [a, b] = [this.#heap[i], this.#heap[j]];
    if (a === undefined || b === undefined) return;
    this.#heap[i] = b;
    this.#heap[j] = a;
  }
}
