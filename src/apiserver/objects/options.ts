/** The options of a request, from its query or (deletions) its body, checked as Kubernetes checks them. */
import { type FieldError, forbidden, invalid, notOneOf, notSupported, required } from '../../api/field-error.ts';
import type { FieldValidation } from '../../api/decode-request.ts';
import { statusErrors } from '../../api/status.ts';
import { validateFieldManager } from '../../api/validation/metadata.ts';
import { type FieldSelector, parseFieldSelector } from '../../api/selectors/field-selector.ts';
import { everything, type LabelSelector, parseLabelSelector, SelectorError } from '../../api/selectors/label-selector.ts';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly fieldManager: string;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields from other managers in a conflict. */
  readonly force: boolean;
}

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: { readonly uid: string | undefined; readonly resourceVersion: string | undefined };
}

export type ResourceVersionMatch = '' | 'Exact' | 'NotOlderThan';

export interface ListOptions {
  readonly watch: boolean;
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: ResourceVersionMatch;
  /** 0: no limit. */
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

const meta = 'meta.k8s.io';

function reject(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw statusErrors.invalid({ group: meta, kind }, '', errors);
}

/** `kind`: 'CreateOptions', 'UpdateOptions', 'PatchOptions'; `named`: its name in errors. */
export function parseWriteOptions(query: URLSearchParams, kind: string, named = kind): WriteOptions {
  if (query.size === 0) return plainWrite;
  const dryRun = query.getAll('dryRun');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const errors = [...validateFieldManager(fieldManager, 'fieldManager'), ...dryRunErrors(dryRun)];
  if (kind === 'PatchOptions' && query.has('force')) errors.unshift(forbidden('force', 'may not be specified for non-apply patch'));
  if (!isFieldValidation(fieldValidation)) errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  reject(named, errors);
  return { dryRun: dryRun.length > 0, fieldManager, fieldValidation: isFieldValidation(fieldValidation) && fieldValidation !== '' ? fieldValidation : 'Warn' };
}

export function parseApplyOptions(query: URLSearchParams): ApplyOptions {
  if ((query.get('fieldManager') ?? '') === '') {
    const errors = dryRunErrors(query.getAll('dryRun'));
    reject('PatchOptions', [required('fieldManager', 'is required for apply patch'), ...errors]);
  }
  const options = parseWriteOptions(query, 'ApplyOptions', 'PatchOptions');
  return { ...options, force: booleanParameter(query, 'force') === true };
}

const plainWrite: WriteOptions = { dryRun: false, fieldValidation: 'Warn', fieldManager: '' };

const isFieldValidation = (text: string): text is FieldValidation | '' => text === '' || text === 'Ignore' || text === 'Warn' || text === 'Strict';

const dryRunErrors = (values: readonly string[]): FieldError[] => (values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])]);

/** The fields of DeleteOptions from a body or a query, not checked. */
export interface GivenDeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly dryRun?: readonly string[] | undefined;
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } | undefined;
}

export function deleteOptionsOfQuery(query: URLSearchParams): GivenDeleteOptions {
  return {
    gracePeriodSeconds: integerParameter(query, 'gracePeriodSeconds'),
    orphanDependents: booleanParameter(query, 'orphanDependents'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    dryRun: query.getAll('dryRun'),
  };
}

const policies: readonly string[] = ['Foreground', 'Background', 'Orphan', 'nil'];

export function checkDeleteOptions(given: GivenDeleteOptions): DeleteOptions {
  const { propagationPolicy: policy, orphanDependents, dryRun = [] } = given;
  const errors: FieldError[] = [];
  if (orphanDependents !== undefined && policy !== undefined) {
    errors.push(invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (policy !== undefined && !isPolicy(policy)) errors.push(notOneOf('propagationPolicy', policy, policies));
  errors.push(...dryRunErrors(dryRun));
  reject('DeleteOptions', errors);
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: given.gracePeriodSeconds,
    propagationPolicy: policy !== undefined && isPolicy(policy) ? policy : undefined,
    orphanDependents,
    preconditions: { uid: given.preconditions?.uid, resourceVersion: given.preconditions?.resourceVersion },
  };
}

const isPolicy = (text: string): text is PropagationPolicy => text === 'Orphan' || text === 'Background' || text === 'Foreground';

export function parseListOptions(query: URLSearchParams, watch: boolean): ListOptions {
  if (query.size === 0 && !watch) return plainList;
  const options: ListOptions = {
    watch,
    labelSelector: selector(query.get('labelSelector'), parseLabelSelector, everything),
    fieldSelector: selector(query.get('fieldSelector'), parseFieldSelector, []),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: (query.get('resourceVersionMatch') ?? '') as ResourceVersionMatch,
    limit: Math.max(0, integerParameter(query, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
    timeoutSeconds: integerParameter(query, 'timeoutSeconds'),
    allowWatchBookmarks: booleanParameter(query, 'allowWatchBookmarks') === true,
    sendInitialEvents: booleanParameter(query, 'sendInitialEvents'),
  };
  reject('ListOptions', options.watch ? watchErrors(options) : listErrors(options));
  return options;
}

const plainList: ListOptions = {
  watch: false,
  labelSelector: everything,
  fieldSelector: [],
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
  timeoutSeconds: undefined,
  allowWatchBookmarks: false,
  sendInitialEvents: undefined,
};

const match = 'resourceVersionMatch';

function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (options.resourceVersionMatch !== '') {
    if (options.resourceVersion === '') errors.push(forbidden(match, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (options.continue !== '') errors.push(forbidden(match, 'resourceVersionMatch is forbidden when continue is provided'));
    if (options.resourceVersionMatch !== 'Exact' && options.resourceVersionMatch !== 'NotOlderThan') {
      errors.push(notOneOf(match, options.resourceVersionMatch, ['Exact', 'NotOlderThan', '']));
    }
    if (options.resourceVersionMatch === 'Exact' && options.resourceVersion === '0') {
      errors.push(forbidden(match, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function watchErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (options.sendInitialEvents !== undefined && options.resourceVersionMatch !== 'NotOlderThan') {
    errors.push(forbidden(match, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (options.resourceVersionMatch !== '') {
    if (options.sendInitialEvents === undefined)
      errors.push(forbidden(match, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    if (options.resourceVersionMatch !== 'NotOlderThan') errors.push(notOneOf(match, options.resourceVersionMatch, ['NotOlderThan']));
    if (options.continue !== '') errors.push(forbidden(match, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  return errors;
}

function selector<T>(text: string | null, parse: (text: string) => T, none: T): T {
  if (text === null || text === '') return none;
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SelectorError) throw statusErrors.badRequest(error.message);
    throw error;
  }
}

function booleanParameter(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : text !== '0' && text.toLowerCase() !== 'false';
}

function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw statusErrors.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw statusErrors.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  return value;
}

/**
 * The revision of a resourceVersion: 0 for none and for "0".
 * @throws ApiError 400 if it is not a number
 */
export function parseRevision(text: string): number {
  if (text === '' || text === '0') return 0;
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  throw statusErrors.badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`,
  );
}
