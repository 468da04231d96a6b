import { GenerationCache } from './generation-cache.ts';
import { withoutTrailing } from './trailing.ts';

/**
 * Kubernetes' quantities, exact: "1.5Gi", "100m", "12e6".
 *
 * A worked example. "1.5Gi" is 1610612736 = unscaled × 10^exponent, and prints as "1536Mi": the largest unit in which it
 * is a whole number. The unit family stays the one it was written in; only what cannot be written in powers of two
 * ("0.1Gi") falls back to decimals ("107374182400m"). Nothing is finer than a nano: smaller parts are rounded up.
 */
export interface Quantity {
  readonly unscaled: bigint;
  /** A power of ten, at least -9. */
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** The text as it was given, where Kubernetes keeps it although it is not quite canonical ("1.500", "+1"). */
  readonly text?: string;
}

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** Kubernetes' words for what is wrong with a quantity. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantityError';
  }
}

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongNumber = 'unable to parse numeric part of quantity';
const wrongSuffix = "unable to parse quantity's suffix";

const maxInt64 = 2n ** 63n - 1n;
/** Digits that Kubernetes handles as an int64; numbers with more never keep their text. */
const maxInt64Digits = 18;
const finestExponent = -9;
/** Converting digits takes more than linear time; no amount in the world needs this many. */
const maxTextLength = 4096;
/** Beyond this distance of magnitudes a sum is the larger summand: the digits in between would not fit into memory. */
const maxAlignment = 4096;

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

const suffixes: ReadonlyMap<string, Suffix> = new Map(
  Object.entries({ n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 })
    .map(([suffix, exponent]): [string, Suffix] => [suffix, { base: 10, exponent, format: 'DecimalSI' }])
    .concat(
      ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index): [string, Suffix] => [suffix, { base: 2, exponent: (index + 1) * 10, format: 'BinarySI' }]),
    ),
);
const decimalSuffixes: ReadonlyMap<number, string> = new Map(
  [...suffixes].filter(([, { base }]) => base === 10).map(([text, { exponent }]) => [exponent, text]),
);
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

/** The same few quantities come again and again. */
const parsedQuantities = new GenerationCache<Quantity>(2000);
const longestCached = 24;

/** @throws QuantityError */
export function parseQuantity(text: string): Quantity {
  const known = parsedQuantities.get(text);
  if (known !== undefined) return known;
  const quantity = readQuantity(text);
  if (text.length <= longestCached) parsedQuantities.set(text, Object.freeze(quantity));
  return quantity;
}

function readQuantity(text: string): Quantity {
  if (text === '') throw new QuantityError(wrongFormat);
  if (text.length > maxTextLength) throw new QuantityError(wrongNumber);
  // A sign, a dot or a small unit alone is zero to Kubernetes; so the number may be empty here.
  const parts = /^([+-]?)(0*)([1-9][0-9]*)?(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?|[-+])[0-9]*)?$/.exec(text);
  if (parts === null) throw new QuantityError(wrongFormat);
  const [, sign = '', zeros = '', whole = '', fraction = '', suffixText = ''] = parts;
  const suffix = readSuffix(suffixText);
  const hasDigits = zeros + whole + fraction !== '';
  const number: WrittenNumber = { text, negative: sign === '-', whole: whole === '' ? '0' : whole, fraction, hasDigits };
  return suffix.base === 10 ? parseDecimal(number, suffix) : parseBinary(number, suffix);
}

interface WrittenNumber {
  readonly text: string;
  readonly negative: boolean;
  /** Without leading zeros, but never empty. */
  readonly whole: string;
  readonly fraction: string;
  readonly hasDigits: boolean;
}

function readSuffix(text: string): Suffix {
  const known = suffixes.get(text);
  if (known !== undefined) return known;
  const exponent = /^[eE]([-+]?[0-9]+)$/.exec(text)?.[1];
  if (exponent === undefined) throw new QuantityError(wrongSuffix);
  const parsed = BigInt(exponent.replace('+', ''));
  if (parsed !== BigInt.asIntN(64, parsed)) throw new QuantityError(wrongSuffix);
  return { base: 10, exponent: Number(BigInt.asIntN(32, parsed)), format: 'DecimalExponent' };
}

function parseDecimal(number: WrittenNumber, suffix: Suffix): Quantity {
  const digits = number.whole + number.fraction;
  const exponent = suffix.exponent - number.fraction.length;
  const unscaled = signed(BigInt(digits), number);
  if (digits.length <= maxInt64Digits && exponent >= finestExponent) {
    const keepsText = exponent % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
    return { unscaled, exponent, format: suffix.format, ...(keepsText ? { text: number.text } : {}) };
  }
  if (!number.hasDigits) throw new QuantityError(wrongNumber);
  return { ...atLeastNano(unscaled, exponent), format: suffix.format };
}

function parseBinary(number: WrittenNumber, suffix: Suffix): Quantity {
  const factor = 1n << BigInt(suffix.exponent);
  if (number.fraction === '' && number.whole.length + Math.trunc((suffix.exponent * 3) / 10) <= 14) {
    const value = BigInt(number.whole);
    const keepsText = (value & 7n) !== 0n;
    return { unscaled: signed(value * factor, number), exponent: 0, format: 'BinarySI', ...(keepsText ? { text: number.text } : {}) };
  }
  if (!number.hasDigits) throw new QuantityError(wrongNumber);
  const amount = atLeastNano(BigInt(number.whole + number.fraction) * factor, -number.fraction.length);
  if (compareAmounts(amount, { unscaled: maxInt64, exponent: 0 }) > 0) return { unscaled: signed(maxInt64, number), exponent: 0, format: 'BinarySI' };
  const belowOne = amount.unscaled !== 0n && compareAmounts(amount, { unscaled: 1n, exponent: 0 }) < 0;
  return { unscaled: signed(amount.unscaled, number), exponent: amount.exponent, format: belowOne ? 'DecimalSI' : 'BinarySI' };
}

const signed = (amount: bigint, { negative }: WrittenNumber): bigint => (negative ? -amount : amount);

type Amount = Pick<Quantity, 'unscaled' | 'exponent'>;

function atLeastNano(unscaled: bigint, exponent: number): Amount {
  return exponent >= finestExponent ? { unscaled, exponent } : { unscaled: divideAwayFromZero(unscaled, finestExponent - exponent), exponent: finestExponent };
}

/** unscaled / 10^places, rounded away from zero. */
function divideAwayFromZero(unscaled: bigint, places: number): bigint {
  // More places than digits: whatever is left is less than one.
  if (places > unscaled.toString().length) return unscaled === 0n ? 0n : unscaled > 0n ? 1n : -1n;
  const divisor = 10n ** BigInt(places);
  const quotient = unscaled / divisor;
  if (quotient * divisor === unscaled) return quotient;
  return unscaled > 0n ? quotient + 1n : quotient - 1n;
}

/** The canonical text, exactly as Kubernetes prints it. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.unscaled === 0n) return '0';
  if (quantity.format === 'BinarySI') {
    const whole = wholeValue(quantity);
    if (whole !== undefined && (whole >= 1024n || whole <= -1024n)) return formatBinary(whole);
  }
  return formatDecimal(quantity, quantity.format === 'DecimalExponent' ? 'DecimalExponent' : 'DecimalSI');
}

function wholeValue({ unscaled, exponent }: Amount): bigint | undefined {
  if (exponent >= 0) return exponent > maxAlignment ? undefined : unscaled * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return unscaled % divisor === 0n ? unscaled / divisor : undefined;
}

function formatBinary(value: bigint): string {
  let amount = value;
  let power = 0;
  for (; power < binarySuffixes.length - 1 && amount % 1024n === 0n; power++) amount /= 1024n;
  return `${amount}${binarySuffixes[power]}`;
}

function formatDecimal({ unscaled, exponent }: Amount, format: 'DecimalSI' | 'DecimalExponent'): string {
  let digits = unscaled.toString();
  let power = exponent;
  const significant = withoutTrailing(digits, '0');
  const zeros = digits.length - significant.length;
  digits = significant;
  power += zeros;
  const padding = ((power % 3) + 3) % 3;
  digits += '0'.repeat(padding);
  power -= padding;
  const suffix = format === 'DecimalSI' ? decimalSuffixes.get(power) : undefined;
  // Beyond E Kubernetes forgets the unit and prints 1000E as 1; an exponent keeps the value.
  return digits + (suffix ?? (power === 0 ? '' : `e${power}`));
}

/** @throws QuantityError */
export function canonicalQuantity(text: string): string {
  return formatQuantity(parseQuantity(text));
}

/** A quantity of whole units: 1024n bytes as 'BinarySI' prints as "1Ki". */
export function quantityOf(value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
  return { unscaled: BigInt(value), exponent: 0, format };
}

/** @throws QuantityError if a text is no quantity */
export function toQuantity(quantity: Quantity | string): Quantity {
  return typeof quantity === 'string' ? parseQuantity(quantity) : quantity;
}

/** Negative, zero or positive: for sorting and comparing. */
export function compareQuantities(a: Quantity | string, b: Quantity | string): number {
  return compareAmounts(toQuantity(a), toQuantity(b));
}

function compareAmounts(a: Amount, b: Amount): number {
  if (a.exponent === b.exponent) return a.unscaled < b.unscaled ? -1 : a.unscaled > b.unscaled ? 1 : 0;
  const signA = signOf(a.unscaled);
  const signB = signOf(b.unscaled);
  if (signA !== signB || signA === 0) return signA - signB;
  // Magnitudes first, so that 1e999999999 is never written out.
  const difference = magnitude(a) - magnitude(b);
  if (difference !== 0) return difference > 0 ? signA : -signA;
  const [left, right] = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

const signOf = (value: bigint): number => (value > 0n ? 1 : value < 0n ? -1 : 0);
const magnitude = ({ unscaled, exponent }: Amount): number => exponent + unscaled.toString().replace('-', '').length;

/** Both unscaled values at the finer of the two exponents. */
function aligned(a: Amount, b: Amount): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.unscaled * 10n ** BigInt(a.exponent - exponent), b.unscaled * 10n ** BigInt(b.exponent - exponent), exponent];
}

/** The sum, in the format of `a`; in that of `b` if `a` is zero. */
export function addQuantities(a: Quantity | string, b: Quantity | string): Quantity {
  const left = toQuantity(a);
  const right = toQuantity(b);
  const format = left.unscaled === 0n ? right.format : left.format;
  if (left.unscaled === 0n || right.unscaled === 0n) {
    const { unscaled, exponent } = left.unscaled === 0n ? right : left;
    return { unscaled, exponent, format };
  }
  if (Math.abs(left.exponent - right.exponent) > maxAlignment) {
    const { unscaled, exponent } = magnitude(left) > magnitude(right) ? left : right;
    return { unscaled, exponent, format };
  }
  const [x, y, exponent] = aligned(left, right);
  return { unscaled: x + y, exponent, format };
}

export function subtractQuantities(a: Quantity | string, b: Quantity | string): Quantity {
  return addQuantities(a, negateQuantity(b));
}

export function negateQuantity(quantity: Quantity | string): Quantity {
  const { unscaled, exponent, format } = toQuantity(quantity);
  return { unscaled: -unscaled, exponent, format };
}

export function isZeroQuantity(quantity: Quantity | string): boolean {
  return toQuantity(quantity).unscaled === 0n;
}

/** -1, 0 or 1. */
export function quantitySign(quantity: Quantity | string): number {
  return signOf(toQuantity(quantity).unscaled);
}

/** In whole units (bytes), rounded away from zero; at most what an int64 holds. */
export function quantityValue(quantity: Quantity | string): bigint {
  return scaledValue(toQuantity(quantity), 0);
}

/** In thousandths, rounded away from zero; at most what an int64 holds. */
export function quantityMilliValue(quantity: Quantity | string): bigint {
  return scaledValue(toQuantity(quantity), -3);
}

function scaledValue({ unscaled, exponent }: Amount, scale: number): bigint {
  if (exponent < scale) return clampToInt64(divideAwayFromZero(unscaled, scale - exponent));
  // 20 digits are beyond an int64 whatever they are.
  return clampToInt64(unscaled * 10n ** BigInt(Math.min(exponent - scale, 20)));
}

function clampToInt64(value: bigint): bigint {
  if (value > maxInt64) return maxInt64;
  return value < -maxInt64 ? -maxInt64 : value;
}

/** As close as a number comes. */
export function quantityToNumber(quantity: Quantity | string): number {
  const { unscaled, exponent } = toQuantity(quantity);
  return Number(`${unscaled}e${exponent}`);
}

/** Rounded up to thousandths, as every entry of a resource list is. */
export function roundUpToMilli(quantity: Quantity): Quantity {
  if (quantity.exponent >= -3) return quantity;
  return { unscaled: divideAwayFromZero(quantity.unscaled, -3 - quantity.exponent), exponent: -3, format: quantity.format };
}
