import { formatQuantity, parseQuantity, roundUpToMilli } from '../quantity.ts';

/** Rounds every amount up to thousandths, in place: no resource list has finer ones. */
export function roundUpResourceList(list: Record<string, string> | undefined): void {
  for (const [name, quantity] of Object.entries(list ?? {})) {
    // Only amounts that are printed in millionths or finer, or with a negative exponent, can have anything to round.
    if (/[nu]$|e-/.test(quantity) && list !== undefined) list[name] = formatQuantity(roundUpToMilli(parseQuantity(quantity)));
  }
}
