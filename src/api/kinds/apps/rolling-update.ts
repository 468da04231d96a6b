import { type FieldError, invalid } from '../../field-error.ts';
import { percentProblems } from '../../validation/formats.ts';
import { nonNegative } from '../../validation/metadata.ts';
import { invalidEach } from '../../validation/field-rules.ts';

/** A number of pods, or a share of them: 1, '25%'. */
export type IntOrPercent = number | string;

export const intOrPercent = (value: IntOrPercent, field: string): FieldError[] =>
  typeof value === 'number' ? nonNegative(value, field) : invalidEach(field, value, percentProblems(value));

export function atMostAll(value: IntOrPercent, field: string): FieldError[] {
  return typeof value === 'string' && isPercent(value) && amountOf(value) > 100 ? [invalid(field, value, 'must not be greater than 100%')] : [];
}

/** The number, or that of percents; 0 for a text that is neither. */
export function amountOf(value: IntOrPercent): number {
  if (typeof value === 'number') return value;
  if (isPercent(value)) return Number(value.slice(0, -1));
  return /^[+-]?[0-9]+$/.test(value) ? Number(value) : 0;
}

const isPercent = (value: string): boolean => percentProblems(value).length === 0;
