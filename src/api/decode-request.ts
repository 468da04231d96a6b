import { isJsonObject, JsonError, type JsonPath, jsonTypeOf, quoteGo, readJson } from './json.ts';
import { invalid } from './field-error.ts';
import { apiVersionOf, type CustomType, type Kind } from './kind.ts';
import type { KubeObject } from './object.ts';
import { decodeProtobuf, ProtobufError } from './protobuf/index.ts';
import { statusErrors } from './status.ts';
import { readYaml, YamlError } from './yaml.ts';
import { type Decoded, DecodeError, decode } from './schema/decode.ts';
import { isDecodedAt, pathText } from './schema/field-path.ts';
import { typeNameOf, typeSchema } from './schema/type-schema.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface DecodeRequest {
  /** The kind that the path takes. A body without kind or apiVersion is taken to be of it. */
  readonly expected: Pick<Kind, 'group' | 'version' | 'kind' | 'type' | 'custom'>;
  readonly body:
    | { readonly type: 'json' | 'yaml' | 'protobuf'; readonly bytes: Uint8Array }
    /** Plain JSON that was parsed already: a patched object, or one from a caller in this process. */
    | { readonly type: 'value'; readonly value: unknown };
  readonly fieldValidation: FieldValidation;
}

export interface DecodedRequest<T extends KubeObject> {
  readonly object: T;
  /** Texts for the Warning header; only with fieldValidation Warn. */
  readonly warnings: readonly string[];
}

/**
 * What a request's body holds, decoded, with apiVersion and kind set.
 * @throws ApiError 400, in Kubernetes' words
 */
export function decodeRequest<T extends KubeObject>({ expected, body, fieldValidation }: DecodeRequest): DecodedRequest<T> {
  const parsed = orUnrecognized(() => parseBody(body), { expected, body });
  const found = orUnrecognized(() => kindOf(parsed.value, expected), { expected, body });
  try {
    if (expected.custom !== undefined) refuseOtherCustom(found, expected, parsed.value);
    const { object, strictErrors } = decodeAs<T>(found, expected, parsed);
    if (expected.custom === undefined) refuseOtherKind(found, expected);
    if (strictErrors.length === 0 || fieldValidation === 'Ignore') return { object, warnings: [] };
    if (fieldValidation === 'Warn') return { object, warnings: strictErrors };
    throw new DecodeError(`strict decoding error: ${strictErrors.join(', ')}`);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw statusErrors.badRequest(`${found.kind} in version ${quoteGo(found.version)} cannot be handled as a ${expected.kind}: ${error.message}`);
  }
}

interface Parsed {
  readonly value: unknown;
  /** `text`: read again to report duplicate and unknown fields in order. */
  readonly text?: Uint8Array;
  readonly duplicates: readonly JsonPath[];
  readonly strictErrors: readonly string[];
}

function parseBody(body: DecodeRequest['body']): Parsed {
  switch (body.type) {
    case 'json':
      return parsedJson(body.bytes);
    case 'yaml':
      return { ...readYaml(body.bytes), duplicates: [] };
    case 'protobuf':
      return { value: decodeProtobuf(body.bytes), duplicates: [], strictErrors: [] };
    case 'value':
      return { value: body.value, duplicates: [], strictErrors: [] };
  }
}

function parsedJson(text: Uint8Array): Parsed {
  const { value, duplicates } = readJson(text, { exactNumbers: true });
  return { value, text, duplicates, strictErrors: nothing };
}

const nothing: readonly never[] = [];

/** Runs what happens before the kind of the object is known. */
function orUnrecognized<T>(step: () => T, { expected, body }: Pick<DecodeRequest, 'expected' | 'body'>): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof JsonError || error instanceof YamlError || error instanceof ProtobufError || error instanceof DecodeError)) throw error;
    const cause = error instanceof JsonError ? `couldn't get version/kind; json parse error: ${error.message}` : error.message;
    const summary = body.type === 'value' ? '' : ` (${summarize(body.bytes)})`;
    throw statusErrors.badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${cause}${summary}`);
  }
}

const summaryLength = 30;

function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const start = bytes.subarray(0, summaryLength);
  const more = bytes.length > summaryLength ? ' ...' : '';
  const isObject = bytes[0] === 0x7b;
  return (isObject ? new TextDecoder().decode(start) : Buffer.from(start).toString('hex')) + more;
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The kind that an object says it is, where it says so, and the expected one where it does not. */
function kindOf(value: unknown, expected: DecodeRequest['expected']): GroupVersionKind {
  const meta = value ?? {};
  if (!isJsonObject(meta)) {
    const goType = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw new JsonError(`json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${goType}`);
  }
  const kind = metaString(meta, 'kind');
  const apiVersion = metaString(meta, 'apiVersion');
  if (kind === expected.kind && isVersionOf(apiVersion, expected)) return expected;
  const parts = apiVersion === '/' ? [''] : apiVersion.split('/');
  if (parts.length > 2) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`);
  const [group = '', version = ''] = parts.length === 1 ? ['', parts[0]] : parts;
  const sameGroup = group === expected.group;
  return {
    kind: kind === '' ? expected.kind : kind,
    group: version === '' && group === '' ? expected.group : group,
    version: version === '' && (group === '' || sameGroup) ? expected.version : version,
  };
}

/** What nearly every object says, found without taking it apart. */
const isVersionOf = (apiVersion: string, { group, version }: GroupVersionKind): boolean =>
  group === ''
    ? apiVersion === version
    : apiVersion.length === group.length + 1 + version.length &&
      apiVersion.startsWith(group) &&
      apiVersion[group.length] === '/' &&
      apiVersion.endsWith(version);

function metaString(meta: Record<string, unknown>, name: 'kind' | 'apiVersion'): string {
  const value = meta[name] ?? '';
  if (typeof value === 'string') return value;
  throw new JsonError(`json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${name} of type string`);
}

/** The caller knows the type of what it expects, which may be of a version that is served no more. */
function decodeAs<T>(found: GroupVersionKind, expected: DecodeRequest['expected'], parsed: Parsed): Decoded<T> {
  const apiVersion = apiVersionOf(found);
  if (expected.custom !== undefined) return decodeAsCustom(expected.custom, parsed);
  const type = isSame(found, expected) ? expected.type : typeNameOf(apiVersion, found.kind);
  if (type === undefined) {
    throw new DecodeError(`no kind ${quoteGo(found.kind)} is registered for version ${quoteGo(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`);
  }
  const { object, strictErrors } = decode<T>(type, said(parsed.value, found.kind, apiVersion));
  if (parsed.duplicates.length === 0 && parsed.strictErrors.length === 0) return { object, strictErrors };
  return { object, strictErrors: [...parsed.strictErrors, ...withDuplicates(type, parsed, strictErrors)] };
}

/** The value, with the kind and version that it is read as. Decoding makes a new object of it in any case. */
function said(value: unknown, kind: string, apiVersion: string): unknown {
  const given = value as { readonly kind?: unknown; readonly apiVersion?: unknown } | null;
  return given?.kind === kind && given.apiVersion === apiVersion ? given : { ...given, kind, apiVersion };
}

function decodeAsCustom<T>(custom: CustomType, { value, strictErrors, duplicates }: Parsed): Decoded<T> {
  const decoded = custom.decode(value ?? {});
  const repeated = duplicates.map((path) => `duplicate field ${quoteGo(pathText(path))}`);
  // The decoder was made for the kind that is expected here.
  return { object: decoded.object as T, strictErrors: [...strictErrors, ...repeated, ...decoded.strictErrors] };
}

/** Of kinds that were defined at run time, Kubernetes checks the version first, and validates the kind like any other value. */
function refuseOtherCustom(found: GroupVersionKind, expected: DecodeRequest['expected'], value: unknown): void {
  if (found.group !== expected.group || found.version !== expected.version) {
    const text = `the API version in the data (${apiVersionOf(found)}) does not match the expected API version (${apiVersionOf(expected)})`;
    throw statusErrors.badRequest(text);
  }
  if (found.kind === expected.kind) return;
  const name = (value as { metadata?: { name?: unknown } }).metadata?.name;
  throw statusErrors.invalid(expected, typeof name === 'string' ? name : '', [invalid('kind', found.kind, `must be ${expected.kind}`)]);
}

/** Duplicate fields among the unknown ones, in the order of the document. Values that are not decoded are not checked for them. */
function withDuplicates(type: string, { duplicates, text }: Parsed, unknown: readonly string[]): readonly string[] {
  const repeated = duplicates.filter((path) => isDecodedAt(type, path));
  if (repeated.length === 0 || text === undefined) return unknown;
  const errors = new Set<string>();
  const expected = new Set(unknown);
  const isRepeated = new Set(repeated.map(pathText));
  const seen = new Set<string>();
  const onKey = (path: JsonPath): void => {
    const where = pathText(path);
    if (isRepeated.has(where) && seen.has(where)) errors.add(`duplicate field ${quoteGo(where)}`);
    seen.add(where);
    const asUnknown = `unknown field ${quoteGo(where)}`;
    if (expected.has(asUnknown)) errors.add(asUnknown);
  };
  readJson(text, { exactNumbers: true, onKey });
  return [...errors];
}

const isSame = (a: GroupVersionKind, b: GroupVersionKind): boolean => a.kind === b.kind && a.group === b.group && a.version === b.version;

/** Kinds that are two versions of one: an event of either group. */
const sameThing: ReadonlySet<string> = new Set(['Event']);

function refuseOtherKind(found: GroupVersionKind, expected: DecodeRequest['expected']): void {
  if (isSame(found, expected)) return;
  if (found.kind === expected.kind && sameThing.has(found.kind)) {
    const text = `the API version in the data (${apiVersionOf(found)}) does not match the expected API version (${apiVersionOf(expected)})`;
    throw statusErrors.badRequest(text);
  }
  const internal = typeSchema(expected.type).package.split('/').at(-2);
  throw new DecodeError(`converting (${found.version}.${found.kind}) to (${internal}.${expected.kind}): unknown conversion`);
}
