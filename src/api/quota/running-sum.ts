import { addQuantities, compareQuantities, type Quantity, type QuantityFormat, subtractQuantities } from '../quantity.ts';
import { zero } from './usage.ts';

/**
 * A sum whose summands come and go, as if it were computed anew each time.
 *
 *     add 1Gi, add 1G, subtract 1Gi  → 1G, not 1000000000: it has the format of the summands that are left
 *     add 1Gi, add 1e9999, subtract 1e9999  → 1Gi: a huge summand must not swallow the rest
 */
export class RunningSum {
  #exact: Quantity = zero;
  /** Summands that cannot be written out beside the others. */
  readonly #huge: Quantity[] = [];
  readonly #formats: Record<QuantityFormat, number> = { BinarySI: 0, DecimalSI: 0, DecimalExponent: 0 };

  add(amount: Quantity): void {
    this.#count(amount, 1);
    if (isHuge(amount)) this.#huge.push(amount);
    else this.#exact = addQuantities(this.#exact, amount);
  }

  /** Of what was added before. */
  subtract(amount: Quantity): void {
    this.#count(amount, -1);
    if (!isHuge(amount)) {
      this.#exact = subtractQuantities(this.#exact, amount);
      return;
    }
    const index = this.#huge.findIndex((each) => compareQuantities(each, amount) === 0);
    if (index >= 0) this.#huge.splice(index, 1);
  }

  get value(): Quantity {
    const { unscaled, exponent } = this.#huge.reduce(addQuantities, this.#exact);
    return unscaled === 0n ? zero : { unscaled, exponent, format: this.#format() };
  }

  /** The format of a mixture is undefined; Kubernetes takes that of the first summand. */
  #format(): QuantityFormat {
    if (this.#formats.BinarySI > 0) return 'BinarySI';
    return this.#formats.DecimalSI > 0 ? 'DecimalSI' : 'DecimalExponent';
  }

  #count({ unscaled, format }: Quantity, change: 1 | -1): void {
    if (unscaled !== 0n) this.#formats[format] += change;
  }
}

const isHuge = ({ exponent }: Quantity): boolean => exponent > 1000;
