import { type FieldError, forbidden, invalid, tooLong } from '../../field-error.ts';
import type { ConfigMap } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { configMapKeyProblems } from '../../validation/formats.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { byteLength } from '../../validation/text.ts';
import { base64ByteLength } from '../base64.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

/** What a ConfigMap or a Secret may hold in all. */
export const MAX_DATA_SIZE = 1024 * 1024;
export const FIXED = 'field is immutable when `immutable` is set';

export const validateKeys = (data: Readonly<Record<string, string>>, field: string): FieldError[] =>
  Object.keys(data).flatMap((key) => configMapKeyProblems(key).map((wrong) => invalid(`${field}[${key}]`, key, wrong)));

function validate({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const key of Object.keys(data)) {
    for (const wrong of configMapKeyProblems(key)) errors.push(invalid(`data[${key}]`, key, wrong));
    if (Object.hasOwn(binaryData, key)) errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    size += byteLength(data[key] ?? '');
  }
  for (const key of Object.keys(binaryData)) size += base64ByteLength(binaryData[key] ?? '');
  errors.push(...validateKeys(binaryData, 'binaryData'));
  // No field: it is the object as a whole.
  if (size > MAX_DATA_SIZE) errors.push(tooLong('', MAX_DATA_SIZE));
  return errors;
}

function validateUpdate(map: ConfigMap, old: ConfigMap): FieldError[] {
  if (old.immutable !== true) return [];
  const errors: FieldError[] = map.immutable === true ? [] : [forbidden('immutable', FIXED)];
  for (const field of ['data', 'binaryData'] as const) if (!semanticallyEqual(map[field], old[field])) errors.push(forbidden(field, FIXED));
  return errors;
}

const countOf = (record: object | undefined): number => Object.keys(record ?? {}).length;

export const configMapKind: Kind<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  categories: [],
  namespaced: true,
  type: 'ConfigMap',
  storage: { resource: 'configmaps' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'change', 'metadata', 'object'] },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, textColumn('Data', (map) => countOf(map.data) + countOf(map.binaryData)), ageColumn],
};
