import type { Stored } from '../../../api/stored.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type Meter, readMeter } from '../../../api/quota/meter.ts';
import { RunningSum } from '../../../api/quota/running-sum.ts';
import { nothingUsed, sameUsage, type Usage } from '../../../api/quota/usage.ts';
import type { Change } from '../../../client/informers/cache.ts';

/**
 * What objects use of the resources of one quota, updated with each change: the deletion of one of a hundred thousand
 * claims costs one subtraction.
 *
 * A terminating pod stops counting when its grace period is over, without a change. So what a pod counted as is not a function of
 * the pod alone: the tally remembers which pods it counted as ended, and subtracts them as such.
 */
export class Tally {
  readonly #sums = new Map<string, RunningSum>();
  /** By uid: objects that will stop counting. */
  readonly #ending = new Map<string, { readonly meter: Meter; readonly object: Stored<KubeObject>; readonly at: number }>();
  /** uids of objects that have stopped counting. */
  readonly #ended = new Set<string>();
  /** No object stops counting before. */
  #nextEnd = Infinity;

  constructor(meters: Iterable<Meter>) {
    for (const { names } of meters) for (const name of names) this.#sums.set(name, new RunningSum());
  }

  /** Whether the usage changes, or will change earlier than it would have. `now`: milliseconds since 1970. */
  change(meter: Meter, { before, after }: Change<KubeObject>, now: number): boolean {
    const nextEnd = this.#nextEnd;
    const less = before === undefined ? nothingUsed : this.#takeOut(meter, before);
    const more = after === undefined ? nothingUsed : this.#putIn(meter, after, now);
    if (sameUsage(less, more)) return this.#nextEnd < nextEnd;
    this.#replace(less, more);
    return true;
  }

  /** Stops counting the objects whose end has come. */
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

  /** Includes zeros. */
  total(): Usage {
    return new Map([...this.#sums].map(([name, sum]) => [name, sum.value]));
  }

  /** When the next object stops counting without a change; milliseconds since 1970. */
  get nextEnd(): number | undefined {
    return this.#nextEnd === Infinity ? undefined : this.#nextEnd;
  }

  #takeOut(meter: Meter, object: Stored<KubeObject>): Usage {
    const uid = object.metadata.uid;
    this.#ending.delete(uid);
    return readMeter(meter, object, this.#ended.delete(uid) ? afterItsEnd : beforeItsEnd);
  }

  #putIn(meter: Meter, object: Stored<KubeObject>, now: number): Usage {
    const uid = object.metadata.uid;
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
