/** The values that a label of a node may have (scheduling.Requirement). */
export interface ValueSet {
  /** True: all values but these. */
  readonly isComplement: boolean;
  readonly values: ReadonlySet<string>;
  /** Bounds of the number that the value is; both inclusive. */
  readonly least?: number;
  readonly most?: number;
  /** At least so many values have to be left (minValues). */
  readonly minValues?: number;
}

export type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

const noValues: ReadonlySet<string> = new Set();
export const anyValue: ValueSet = { isComplement: true, values: noValues };

/** Of an operator that is unknown: no value. An API server refuses those. */
export function valueSetOf(operator: string, values: readonly string[] = [], minValues?: number): ValueSet {
  const kept = minValues === undefined ? {} : { minValues };
  const number = Number(values[0] ?? Number.NaN);
  switch (operator) {
    case 'In':
      return { isComplement: false, values: new Set(values), ...kept };
    case 'NotIn':
      return { isComplement: true, values: new Set(values), ...kept };
    case 'Exists':
      return { ...anyValue, ...kept };
    case 'Gt':
      return { ...anyValue, least: number + 1, ...kept };
    case 'Gte':
      return { ...anyValue, least: number, ...kept };
    case 'Lt':
      return { ...anyValue, most: number - 1, ...kept };
    case 'Lte':
      return { ...anyValue, most: number, ...kept };
    default:
      return { isComplement: false, values: noValues, ...kept };
  }
}

export const exactly = (...values: readonly string[]): ValueSet => ({ isComplement: false, values: new Set(values) });

export function hasValue(set: ValueSet, value: string): boolean {
  return set.values.has(value) !== set.isComplement && isWithin(value, set);
}

function isWithin(value: string, { least, most }: Pick<ValueSet, 'least' | 'most'>): boolean {
  if (least === undefined && most === undefined) return true;
  const number = Number(value);
  return Number.isInteger(number) && number >= (least ?? Number.NEGATIVE_INFINITY) && number <= (most ?? Number.POSITIVE_INFINITY);
}

export function intersection(a: ValueSet, b: ValueSet): ValueSet {
  if (a === b) return a;
  const bounds = boundsOf(a, b);
  const minValues = largest(a.minValues, b.minValues);
  const kept = minValues === undefined ? {} : { minValues };
  if (bounds.least !== undefined && bounds.most !== undefined && bounds.least > bounds.most) return { isComplement: false, values: noValues, ...kept };
  if (a.isComplement && b.isComplement) return { isComplement: true, values: new Set([...a.values, ...b.values]), ...bounds, ...kept };
  const [listed, other] = a.isComplement ? [b, a] : [a, b];
  const values = new Set([...listed.values].filter((value) => hasValue(other, value) && isWithin(value, bounds)));
  return { isComplement: false, values, ...kept };
}

function boundsOf(a: ValueSet, b: ValueSet): Pick<ValueSet, 'least' | 'most'> {
  const least = largest(a.least, b.least);
  const most = a.most === undefined ? b.most : b.most === undefined ? a.most : Math.min(a.most, b.most);
  return { ...(least === undefined ? {} : { least }), ...(most === undefined ? {} : { most }) };
}

const largest = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined ? b : b === undefined ? a : Math.max(a, b));

/** Whether two sets have a value in common, without building the intersection. */
export function overlap(a: ValueSet, b: ValueSet): boolean {
  if (a.isComplement && b.isComplement) return !isEmpty(intersection(a, b));
  const [listed, other] = a.isComplement ? [b, a] : [a, b];
  for (const value of listed.values) if (hasValue(other, value) && isWithin(value, listed)) return true;
  return false;
}

/** No value, which means that the label must be absent. */
export const isEmpty = ({ isComplement, values }: ValueSet): boolean => !isComplement && values.size === 0;

export function operatorOf({ isComplement, values }: ValueSet): Operator {
  if (isComplement) return values.size === 0 ? 'Exists' : 'NotIn';
  return values.size === 0 ? 'DoesNotExist' : 'In';
}

/** A node without the label satisfies it. */
export const allowsAbsence = (set: ValueSet): boolean => {
  const operator = operatorOf(set);
  return operator === 'NotIn' || operator === 'DoesNotExist';
};
