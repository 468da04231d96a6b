import { type FieldError, invalid, required } from '../field-error.ts';
import { dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems } from './names.ts';

/** One error for each thing that is wrong with a value. */
export const invalidEach = (field: string, value: unknown, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => invalid(field, value, problem));

export const dnsLabel = (value: string, field: string): FieldError[] => invalidEach(field, value, dnsLabelProblems(value));
export const dnsSubdomain = (value: string, field: string): FieldError[] => invalidEach(field, value, dnsSubdomainProblems(value));
export const qualifiedName = (value: string, field: string): FieldError[] => invalidEach(field, value, labelKeyProblems(value));

/** A text or list that must not be left out or empty. */
export const present = (value: string | readonly unknown[] | null | undefined, field: string, detail = ''): FieldError[] =>
  value === undefined || value === null || value.length === 0 ? [required(field, detail)] : [];

/** A map's own entry: keys come from clients, and one of them may be called 'constructor'. */
export const entry = <V>(map: Readonly<Record<string, V>> | undefined, key: string): V | undefined =>
  map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
