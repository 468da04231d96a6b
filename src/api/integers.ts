/** Integers in texts of clients. Making a number of digits takes time that grows with the square of their count: the length is checked first. */

export interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
}

export const int32: IntegerRange = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
export const int64: IntegerRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
export const uint64: IntegerRange = { min: 0n, max: 2n ** 64n - 1n };

/** No integer of 64 bits has more digits. */
const maxDigits = 20;

/** Digits with a sign or without, as Go's strconv reads them; 'syntax': it is no integer; 'range': it is too large or too small. */
export function readInteger(text: string, { min, max }: IntegerRange): bigint | 'syntax' | 'range' {
  if (!/^[+-]?[0-9]+$/.test(text)) return 'syntax';
  const digits = text.replace(/^[+-]?0*/, '');
  if (digits.length > maxDigits) return 'range';
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  return value >= min && value <= max ? value : 'range';
}
