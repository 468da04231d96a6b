import { SortedList } from '../../../storage/volumes/sorted-list.ts';
import { isWithin, type OrdinalRange } from './identity.ts';

/**
 * The ordinals of a range without a pod, as gaps: a StatefulSet of a billion replicas is one of them.
 *
 *     range 0…9, pods 3 and 4   → 0…2, 5…9
 */
export class OrdinalGaps {
  readonly #range: OrdinalRange;
  readonly #gaps = new SortedList<OrdinalRange>((a, b) => a.start - b.start);

  constructor(range: OrdinalRange) {
    this.#range = range;
    this.#put(range);
  }

  /** The ordinal has a pod. */
  fill(ordinal: number): void {
    const [gap] = this.#gaps.downFrom(({ start }) => start <= ordinal);
    if (gap === undefined || !isWithin(gap, ordinal)) return;
    this.#gaps.remove(gap);
    this.#put({ start: gap.start, end: ordinal });
    this.#put({ start: ordinal + 1, end: gap.end });
  }

  /** The ordinal has no pod any more. */
  open(ordinal: number): void {
    if (!isWithin(this.#range, ordinal)) return;
    const [before] = this.#gaps.downFrom(({ start }) => start <= ordinal);
    if (before !== undefined && isWithin(before, ordinal)) return;
    const [after] = this.#gaps.from(({ start }) => start <= ordinal);
    const start = before?.end === ordinal ? before.start : ordinal;
    const end = after?.start === ordinal + 1 ? after.end : ordinal + 1;
    if (after !== undefined && end === after.end) this.#gaps.remove(after);
    this.#put({ start, end });
  }

  #put(gap: OrdinalRange): void {
    if (gap.start < gap.end) this.#gaps.add(gap);
  }

  *upwards(): Generator<number, void, undefined> {
    for (const { start, end } of this.#gaps.from(() => false)) for (let ordinal = start; ordinal < end; ordinal++) yield ordinal;
  }

  *downwards(): Generator<number, void, undefined> {
    for (const { start, end } of this.#gaps.downFrom(() => true)) for (let ordinal = end - 1; ordinal >= start; ordinal--) yield ordinal;
  }
}
