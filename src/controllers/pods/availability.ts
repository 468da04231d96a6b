import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { SortedList } from '../../storage/volumes/sorted-list.ts';
import { isPodReady, readySince } from './state.ts';

interface ReadyPod {
  /** When the pod has been ready for minReadySeconds. Infinite: its condition has no time, so it never will have been. */
  readonly availableAt: number;
  readonly pod: Stored<Pod>;
}

/** The ready pods of one controller, by when they are available. A change costs O(log n); without minReadySeconds nothing is kept. */
export class Availability {
  readonly #minReadyMs: number;
  readonly #ready = new SortedList<ReadyPod>((a, b) => compare(a.availableAt, b.availableAt) || compare(a.pod.metadata.name, b.pod.metadata.name));

  constructor(minReadySeconds: number | undefined) {
    this.#minReadyMs = (minReadySeconds ?? 0) * 1000;
  }

  add(pod: Stored<Pod>): void {
    if (this.#counts(pod)) this.#ready.add(this.#entryOf(pod));
  }

  /** The pod as it was when it was added. */
  remove(pod: Stored<Pod>): void {
    if (this.#counts(pod)) this.#ready.remove(this.#entryOf(pod));
  }

  #counts(pod: Stored<Pod>): boolean {
    return this.#minReadyMs > 0 && isPodReady(pod);
  }

  #entryOf(pod: Stored<Pod>): ReadyPod {
    return { availableAt: (readySince(pod) ?? Infinity) + this.#minReadyMs, pod };
  }

  /** Pods that are ready, but not for long enough: as many as became ready within the last minReadySeconds. */
  *notYet(now: number): Generator<Stored<Pod>, void, undefined> {
    for (const { pod } of this.#ready.from(({ availableAt }) => availableAt <= now)) yield pod;
  }

  /** When the next pod becomes available if it stays ready. Undefined: none will. */
  next(now: number): number | undefined {
    const [first] = this.#ready.from(({ availableAt }) => availableAt <= now);
    return first === undefined || first.availableAt === Infinity ? undefined : first.availableAt;
  }
}

const compare = <T extends number | string>(a: T, b: T): number => (a === b ? 0 : a < b ? -1 : 1);
