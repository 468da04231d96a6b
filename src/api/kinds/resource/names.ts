import { type FieldError, invalid, required, tooLong } from '../../field-error.ts';
import { dnsSubdomain } from '../../validation/field-rules.ts';
import { validateCsiDriverName } from '../../validation/volume-sources.ts';

const POOL_NAME_MAX = 253;
const IDENTIFIER_MAX = 32;

/** The names of drivers obey the rules of CSI drivers. */
export const validateDriverName = validateCsiDriverName;

/** DNS names, separated by slashes. */
export function validatePoolName(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)];
  return [...(name.length > POOL_NAME_MAX ? [tooLong(field, POOL_NAME_MAX)] : []), ...name.split('/').flatMap((part) => dnsSubdomain(part, field))];
}

/** The name of an attribute or capacity: 'model', 'gpu.example.com/model'. */
export function validateQualifiedName(name: string, field: string): FieldError[] {
  const [first = '', second, ...more] = name.split('/');
  if (more.length > 0) return [invalid(field, name, 'must be a domain and a name separated by a slash')];
  if (second === undefined) return validateIdentifier(first, field);
  return [
    ...(first === '' ? [invalid(field, '', 'the domain must not be empty')] : validateDriverName(first, field)),
    ...(second === '' ? [invalid(field, '', 'the name must not be empty')] : validateIdentifier(second, field)),
  ];
}

export function validateFullyQualifiedName(name: string, field: string): FieldError[] {
  const errors = validateQualifiedName(name, field);
  return name.includes('/') ? errors : [...errors, invalid(field, name, 'a fully qualified name must be a domain and a name separated by a slash')];
}

function validateIdentifier(id: string, field: string): FieldError[] {
  const errors = id.length > IDENTIFIER_MAX ? [tooLong(field, IDENTIFIER_MAX)] : [];
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(id)) return errors;
  const rule =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";
  return [...errors, invalid(field, id, rule)];
}
