import { invalid } from '../../api/field-error.ts';
import { isJsonObject, JsonError, jsonTypeOf, quoteGo, readJson } from '../../api/json.ts';
import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { goText } from '../../api/patch/go-text.ts';
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from '../../api/patch/json-patch.ts';
import { applyMergePatch } from '../../api/patch/merge-patch.ts';
import { StrategicPatchError } from '../../api/patch/strategic-error.ts';
import { applyStrategicPatch } from '../../api/patch/strategic-patch.ts';
import { DecodeError, decode } from '../../api/schema/index.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import type { ApiResponse, RequestBody } from '../api.ts';
import { adoptNamespace, checkName } from './metadata.ts';
import { parseWriteOptions, type WriteOptions } from './options.ts';
import type { Call, Registry } from './registry.ts';
import { change, changedResponse, type Part } from './update.ts';

const MAX_OPERATIONS = 10_000;

/** Changes an object by a patch; tried again on the newest version if somebody else was faster, unless the patch names a version. */
export async function patch(registry: Registry, call: Call, part: Part): Promise<ApiResponse> {
  const { resource, namespace, name } = call.route;
  const { kind } = resource;
  const options = parseWriteOptions(call.request.query, 'PatchOptions');
  const apply = patchOf(call, kind, options);
  const desired = (current: KubeObject | undefined): KubeObject => {
    if (current === undefined) throw statusErrors.notFound(kind, name);
    const object = apply(current);
    kind.defaults?.(object);
    adoptNamespace(object, kind, namespace);
    checkName(object, name);
    return object;
  };
  return changedResponse(call, await change(registry, call, { part, options, desired, createsAbsent: false }));
}

type ObjectType = Pick<Kind, 'group' | 'version' | 'kind' | 'type'>;

/** What a patch makes of an object: a new one, decoded. @throws ApiError */
export type Patch = (current: KubeObject) => KubeObject;

const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'];

/** @throws ApiError 400, 413, 415 */
export function patchOf({ request, warnings }: Call, type: ObjectType, options: WriteOptions): Patch {
  const { body } = request;
  const contentType = body.type === 'none' ? '' : body.contentType;
  if (body.type === 'none' || !patchTypes.includes(contentType)) throw statusErrors.unsupportedMediaType(contentType, patchTypes);
  const document = parse(body);
  const finish = (patched: unknown, shown: () => string, strict: readonly string[]): KubeObject =>
    decodePatched(patched, { type, options, warnings, shown, strict });
  switch (contentType) {
    case 'application/json-patch+json': {
      const { operations, strict } = readOperations(document);
      return (current) => {
        const patched = orUnprocessable(() => applyJsonPatch(current, operations));
        return finish(sameKind(patched, type), () => JSON.stringify(patched), strict);
      };
    }
    case 'application/merge-patch+json': {
      const given = requireObject(document);
      return (current) => {
        const patched = applyMergePatch(current, given);
        return finish(sameKind(patched, type), () => JSON.stringify(patched), []);
      };
    }
    default: {
      const given = requireObject(document);
      return (current) =>
        finish(
          orUnprocessable(() => applyStrategicPatch(type.type, { ...current }, given)),
          () => goText(given),
          [],
        );
    }
  }
}

function parse(body: Exclude<RequestBody, { type: 'none' }>): unknown {
  if (body.type === 'object') return body.object;
  try {
    return readJson(body.bytes).value;
  } catch (error) {
    if (error instanceof JsonError) throw statusErrors.badRequest('invalid JSON patch');
    throw error;
  }
}

function requireObject(document: unknown): Record<string, unknown> {
  if (isJsonObject(document)) return document;
  throw statusErrors.badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeOf(document)} into Go value of type map[string]interface {}`);
}

const operationFields: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

function readOperations(document: unknown): { operations: readonly JsonPatchOperation[]; strict: readonly string[] } {
  if (!Array.isArray(document) || !document.every(isJsonObject)) {
    throw statusErrors.badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeOf(document)} into Go value of type []handlers.jsonPatchOp`);
  }
  if (document.length > MAX_OPERATIONS) {
    const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${document.length}`;
    throw new ApiError(413, 'RequestEntityTooLarge', message);
  }
  const strict = document.flatMap((operation, i) =>
    Object.keys(operation)
      .filter((key) => !operationFields.has(key))
      .map((key) => `json patch unknown field ${quoteGo(`[${i}].${key}`)}`),
  );
  return { operations: document, strict };
}

/** Kubernetes says no more than that about a patch that does not fit. */
const unprocessable = (): ApiError => new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function orUnprocessable<T>(apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    if (error instanceof JsonPatchError) throw unprocessable();
    if (!(error instanceof StrategicPatchError)) throw error;
    switch (error.type) {
      case 'malformed':
        throw statusErrors.badRequest(error.message);
      case 'unsupported':
        throw unprocessable();
      case 'failed':
        throw new ApiError(500, '', error.message);
    }
  }
}

/** A patch may not turn an object into one of another kind. */
function sameKind(patched: unknown, { group, version, kind }: ObjectType): unknown {
  const apiVersion = apiVersionOf({ group, version });
  if (!isJsonObject(patched) || (patched['kind'] === kind && patched['apiVersion'] === apiVersion)) return patched;
  const found = `no kind ${JSON.stringify(patched['kind'] ?? '')} is registered for version ${JSON.stringify(patched['apiVersion'] ?? '')}`;
  throw invalidPatch(JSON.stringify(patched), `${found} in scheme "pkg/api/legacyscheme/scheme.go:30"`);
}

const invalidPatch = (shown: string, why: string): ApiError => statusErrors.invalid({ group: '', kind: '' }, '', [invalid('patch', shown, why)]);

interface Decoding {
  readonly type: ObjectType;
  readonly options: WriteOptions;
  readonly warnings: Set<string>;
  /** How the patch, or what it made, is shown in an error. */
  readonly shown: () => string;
  readonly strict: readonly string[];
}

function decodePatched(patched: unknown, { type, options, warnings, shown, strict }: Decoding): KubeObject {
  try {
    const { object, strictErrors } = decode<KubeObject>(type.type, patched);
    const errors = [...strict, ...strictErrors];
    if (options.fieldValidation === 'Strict' && errors.length > 0) throw new DecodeError(`strict decoding error: ${errors.join(', ')}`);
    if (options.fieldValidation === 'Warn') for (const error of errors) warnings.add(error);
    object.kind = type.kind;
    object.apiVersion = apiVersionOf(type);
    return object;
  } catch (error) {
    if (error instanceof DecodeError) throw invalidPatch(shown(), error.message);
    throw error;
  }
}
