/** Embedded objects (x-kubernetes-embedded-resource), as in v1.36.4: apiextensions-apiserver/pkg/apiserver/schema/objectmeta. */
import { causeMessage, type FieldError, invalid, required } from '../field-error.ts';
import type { ObjectMeta } from '../generated/types.ts';
import { isJsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { decode, DecodeError } from '../schema/decode.ts';
import { validateObjectMeta } from '../validation/metadata.ts';
import { dns1035LabelProblems, pathSegmentProblems } from '../validation/names.ts';
import { additionalOf, type JsonSchema, propertyOf } from '../json-schema.ts';
import { schemasWithin } from './schemas-within.ts';

const withEmbedded = new WeakMap<JsonSchema, boolean>();

function hasEmbedded(schema: JsonSchema): boolean {
  let known = withEmbedded.get(schema);
  if (known === undefined) {
    known = [...schemasWithin(schema)].some((one) => one['x-kubernetes-embedded-resource'] === true);
    withEmbedded.set(schema, known);
  }
  return known;
}

type Visit = (object: Record<string, unknown>, path: string) => void;

/** Every embedded object, with its path. */
function visitEmbedded(value: unknown, schema: JsonSchema | undefined, { path, visit }: { path: string; visit: Visit }): void {
  if (schema === undefined || !hasEmbedded(schema)) return;
  if (Array.isArray(value)) for (const [i, item] of value.entries()) visitEmbedded(item, schema.items, { path: `${path}[${i}]`, visit });
  if (!isJsonObject(value)) return;
  if (schema['x-kubernetes-embedded-resource'] === true) visit(value, path);
  for (const key of Object.keys(value)) {
    const property = propertyOf(schema, key);
    const below = property === undefined ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    visitEmbedded(value[key], property ?? additionalOf(schema), { path: below, visit });
  }
}

/** Prunes the metadata of embedded objects. @returns the removed paths. @throws DecodeError */
export function coerceEmbedded(object: unknown, schema: JsonSchema): string[] {
  const unknown: string[] = [];
  visitEmbedded(object, schema, {
    path: '',
    visit: (embedded, path) => {
      for (const name of ['apiVersion', 'kind']) {
        if (Object.hasOwn(embedded, name) && typeof embedded[name] !== 'string') throw failure(invalid(`${path}.${name}`, embedded[name], 'must be a string'));
      }
      if (!Object.hasOwn(embedded, 'metadata')) return;
      const { metadata, strictErrors } = metadataOf(embedded['metadata'], `${path}.metadata`);
      embedded['metadata'] = metadata;
      for (const error of strictErrors) unknown.push(error.replace(/"metadata\./, `"${path}.metadata.`));
    },
  });
  return unknown.sort();
}

function metadataOf(value: unknown, field: string): { readonly metadata: Record<string, unknown>; readonly strictErrors: readonly string[] } {
  try {
    const { object, strictErrors } = decode<KubeObject>('PartialObjectMetadata', { metadata: value });
    const { creationTimestamp, ...metadata } = object.metadata as ObjectMeta & Record<string, unknown>;
    return { metadata: (creationTimestamp ?? null) === null ? metadata : { ...metadata, creationTimestamp }, strictErrors };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw failure(invalid(field, value, error.message));
  }
}

const failure = (error: FieldError): DecodeError => new DecodeError(`${error.field}: ${causeMessage(error)}`);

export function validateEmbedded(object: unknown, schema: JsonSchema | undefined, path = ''): FieldError[] {
  const errors: FieldError[] = [];
  visitEmbedded(object, schema, { path, visit: (embedded, at) => void errors.push(...embeddedErrors(embedded, at)) });
  return errors;
}

function embeddedErrors(embedded: Record<string, unknown>, path: string): FieldError[] {
  const { apiVersion, kind, metadata } = embedded;
  return [
    ...(apiVersion === undefined ? [required(`${path}.apiVersion`)] : apiVersionErrors(textOf(apiVersion), `${path}.apiVersion`)),
    ...(kind === undefined ? [required(`${path}.kind`)] : kindErrors(textOf(kind), `${path}.kind`)),
    ...(isJsonObject(metadata) ? metadataErrors(metadata, `${path}.metadata`) : []),
  ];
}

/** Decoding has checked that it is a string. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function apiVersionErrors(apiVersion: string, field: string): FieldError[] {
  if (apiVersion === '') return [invalid(field, apiVersion, 'must not be empty')];
  return apiVersion.split('/').length > 2 ? [invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)] : [];
}

function kindErrors(kind: string, field: string): FieldError[] {
  if (kind === '') return [invalid(field, kind, 'must not be empty')];
  const problems = dns1035LabelProblems(kind.toLowerCase());
  return problems.length === 0 ? [] : [invalid(field, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

/** Templates have no name. */
function metadataErrors(metadata: ObjectMeta, field: string): FieldError[] {
  const { name = '', namespace = '' } = metadata;
  return validateObjectMeta({ ...metadata, name: name === '' ? 'fakename' : name }, { namespaced: namespace !== '', validateName: pathSegmentProblems }, field);
}
