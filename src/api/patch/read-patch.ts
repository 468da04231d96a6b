import { isJsonObject, JsonError, type JsonPath, jsonTypeOf, quoteGo, readJson } from '../json.ts';
import { pathText } from '../schema/field-path.ts';
import type { FieldValidation } from '../decode-request.ts';
import { statusErrors } from '../status.ts';
import type { JsonPatchOperation } from './json-patch.ts';

export type PatchBody =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** Parsed already, by a caller in this process. */
  | { readonly type: 'value'; readonly value: unknown };

interface ReadPatch<T> {
  readonly value: T;
  readonly strictErrors: readonly string[];
}

interface Document {
  readonly value: unknown;
  readonly duplicates: readonly JsonPath[];
}

/** A merge or strategic patch: an object, or null. @throws ApiError 400 */
export function readPatchObject(
  body: PatchBody,
  { fieldValidation, prefix }: { readonly fieldValidation: FieldValidation; readonly prefix: string },
): ReadPatch<Record<string, unknown> | null> {
  const lenient = fieldValidation === 'Ignore' && prefix !== '';
  const { value, duplicates } = readDocument(body, (message) => (lenient ? 'Invalid JSON Patch' : prefix + message));
  if (value !== null && !isJsonObject(value)) {
    throw statusErrors.badRequest(`${prefix}json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`);
  }
  return { value, strictErrors: duplicates.map((path) => `duplicate field ${quoteGo(pathText(path))}`) };
}

const operationFields = ['op', 'path', 'from', 'value'];

/** The operations of a JSON patch. @throws ApiError 400 */
export function readJsonPatch(body: PatchBody, fieldValidation: FieldValidation): ReadPatch<readonly JsonPatchOperation[]> {
  const lenient = fieldValidation === 'Ignore';
  const { value, duplicates } = readDocument(body, (message) => (lenient ? message : `error decoding patch: ${message}`));
  const operations: unknown = value ?? [];
  if (!Array.isArray(operations)) throw badOperations(operations, lenient ? 'jsonpatch.Patch' : '[]handlers.jsonPatchOp', lenient);
  const strictErrors: string[] = [];
  for (const [index, operation] of operations.entries()) {
    if (operation === null) continue;
    if (!isJsonObject(operation)) throw badOperations(operation, lenient ? 'jsonpatch.Operation' : 'handlers.jsonPatchOp', lenient);
    if (!lenient) checkStrings(operation);
    for (const key of Object.keys(operation)) {
      if (!operationFields.includes(key)) strictErrors.push(`json patch unknown field ${quoteGo(`[${index}].${key}`)}`);
    }
  }
  for (const path of duplicates) strictErrors.push(`json patch duplicate field ${quoteGo(pathText(path))}`);
  return { value: operations.map((operation: JsonPatchOperation | null) => operation ?? {}), strictErrors };
}

function badOperations(found: unknown, goType: string, lenient: boolean): Error {
  return statusErrors.badRequest(`${lenient ? '' : 'error decoding patch: '}json: cannot unmarshal ${jsonTypeOf(found)} into Go value of type ${goType}`);
}

function checkStrings(operation: Record<string, unknown>): void {
  for (const field of ['op', 'path', 'from']) {
    const value = operation[field] ?? '';
    if (typeof value === 'string') continue;
    throw statusErrors.badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field jsonPatchOp.${field} of type string`);
  }
}

function readDocument(body: PatchBody, message: (cause: string) => string): Document {
  if (body.type === 'value') return { value: body.value, duplicates: [] };
  try {
    return readJson(body.bytes);
  } catch (error) {
    if (error instanceof JsonError) throw statusErrors.badRequest(message(error.message));
    throw error;
  }
}
