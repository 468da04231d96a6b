import { type FieldError, invalid, required, tooLong } from '../field-error.ts';
import { labelKeyProblems } from './names.ts';
import { byteLength } from './text.ts';

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_SIZE = 256 * 1024;

/** Who acts on a class: a qualified name, whatever its case. */
export function validateProvisioner(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)];
  const lowered = name.toLowerCase();
  return labelKeyProblems(lowered).map((wrong) => invalid(field, lowered, wrong));
}

/** The parameters that a class passes to its driver. */
export function validateParameters(
  parameters: Readonly<Record<string, string>>,
  field: string,
  { mayBeEmpty }: { readonly mayBeEmpty: boolean },
): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [tooLong(field, MAX_PARAMETERS)];
  const errors = entries.filter(([key]) => key === '').map(([key]) => invalid(field, key, 'field can not be empty.'));
  const size = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (size > MAX_PARAMETERS_SIZE) errors.push(tooLong(field, MAX_PARAMETERS_SIZE));
  if (!mayBeEmpty && entries.length === 0) errors.push(required(field, 'must contain at least one key/value pair'));
  return errors;
}
