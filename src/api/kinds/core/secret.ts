import { type FieldError, forbidden, invalid, required, tooLong } from '../../field-error.ts';
import type { Secret } from '../../generated/types.ts';
import { isJsonObject, JsonError, jsonTypeOf, readJson } from '../../json.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { base64ByteLength, base64FromText, textFromBase64 } from '../base64.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { FIXED, MAX_DATA_SIZE, validateKeys } from './config-map.ts';
import { keyPairWarnings } from './tls-secret.ts';
import { everyVerb } from '../../verbs.ts';

const SERVICE_ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

function defaults(secret: Secret): void {
  secret.type ??= 'Opaque';
  if (secret.stringData === undefined) return;
  // Only for writing: what is stored and read is `data`.
  const written = Object.entries(secret.stringData).map(([key, value]) => [key, base64FromText(value)] as const);
  if (written.length > 0) secret.data = { ...secret.data, ...Object.fromEntries(written) };
  delete secret.stringData;
}

function validate(secret: Secret): FieldError[] {
  const data = secret.data ?? {};
  const size = Object.values(data).reduce((sum, value) => sum + base64ByteLength(value), 0);
  return [...validateKeys(data, 'data'), ...(size > MAX_DATA_SIZE ? [tooLong('data', MAX_DATA_SIZE)] : []), ...validateType(secret, data)];
}

/** Secrets of some types must have certain keys. */
function validateType(secret: Secret, data: Readonly<Record<string, string>>): FieldError[] {
  const missing = (...keys: string[]): FieldError[] => keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`));
  switch (secret.type) {
    case 'kubernetes.io/service-account-token': {
      const account = secret.metadata.annotations?.[SERVICE_ACCOUNT_ANNOTATION] ?? '';
      return account === '' ? [required(`metadata.annotations[${SERVICE_ACCOUNT_ANNOTATION}]`)] : [];
    }
    case 'kubernetes.io/dockercfg':
      return validateJson(data, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateJson(data, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth': {
      const errors = missing('username', 'password');
      // One of both is enough, and it may be empty.
      return errors.length === 2 ? errors : [];
    }
    case 'kubernetes.io/ssh-auth':
      return (data['ssh-privatekey'] ?? '') === '' ? [required('data[ssh-privatekey]')] : [];
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key');
    default:
      return [];
  }
}

function validateJson(data: Readonly<Record<string, string>>, key: string): FieldError[] {
  const content = data[key];
  if (content === undefined) return [required(`data[${key}]`)];
  const problem = jsonObjectProblem(textFromBase64(content));
  return problem === undefined ? [] : [invalid(`data[${key}]`, '<secret contents redacted>', problem)];
}

/** What Go's decoder says of a text that is no JSON object. */
function jsonObjectProblem(text: string): string | undefined {
  try {
    const { value } = readJson(text);
    if (value === null || isJsonObject(value)) return undefined;
    return `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (error instanceof JsonError) return error.message;
    throw error;
  }
}

function validateUpdate(secret: Secret, old: Secret): FieldError[] {
  const errors = immutable(secret.type ?? '', old.type ?? '', 'type');
  if (old.immutable !== true) return errors;
  if (secret.immutable !== true) errors.push(forbidden('immutable', FIXED));
  if (!semanticallyEqual(secret.data, old.data)) errors.push(forbidden('data', FIXED));
  return errors;
}

export const secretKind: Kind<Secret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'Secret',
  storage: { resource: 'secrets' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'change', 'metadata', 'object'] },
  warnings: (secret) => (secret.type === 'kubernetes.io/tls' ? keyPairWarnings(secret.data ?? {}) : []),
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: { type: (secret) => secret.type ?? '' },
  columns: [nameColumn, textColumn('Type', (secret) => secret.type ?? ''), textColumn('Data', (secret) => Object.keys(secret.data ?? {}).length), ageColumn],
};
