import { type FieldError, invalid } from '../field-error.ts';
import { percentProblems } from './formats.ts';
import { nonNegative } from './metadata.ts';

/** A number of pods, or a share of them: 3 or '30%'. */
export function positiveIntOrPercent(value: number | string, field: string): FieldError[] {
  return typeof value === 'number' ? nonNegative(value, field) : percentProblems(value).map((wrong) => invalid(field, value, wrong));
}

export function notMoreThan100Percent(value: number | string, field: string): FieldError[] {
  if (typeof value === 'number' || percentProblems(value).length > 0 || Number(value.slice(0, -1)) <= 100) return [];
  return [invalid(field, value, 'must not be greater than 100%')];
}
