import type { KubeObject } from '../../../api/object.ts';
import { type Meter, readMeter } from '../../../api/quota/meter.ts';
import { RunningSum } from '../../../api/quota/running-sum.ts';
import { nothingUsed, sameUsage, type Usage } from '../../../api/quota/usage.ts';
import type { Change } from '../../../client/informers/cache.ts';

/**
 * What objects use of what one quota limits, kept up to date change by change: a claim that goes from a namespace of a
 * hundred thousand costs one subtraction.
 *
 * A pod whose grace has run out stops counting without any change, so what a pod counted as is not a function of the pod
 * alone: who has been counted as ended is remembered, and taken away as such.
 */
export class Tally {
  readonly #sums = new Map<string, RunningSum>();
  /** By uid: those that will stop counting. */
  readonly #ending = new Map<string, { readonly meter: Meter; readonly object: KubeObject; readonly at: number }>();
  /** uids of those that have. */
  readonly #ended = new Set<string>();
  /** Nobody stops counting before. */
  #nextEnd = Infinity;

  constructor(meters: Iterable<Meter>) {
    for (const { names } of meters) for (const name of names) this.#sums.set(name, new RunningSum());
  }

  /** Whether that makes a difference, now or earlier than anything else will. `now`: milliseconds since 1970. */
  change(meter: Meter, { before, after }: Change<KubeObject>, now: number): boolean {
    const nextEnd = this.#nextEnd;
    const less = before === undefined ? nothingUsed : this.#takeOut(meter, before);
    const more = after === undefined ? nothingUsed : this.#putIn(meter, after, now);
    if (sameUsage(less, more)) return this.#nextEnd < nextEnd;
    this.#replace(less, more);
    return true;
  }

  /** Lets those go whose time has come. */
  advance(now: number): void {
    if (now <= this.#nextEnd) return;
    this.#nextEnd = Infinity;
    for (const [uid, { meter, object, at }] of this.#ending) {
      if (now <= at) {
        this.#nextEnd = Math.min(this.#nextEnd, at);
        continue;
      }
      this.#ending.delete(uid);
      this.#ended.add(uid);
      this.#replace(readMeter(meter, object, beforeItsEnd), readMeter(meter, object, afterItsEnd));
    }
  }

  /** Zeros are said. */
  total(): Usage {
    return new Map([...this.#sums].map(([name, sum]) => [name, sum.value]));
  }

  /** When somebody may stop counting although nothing changes; milliseconds since 1970. */
  get nextEnd(): number | undefined {
    return this.#nextEnd === Infinity ? undefined : this.#nextEnd;
  }

  #takeOut(meter: Meter, object: KubeObject): Usage {
    const uid = object.metadata.uid ?? '';
    this.#ending.delete(uid);
    return readMeter(meter, object, this.#ended.delete(uid) ? afterItsEnd : beforeItsEnd);
  }

  #putIn(meter: Meter, object: KubeObject, now: number): Usage {
    const uid = object.metadata.uid ?? '';
    const at = meter.evaluator.endsAt?.(object);
    if (at === undefined) return readMeter(meter, object, beforeItsEnd);
    if (now > at) {
      this.#ended.add(uid);
      return readMeter(meter, object, afterItsEnd);
    }
    this.#ending.set(uid, { meter, object, at });
    this.#nextEnd = Math.min(this.#nextEnd, at);
    return readMeter(meter, object, beforeItsEnd);
  }

  #replace(less: Usage, more: Usage): void {
    for (const [name, amount] of less) this.#sums.get(name)?.subtract(amount);
    for (const [name, amount] of more) this.#sums.get(name)?.add(amount);
  }
}

const beforeItsEnd = -Infinity;
const afterItsEnd = Infinity;
