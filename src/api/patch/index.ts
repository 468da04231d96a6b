/**
 * Patches, from the bytes of a request to the patched object.
 *
 *     const patch = preparePatch({ contentType: 'application/merge-patch+json', body, kind, fieldValidation: 'Strict' });
 *     const { object, warnings } = patch.apply(current);      // again, should the object have changed meanwhile
 *
 * The three algorithms on plain JSON: json-patch.ts, merge-patch.ts, strategic-patch.ts.
 */
import type { Kind } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { decode, DecodeError } from '../schema/decode.ts';
import type { FieldValidation } from '../decode-request.ts';
import { decodeRequest } from '../decode-request.ts';
import { ApiError, statusErrors } from '../status.ts';
import { goText } from './go-text.ts';
import { applyJsonPatch, type JsonPatchOperation, JsonPatchError } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { readJsonPatch, readPatchObject, type PatchBody } from './read-patch.ts';
import { StrategicPatchError } from './strategic-error.ts';
import { applyStrategicPatch } from './strategic-patch.ts';

/** Content types, in the order in which Kubernetes lists them. */
const patchContentTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'] as const;

type PatchContentType = (typeof patchContentTypes)[number];

/** With server-side apply (`apply/`). */
const acceptedPatches = [...patchContentTypes, 'application/apply-patch+yaml'];

const customPatches = acceptedPatches.filter((type) => type !== 'application/strategic-merge-patch+json');

/** @throws ApiError 415 */
export function requirePatchType(contentType: string): asserts contentType is PatchContentType {
  if (!patchContentTypes.some((known) => known === contentType)) throw statusErrors.unsupportedMediaType(acceptedPatches);
}

export interface PatchRequest {
  readonly contentType: string;
  readonly body: PatchBody;
  readonly kind: Pick<Kind, 'group' | 'version' | 'kind' | 'type' | 'custom'>;
  readonly fieldValidation: FieldValidation;
}

export interface Patched<T extends KubeObject> {
  /** Decoded; without defaults. */
  readonly object: T;
  /** Texts for the Warning header; only with fieldValidation Warn. */
  readonly warnings: readonly string[];
}

export interface PreparedPatch {
  /** Leaves `current` as it is. @throws ApiError */
  apply<T extends KubeObject>(current: T): Patched<T>;
}

/** @throws ApiError 400, 413, 415 */
export function preparePatch(request: PatchRequest): PreparedPatch {
  const { contentType } = request;
  requirePatchType(contentType);
  // A strategic merge patch needs the merge keys of a built-in type.
  if (request.kind.custom !== undefined && contentType === 'application/strategic-merge-patch+json') throw statusErrors.unsupportedMediaType(customPatches);
  switch (contentType) {
    case 'application/json-patch+json':
      return prepareJsonPatch(request);
    case 'application/merge-patch+json':
      return prepareMergePatch(request);
    case 'application/strategic-merge-patch+json':
      return prepareStrategicPatch(request);
  }
}

const maxOperations = 10_000;

function prepareJsonPatch({ body, kind, fieldValidation }: PatchRequest): PreparedPatch {
  const { value: operations, strictErrors } = readJsonPatch(body, fieldValidation);
  if (operations.length > maxOperations) {
    const text = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`;
    throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${text}`);
  }
  return { apply: (current) => decodePatched(patchedOrRejected(current, operations), { kind, fieldValidation, strictErrors }) };
}

function patchedOrRejected(current: KubeObject, operations: readonly JsonPatchOperation[]): unknown {
  try {
    return applyJsonPatch(current, operations);
  } catch (error) {
    if (error instanceof JsonPatchError) throw rejected();
    throw error;
  }
}

/** Kubernetes does not say why a patch does not apply. */
const rejected = (): ApiError => new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function prepareMergePatch({ body, kind, fieldValidation }: PatchRequest): PreparedPatch {
  const { value: patch, strictErrors } = readPatchObject(body, { fieldValidation, prefix: 'error decoding patch: ' });
  if (patch === null) throw statusErrors.badRequest('Invalid JSON Patch');
  return { apply: (current) => decodePatched(applyMergePatch(current, patch), { kind, fieldValidation, strictErrors }) };
}

interface Decoding {
  readonly kind: PatchRequest['kind'];
  readonly fieldValidation: FieldValidation;
  /** The strict decoding errors of the patch itself. */
  readonly strictErrors: readonly string[];
}

/** The result of a JSON or merge patch, decoded like a body. Its errors are errors of the patch. */
function decodePatched<T extends KubeObject>(patched: unknown, { kind, fieldValidation, strictErrors }: Decoding): Patched<T> {
  const { object, warnings } = orInvalid(
    () => decodeRequest<T>({ expected: kind, body: { type: 'value', value: patched }, fieldValidation: fieldValidation === 'Ignore' ? 'Ignore' : 'Warn' }),
    () => JSON.stringify(patched),
  );
  return settle(object, { found: [...strictErrors, ...warnings], fieldValidation, text: () => JSON.stringify(patched) });
}

function prepareStrategicPatch({ body, kind, fieldValidation }: PatchRequest): PreparedPatch {
  const { value, strictErrors } = readPatchObject(body, { fieldValidation, prefix: '' });
  const patch = value ?? {};
  const text = (): string => goText(patch);
  return {
    apply: <T extends KubeObject>(current: T) => {
      const patched = orStatus(() => applyStrategicPatch(kind.type, current as unknown as Record<string, unknown>, patch));
      // A patch cannot change the kind.
      const value = { ...patched, kind: current.kind, apiVersion: current.apiVersion };
      const decoded = orInvalid(() => decode<T>(kind.type, value, 'converter'), text);
      return settle(decoded.object, { found: [...strictErrors, ...decoded.strictErrors], fieldValidation, text });
    },
  };
}

function orStatus<T>(apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    if (!(error instanceof StrategicPatchError)) throw error;
    switch (error.type) {
      case 'malformed':
        throw statusErrors.badRequest(error.message);
      case 'unsupported':
        throw rejected();
      case 'failed':
        throw new ApiError(500, '', error.message);
    }
  }
}

function settle<T extends KubeObject>(
  object: T,
  { found, fieldValidation, text }: { found: readonly string[]; fieldValidation: FieldValidation; text: () => string },
): Patched<T> {
  if (found.length === 0 || fieldValidation === 'Ignore') return { object, warnings: [] };
  if (fieldValidation === 'Warn') return { object, warnings: found };
  throw invalidPatch(text(), `strict decoding error: ${found.join(', ')}`);
}

function orInvalid<T>(decodePatchedObject: () => T, text: () => string): T {
  try {
    return decodePatchedObject();
  } catch (error) {
    if (error instanceof DecodeError) throw invalidPatch(text(), error.message);
    if (error instanceof ApiError) throw invalidPatch(text(), error.message.replace(/^.* cannot be handled as a [^:]*: /, ''));
    throw error;
  }
}

function invalidPatch(patch: string, detail: string): ApiError {
  const message = `Invalid value: ${JSON.stringify(patch)}: ${detail}`;
  return new ApiError(422, 'Invalid', ` "" is invalid: patch: ${message}`, { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] });
}
