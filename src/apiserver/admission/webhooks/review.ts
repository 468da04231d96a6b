/** AdmissionReview: the request to a webhook and its response. */
import { isJsonObject, JsonError, readJson } from '../../../api/json.ts';
import type { JsonPatchOperation } from '../../../api/patch/json-patch.ts';
import { DecodeError } from '../../../api/schema/decode.ts';
import { decode } from '../../../api/schema/index.ts';
import { ApiError, type Status, type StatusDetails } from '../../../api/status.ts';
import type { AdmissionRequest } from '../chain.ts';
import { requestAttributes, type VersionedObjects } from '../matching/attributes.ts';
import type { WebhookAnswer } from './caller.ts';

export type ReviewVersion = 'v1' | 'v1beta1';

/** The first version that the server also supports. */
export const reviewVersion = (accepted: readonly string[]): ReviewVersion | undefined =>
  accepted.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1');

export function reviewOf(
  request: AdmissionRequest,
  { resource, object, old }: VersionedObjects,
  review: { readonly version: ReviewVersion; readonly uid: string },
) {
  const { dryRun, options, ...described } = requestAttributes(request, resource);
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${review.version}`,
    request: { uid: review.uid, ...described, object: object ?? null, oldObject: old ?? null, dryRun, options },
  };
}

/** A checked AdmissionResponse. */
export interface AdmissionResponse {
  readonly allowed: boolean;
  /** Of a denial. */
  readonly result: Result | undefined;
  readonly patch: readonly JsonPatchOperation[];
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

interface Result {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}

/** The response is no valid AdmissionReview. In the words of Kubernetes' webhook client. */
export class ReviewError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReviewError';
  }
}

export interface Expected {
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly mutating: boolean;
}

/** The response could not be read. */
const invalidResponse = (why: string): ReviewError => new ReviewError(`received invalid webhook response: ${why}`);
const notCalled = (why: string): ReviewError => new ReviewError(`failed to call webhook: ${why}`);

/** @throws ReviewError */
export const admissionResponseOf = (answer: WebhookAnswer, expected: Expected): AdmissionResponse => read(readReview(answer), expected);

const MAX_SHOWN = 2_048;

function readReview({ status, contentType, body }: WebhookAnswer): Record<string, unknown> {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  if (status < 200 || status > 206) throw notCalled(refusalText(status, contentType, text));
  if (text === '') throw notCalled(`0-length response with status code: ${status} and content type: ${contentType}`);
  const value = parsed(text);
  if (!isJsonObject(value)) throw notCalled(`couldn't get version/kind; json parse error: ${cannotRead(value, versionAndKind)}`);
  if (value['kind'] === 'Status' && value['status'] !== 'Success') throw notCalled(messageIn(value) ?? 'unknown');
  return value;
}

const versionAndKind = 'value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function parsed(text: string): unknown {
  try {
    return readJson(text).value;
  } catch (error) {
    if (error instanceof JsonError) throw notCalled(`couldn't get version/kind; json parse error: ${error.message}`);
    throw error;
  }
}

const messageIn = (status: Record<string, unknown>): string | undefined => (typeof status['message'] === 'string' ? status['message'] : undefined);

/** An HTTP error, with its status or its text. */
function refusalText(status: number, contentType: string, text: string): string {
  const inText = statusIn(text);
  if (inText !== undefined) return inText;
  const isText = contentType === '' || contentType.startsWith('text/');
  const shown = isText ? text.slice(0, MAX_SHOWN).trim() : 'unknown';
  const known: Readonly<Record<number, string>> = {
    400: 'the server rejected our request for an unknown reason',
    401: 'the server has asked for the client to provide credentials',
    403: shown,
    404: 'the server could not find the requested resource',
    405: 'the server does not allow this method on the requested resource',
    406: isText && shown !== '' ? shown : 'the server was unable to respond with a content type that the client supports',
    409: 'the server reported a conflict',
    415: shown,
    422: 'the server rejected our request due to an error in our request',
    429: 'the server has received too many requests and has asked us to try again later',
    503: 'the server is currently unable to handle the request',
    504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  };
  if (known[status] !== undefined) return known[status];
  if (status >= 500) return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

function statusIn(text: string): string | undefined {
  try {
    const { value } = readJson(text);
    return isJsonObject(value) && value['kind'] === 'Status' ? messageIn(value) : undefined;
  } catch {
    return undefined;
  }
}

function read(review: Record<string, unknown>, { version, uid, mutating }: Expected): AdmissionResponse {
  const response = review['response'] ?? undefined;
  if (response === undefined) throw invalidResponse('webhook response was absent');
  const fields = new Fields(response);
  const patch = fields.text('patch');
  const patchType = fields.optionalText('patchType');
  if (version === 'v1') verify(review, { uid: fields.text('uid'), wanted: uid, patch, patchType, mutating });
  const allowed = fields.flag('allowed');
  return {
    allowed,
    result: resultOf(fields.value('status')),
    patch: allowed && mutating ? operationsOf(patch, patchType) : [],
    warnings: fields.texts('warnings'),
    auditAnnotations: fields.map('auditAnnotations'),
  };
}

interface Verified {
  readonly uid: string;
  readonly wanted: string;
  readonly patch: string;
  readonly patchType: string | undefined;
  readonly mutating: boolean;
}

function verify(review: Record<string, unknown>, { uid, wanted, patch, patchType, mutating }: Verified): void {
  if (uid !== wanted) throw invalidResponse(`expected response.uid=${JSON.stringify(wanted)}, got ${JSON.stringify(uid)}`);
  const kind = typeof review['kind'] === 'string' ? review['kind'] : '';
  const apiVersion = typeof review['apiVersion'] === 'string' ? review['apiVersion'] : '';
  if (kind !== 'AdmissionReview' || apiVersion !== 'admission.k8s.io/v1') {
    const shown = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw invalidResponse(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${shown}, Kind=${kind}`);
  }
  if (!mutating) {
    if (patch !== '') throw invalidResponse('validating webhook may not return response.patch');
    if (patchType !== undefined) throw invalidResponse('validating webhook may not return response.patchType');
    return;
  }
  if (patch !== '' && patchType === undefined) throw invalidResponse('webhook returned response.patch but not response.patchType');
  if (patch === '' && patchType !== undefined) throw invalidResponse('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw invalidResponse('webhook returned invalid response.patchType of ""');
}

/** The patch: base64 of a JSON patch. */
function operationsOf(patch: string, patchType: string | undefined): readonly JsonPatchOperation[] {
  if (patch === '') return [];
  const undecodable = (why: string) => new ReviewError(`received undecodable patch in webhook response: ${why}`);
  let value: unknown;
  try {
    value = readJson(Buffer.from(patch, 'base64')).value;
  } catch (error) {
    throw undecodable(error instanceof Error ? error.message : String(error));
  }
  if (value === null) return [];
  if (!Array.isArray(value) || !value.every(isJsonObject)) throw undecodable(cannotRead(value, 'value of type jsonpatch.Patch'));
  if (value.length > 0 && (patchType ?? 'JSONPatch') !== 'JSONPatch') throw new ReviewError(`unsupported patch type ${JSON.stringify(patchType)}`);
  return value;
}

const cannotRead = (value: unknown, as: string): string =>
  `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value} into Go ${as}`;

/** The fields of a response, with their types checked. */
class Fields {
  readonly #values: Record<string, unknown>;

  constructor(response: unknown) {
    if (!isJsonObject(response)) throw notCalled(cannotRead(response, 'struct field AdmissionReview.response of type v1.AdmissionResponse'));
    this.#values = response;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  optionalText(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#wrong(name, 'string');
  }

  text(name: string): string {
    return this.optionalText(name) ?? '';
  }

  flag(name: string): boolean {
    const value = this.value(name) ?? false;
    if (typeof value !== 'boolean') throw this.#wrong(name, 'bool');
    return value;
  }

  texts(name: string): readonly string[] {
    const value = this.value(name) ?? [];
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw this.#wrong(name, '[]string');
    return value;
  }

  map(name: string): Readonly<Record<string, string>> {
    const value = this.value(name) ?? {};
    if (!isJsonObject(value) || !Object.values(value).every((item) => typeof item === 'string')) throw this.#wrong(name, 'map[string]string');
    return value as Record<string, string>;
  }

  #wrong(name: string, type: string): ReviewError {
    return notCalled(cannotRead(this.value(name), `struct field AdmissionResponse.response.${name} of type ${type}`));
  }
}

function resultOf(status: unknown): Result | undefined {
  if (status === undefined) return undefined;
  try {
    const { code, reason, message, details } = decode<Partial<Status>>('Status', status).object;
    return {
      ...(code === undefined ? {} : { code }),
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
      ...(details === undefined ? {} : { details }),
    };
  } catch (error) {
    if (error instanceof DecodeError) throw notCalled(error.message);
    throw error;
  }
}

/** The client's error: the webhook's message and its name. */
export function denial(webhook: string, { code = 0, reason = '', message = '', details }: Result = {}): ApiError {
  const by = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = message !== '' ? message : reason;
  // A denial must not have a success code, nor one that HTTP does not allow.
  const answered = code < 400 || code > 999 ? 400 : code;
  return new ApiError(answered, reason, why === '' ? `${by} without explanation` : `${by}: ${why}`, details);
}
