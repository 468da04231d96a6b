import { apply, type ApplyContext, type JsonMap, lastAppliedAnnotation } from '../../../api/apply/index.ts';
import { isJsonObject, readJson } from '../../../api/json.ts';
import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { decodeRequest } from '../../../api/decode-request.ts';
import { decode } from '../../../api/schema/index.ts';
import { DecodeError } from '../../../api/schema/decode.ts';
import { ApiError, statusErrors } from '../../../api/status.ts';
import { TOTAL_ANNOTATION_SIZE_LIMIT } from '../../../api/validation/metadata.ts';
import { readYaml, YamlError } from '../../../api/yaml.ts';
import type { ApiResponse, RequestBody } from '../../api.ts';
import { adoptNamespace, checkName } from '../../objects/metadata.ts';
import { type ApplyOptions, parseApplyOptions } from '../../objects/options.ts';
import type { Call, Registry } from '../registry.ts';
import { asJson, applyContextOf } from '../field-manager.ts';
import { updateObject, updateResponse, type Part } from './update.ts';

export const applyContentType = 'application/apply-patch+yaml';

export const isApply = ({ request: { body } }: Call): boolean => body.type !== 'none' && body.contentType === applyContentType;

/** Server-side apply. An absent object is created. */
export async function applyPatch(registry: Registry, call: Call, part: Part): Promise<ApiResponse> {
  const { resource, namespace, name, subresource } = call.route;
  const { kind } = resource;
  const { options, make } = applicationOf(call);
  const desired = (current: KubeObject | undefined): KubeObject => {
    const object = make<KubeObject>(applyContextOf(registry, resource, subresource), kind, current);
    const { uid = '' } = object.metadata;
    if (current === undefined && uid !== '') {
      throw statusErrors.conflict(kind, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`);
    }
    kind.defaults?.(object);
    adoptNamespace(object, kind, namespace);
    checkName(object, name);
    return object;
  };
  return updateResponse(call, await updateObject(registry, call, { part, options, desired, createsAbsent: part === 'object', tracked: true }));
}

type Decodable = Pick<Kind, 'group' | 'version' | 'kind' | 'type' | 'custom'>;

export interface RequestedApply {
  readonly options: ApplyOptions;
  /** The object after the apply: a new one, decoded, without defaults, with its managedFields. @throws ApiError */
  readonly make: <T extends KubeObject>(context: ApplyContext, kind: Decodable, current: T | undefined) => T;
}

/** The object in a request's body, and its options. @throws ApiError 400, 422 */
export function applicationOf({ request, warnings }: Call): RequestedApply {
  const options = parseApplyOptions(request.query);
  const { applied, strictErrors } = readApplied(request.body);
  const make: RequestedApply['make'] = <T extends KubeObject>(context: ApplyContext, kind: Decodable, current: T | undefined) => {
    const live = current === undefined ? undefined : asJson(current);
    const { object, managedFields, lastApplied } = apply(context, { live, applied, manager: options.fieldManager, force: options.force });
    if (strictErrors.length > 0 && options.fieldValidation === 'Strict')
      throw statusErrors.badRequest(`error strict decoding YAML: ${strictErrors.join('\n')}`);
    if (options.fieldValidation === 'Warn') for (const error of strictErrors) warnings.add(error);
    const decoded = decodeApplied(kind, object) as T;
    if (managedFields !== undefined) decoded.metadata.managedFields = managedFields;
    if (lastApplied !== undefined) setLastApplied(decoded, lastApplied);
    return decoded;
  };
  return { options, make };
}

interface ReadApply {
  readonly applied: JsonMap;
  readonly strictErrors: readonly string[];
}

/** kubectl sends JSON, which is valid YAML and much faster to parse. */
function readApplied(body: RequestBody): ReadApply {
  if (body.type === 'none') return { applied: {}, strictErrors: [] };
  if (body.type === 'object') return { applied: objectOrRefuse(body.object), strictErrors: [] };
  const json = body.bytes[0] === 0x7b ? readPlainJson(body.bytes) : undefined;
  if (json !== undefined) return { applied: json, strictErrors: [] };
  try {
    const { value, strictErrors } = readYaml(body.bytes);
    return { applied: objectOrRefuse(value), strictErrors };
  } catch (error) {
    if (error instanceof YamlError) throw statusErrors.badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
    throw error;
  }
}

function readPlainJson(bytes: Uint8Array): JsonMap | undefined {
  try {
    const { value, duplicates } = readJson(bytes);
    return isJsonObject(value) && duplicates.length === 0 ? value : undefined;
  } catch {
    // The YAML parser reports the error.
    return undefined;
  }
}

function objectOrRefuse(value: unknown): JsonMap {
  if (value === null || value === undefined) return {};
  if (isJsonObject(value)) return value;
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  throw statusErrors.badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  );
}

/** Decodes like a request's body. But a field of the wrong type is an error of the conversion, which Kubernetes answers with 500 and no reason. */
function decodeApplied(kind: Decodable, object: JsonMap): KubeObject {
  if (kind.custom !== undefined) return decodeRequest({ expected: kind, body: { type: 'value', value: object }, fieldValidation: 'Ignore' }).object;
  try {
    return decode<KubeObject>(kind.type, object, 'converter').object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { namespace = '', name = '' } = (object['metadata'] ?? {}) as { namespace?: string; name?: string };
    const type = `${kind.group}/${kind.version}, Kind=${kind.kind}`;
    throw new ApiError(500, '', `failed to convert new object (${namespace}/${name}; ${type}) to proper version: ${error.message}`);
  }
}

/** Keeps client-side apply working on the object, unless the annotations would become too large. */
function setLastApplied({ metadata }: KubeObject, text: string): void {
  const { [lastAppliedAnnotation]: _, ...others } = metadata.annotations ?? {};
  const annotations = { ...others, [lastAppliedAnnotation]: text };
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) size += Buffer.byteLength(key) + Buffer.byteLength(value);
  metadata.annotations = size > TOTAL_ANNOTATION_SIZE_LIMIT ? others : annotations;
}
