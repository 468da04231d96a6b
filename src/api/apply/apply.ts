/** Server-side apply, from the applied configuration to the object to store. */
import type { ManagedFieldsEntry } from '../generated/types.ts';
import { ApiError, statusErrors } from '../status.ts';
import { typeMismatches, typeMismatchText } from './check.ts';
import { type Conflict, conflictError } from './conflict.ts';
import { difference, has, isEmpty } from './field-set.ts';
import { allowedByLastApplied, clientOfBoth, lastAppliedOf, lastAppliedText } from './last-applied.ts';
import { noOwners, type Owner, ownerId, type Owners, readOwners, writeOwners } from './managed-entries.ts';
import { type Applied, applyTo } from './ownership.ts';
import { asMap, type JsonMap } from './shape.ts';
import { beforeFirstApply, strippedFields, recordUpdate, type WriteContext } from './track-write.ts';

export interface ApplyContext extends WriteContext {
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
}

export interface ApplyRequest {
  /** The stored object; undefined: there is none. */
  readonly live: JsonMap | undefined;
  readonly applied: JsonMap;
  readonly manager: string;
  readonly force: boolean;
}

export interface ApplyOutcome {
  /** Not decoded and without defaults, and without managedFields; shares parts with `live` and `applied`. */
  readonly object: JsonMap;
  readonly managedFields: ManagedFieldsEntry[] | undefined;
  /** The new value of the last-applied annotation, if the object has it. */
  readonly lastApplied: string | undefined;
}

/** @throws ApiError 400; 409 with all conflicts; 500 without a reason, as in Kubernetes, if the object does not fit its type */
export function apply(context: ApplyContext, request: ApplyRequest): ApplyOutcome {
  const { applied, manager } = request;
  const entries = managedFieldsOf(request.live);
  const live = withoutManagedFields(request.live ?? context.blank());
  const before = ownersBefore(context, live, entries);
  checkKind(context, applied);
  checkApplied(context, applied);
  const outcome = applyOrRefuse(context, before, { ...request, live });
  const managedFields = writeOwners(stamped(context, outcome, manager));
  const object = outcome.object;
  const lastApplied = manager === clientOfBoth && lastAppliedOf(object) !== undefined ? lastAppliedText(applied) : undefined;
  return { object, managedFields, lastApplied };
}

/** Fields of an untracked object belong to the manager 'before-first-apply'. */
function ownersBefore(context: ApplyContext, live: JsonMap, entries: readonly ManagedFieldsEntry[]): Owners {
  const owners = readOrFail(entries);
  return owners.size > 0 ? owners : recordUpdate(context, noOwners, { live: context.blank(), next: live, manager: beforeFirstApply });
}

function readOrFail(entries: readonly ManagedFieldsEntry[]): Owners {
  try {
    return readOwners(entries);
  } catch (error) {
    if (error instanceof SyntaxError) throw new ApiError(500, '', `failed to decode managed fields: ${error.message}`);
    throw error;
  }
}

function checkKind({ kind }: ApplyContext, applied: JsonMap): void {
  const expected = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  if (applied['kind'] === kind.kind && applied['apiVersion'] === expected) return;
  throw statusErrors.badRequest(`invalid object type: ${typeText(applied)}`);
}

/** 'apps/v1, Kind=Deployment' and, of the core group, '/v1, Kind=Pod'. */
function typeText({ apiVersion, kind }: JsonMap): string {
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  return `${version.includes('/') ? version : `/${version}`}, Kind=${typeof kind === 'string' ? kind : ''}`;
}

function checkApplied({ typing, version }: ApplyContext, applied: JsonMap): void {
  const metadata = asMap(applied['metadata']);
  if (metadata?.['managedFields'] !== undefined && metadata['managedFields'] !== null) throw statusErrors.badRequest('metadata.managedFields must be nil');
  const shape = typing.shape(version);
  const found = shape === undefined ? [] : typeMismatches(shape, applied);
  if (found.length === 0) return;
  const name = `${textOr(metadata?.['namespace'])}/${textOr(metadata?.['name'])}; ${typeText(applied)}`;
  throw new ApiError(500, '', `failed to create typed patch object (${name}): ${typeMismatchText(found)}`);
}

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');

type Success = Extract<Applied, { type: 'applied' }>;

interface Attempt extends ApplyRequest {
  readonly live: JsonMap;
}

function applyOrRefuse(context: ApplyContext, owners: Owners, attempt: Attempt): Success {
  const first = attemptOnce(context, owners, attempt);
  if (first.type === 'applied') return first;
  const { conflicts } = first;
  if (attempt.manager !== clientOfBoth) throw conflictError(conflicts);
  const left = notAllowed(context, attempt.live, conflicts);
  if (left.length > 0) throw conflictError(left);
  const forced = attemptOnce(context, owners, { ...attempt, force: true });
  if (forced.type === 'conflict') throw new Error('an apply by force had conflicts');
  return forced;
}

function attemptOnce(context: ApplyContext, owners: Owners, { live, applied, manager, force }: Attempt): Applied {
  const { typing, version, subresource } = context;
  const owner = { manager: manager === '' ? 'unknown' : manager, subresource };
  const id = ownerId({ ...owner, operation: 'Apply', version });
  return applyTo(typing, owners, { live, applied, version, id, owner, force });
}

/** Without the conflicts about fields that kubectl set by client-side apply. */
function notAllowed({ typing, version }: ApplyContext, live: JsonMap, conflicts: readonly Conflict[]): readonly Conflict[] {
  const shape = typing.shape(version);
  const allowed = shape === undefined ? undefined : allowedByLastApplied(shape, live, version);
  return allowed === undefined ? conflicts : conflicts.filter(({ path }) => !has(allowed, path));
}

/** The applier's entry without the stripped fields, and with a new time if it changed. */
function stamped(context: ApplyContext, { owners, changed }: Success, manager: string): Owners {
  const id = ownerId({ manager: manager === '' ? 'unknown' : manager, subresource: context.subresource, operation: 'Apply', version: context.version });
  const owner: Owner | undefined = owners.get(id);
  if (owner === undefined) return owners;
  const set = difference(owner.set, strippedFields);
  if (isEmpty(set)) owners.delete(id);
  else owners.set(id, { ...owner, set, time: changed ? context.now : owner.time });
  return owners;
}

function managedFieldsOf(object: JsonMap | undefined): readonly ManagedFieldsEntry[] {
  const entries = asMap(object?.['metadata'])?.['managedFields'];
  return Array.isArray(entries) ? (entries as ManagedFieldsEntry[]) : [];
}

export function withoutManagedFields(object: JsonMap): JsonMap {
  const metadata = asMap(object['metadata']);
  if (metadata === undefined || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...kept } = metadata;
  return { ...object, metadata: kept };
}
