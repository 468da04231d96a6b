import { readInteger, uint64 } from '../../../api/integers.ts';
import { quoteGo } from '../../../api/json.ts';
import { invalid, omittedValue } from '../../../api/field-error.ts';
import type { Namespace } from '../../../api/generated/types.ts';
import type { Kind, SpecPart } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { ApiError, statusErrors } from '../../../api/status.ts';
import type { Entry } from '../../../store/contract.ts';
import type { AdmissionRequest } from '../../admission/chain.ts';
import type { ApiResponse, ObjectRevision } from '../../api.ts';
import { prepareCreate } from './create.ts';
import { recordRemoval, recordWrite } from '../../objects/side-records.ts';
import { requireAuthorization } from '../secondary-authorization.ts';
import { adoptNamespace, checkName, dedupeOwners, growGeneration, keepGeneration, keepSystemFields, wipeSystemFields } from '../../objects/metadata.ts';
import { parseWriteOptions, type WriteOptions } from '../../objects/options.ts';
import { type Call, decodeObject, type Registry, targetOf } from '../registry.ts';
import { keyOf, type Resource } from '../../objects/resources.ts';
import { type EncodedObject, encode, forgetDecoded, equalsRevision, revisionOf, dryRunRevision } from '../../objects/object-revision.ts';
import { keepTimes, trackManagedFields } from '../field-manager.ts';
import { type CommittedWrite, type TransactionDraft, type PreparedWrite, write } from '../../objects/transaction.ts';
import { validate } from '../validation.ts';

/**
 * Which part of an object a request writes: `/status` writes the status, `/approval` a part of it, `/finalize` the spec of a namespace, `/resize` and
 * `/ephemeralcontainers` some of a pod's spec, the others all but the status.
 */
export type Part = 'object' | 'status' | 'approval' | 'finalize' | SpecPart;

/** An update of an object by PUT, patch or apply. */
export interface ObjectUpdate {
  readonly part: Part;
  readonly options: WriteOptions;
  /** The object as the client wants it, a new one on every call. `current` is frozen; undefined: it does not exist. @throws ApiError */
  desired(current: KubeObject | undefined): KubeObject;
  /** PUT: the object must have this uid. */
  readonly uid?: string | undefined;
  /** An absent object is created. */
  readonly createsAbsent: boolean;
  /** The desired object has its managedFields (apply); otherwise they follow from a comparison. */
  readonly tracked?: boolean;
  /** A write of the status in the same transaction, admitted and validated on its own. `changed`: the object after this update. */
  readonly thenStatus?: (changed: KubeObject) => KubeObject;
}

/** PUT of an object or of its status. */
export async function put(registry: Registry, call: Call, part: Part): Promise<ApiResponse> {
  const { request, route, warnings } = call;
  const { kind } = route.resource;
  const options = parseWriteOptions(request.query, 'UpdateOptions');
  const read = (): KubeObject => {
    const object = decodeObject(request.body, kind, { fieldValidation: options.fieldValidation, warnings });
    adoptNamespace(object, kind, route.namespace);
    checkName(object, route.name);
    return object;
  };
  const first = read();
  for (const warning of dedupeOwners(first, 'given')) warnings.add(warning);
  let unused: KubeObject | undefined = first;
  const desired = (): KubeObject => {
    const object = unused ?? read();
    unused = undefined;
    return object;
  };
  const createsAbsent = part === 'object' && kind.createOnUpdate === true;
  return updateResponse(call, await updateObject(registry, call, { part, options, desired, uid: first.metadata.uid, createsAbsent }));
}

export interface UpdateResult {
  readonly stored: ObjectRevision;
  readonly created: boolean;
}

/** Reads an object, changes it as the client wants, and writes it; after a conflict it starts again. */
export async function updateObject(registry: Registry, call: Call, change: ObjectUpdate): Promise<UpdateResult> {
  return write(targetOf(registry, call), (draft) => prepareObjectUpdate(registry, call, { change, draft }));
}

export function updateResponse({ route, warnings }: Call, { stored, created }: UpdateResult): ApiResponse {
  return { type: 'object', code: created ? 201 : 200, kind: route.resource.kind, stored, warnings: [...warnings] };
}

interface Attempt {
  readonly change: ObjectUpdate;
  readonly draft: TransactionDraft;
}

export async function prepareObjectUpdate(registry: Registry, call: Call, attempt: Attempt): Promise<PreparedWrite<UpdateResult>> {
  const { resource, namespace, name } = call.route;
  const { change, draft } = attempt;
  const key = keyOf(resource, namespace, name);
  const entry = await draft.read(key);
  if (entry === undefined && !change.createsAbsent) throw statusErrors.notFound(resource.kind, name);
  const uid = entry === undefined ? '' : revisionOf(resource, entry).object.metadata.uid;
  const expected = change.uid ?? uid;
  if (expected !== '' && expected !== uid) throw preconditionFailed(resource, key, `UID in precondition: ${expected}, UID in object meta: ${uid}`);
  return entry === undefined ? prepareAbsent(registry, call, attempt) : prepareUpdate(registry, call, { ...attempt, entry, key });
}

/** The text of Kubernetes' storage layer, which clients see. */
export function preconditionFailed(resource: Resource, key: string, why: string): ApiError {
  const text = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${why}`;
  return statusErrors.conflict(resource.kind, key.slice(key.lastIndexOf('/') + 1), text);
}

async function prepareAbsent(registry: Registry, call: Call, { change, draft }: Attempt): Promise<PreparedWrite<UpdateResult>> {
  const object = change.desired(undefined);
  await requireCreation(registry, call);
  wipeSystemFields(object);
  const { options, tracked = false } = change;
  const thenStatus = (created: KubeObject): Promise<KubeObject> => admitFirstStatus(registry, call, { change, draft, created });
  const status = change.thenStatus === undefined ? {} : { thenStatus };
  const prepared = await prepareCreate(registry, call, { object, options, draft, tracked, mayRename: () => false, ...status });
  if (prepared.type === 'answer') return { type: 'answer', answer: { stored: prepared.answer, created: true } };
  // Another request may have created it meanwhile: then this is an update, so there is no `conflict`.
  return { type: 'commit', answer: (committed) => ({ stored: prepared.answer(committed), created: true }) };
}

/** The status of an object that the same write creates. Its revision counts as 0 until then. */
async function admitFirstStatus(registry: Registry, call: Call, { change, draft, created }: Attempt & { readonly created: KubeObject }): Promise<KubeObject> {
  const old = { ...created, metadata: { ...created.metadata, resourceVersion: '0' } };
  const object = change.thenStatus?.(old) ?? old;
  return await admitUpdate(registry, call, { change, draft, revision: 0, part: 'status', subresource: 'status', object, old });
}

/** The right to update an object does not include the right to create it. @throws ApiError 403 */
async function requireCreation({ authorizer }: Registry, call: Call): Promise<void> {
  if (authorizer !== undefined) await requireAuthorization(authorizer, call, { verb: 'create', subresource: call.route.subresource });
}

interface Update extends Attempt {
  readonly entry: Entry;
  readonly key: string;
}

async function prepareUpdate(registry: Registry, call: Call, update: Update): Promise<PreparedWrite<UpdateResult>> {
  const { resource } = call.route;
  const { change, draft, entry, key } = update;
  const current = revisionOf(resource, entry);
  const old = current.object;
  const revision = entry.modRevision;
  const part = { part: change.part, subresource: call.route.subresource };
  let object = await admitUpdate(registry, call, { change, draft, revision, ...part, object: change.desired(old), old });
  if (change.thenStatus !== undefined) {
    const status = { part: 'status', subresource: 'status' } as const;
    object = await admitUpdate(registry, call, { change, draft, revision, ...status, object: change.thenStatus(object), old: object });
  }
  const finished = isFinished(resource.kind, object, old);
  const encoded = encode(resource, object);
  if (change.options.dryRun) return answer(dryRunRevision(resource, encoded, current.revision));
  if (finished) {
    draft.remove(key);
    recordRemoval(draft, resource, old);
    return commit(entry, () => dryRunRevision(resource, encoded, current.revision));
  }
  if (changesNothing(resource, encoded, entry)) return answer(current);
  draft.put(key, encoded);
  recordWrite(draft, registry, { resource, object: encoded.object, old });
  return commit(entry, (committed) => committed.revisionAt(resource, key));
}

const answer = (stored: ObjectRevision): PreparedWrite<UpdateResult> => ({ type: 'answer', answer: { stored, created: false } });

const commit = (before: Entry, stored: (committed: CommittedWrite) => ObjectRevision): PreparedWrite<UpdateResult> => ({
  type: 'commit',
  answer: (committed) => {
    forgetDecoded(before);
    return { stored: stored(committed), created: false };
  },
});

interface Admission extends Attempt {
  /** Of the stored object; 0: it is being created by the same write. */
  readonly revision: number;
  readonly part: Part;
  readonly subresource: string;
  readonly object: KubeObject;
  readonly old: KubeObject;
}

/** @returns the object to store */
async function admitUpdate(registry: Registry, call: Call, admitted: Admission): Promise<KubeObject> {
  const { resource, namespace, name } = call.route;
  const { kind } = resource;
  const { change, part, subresource, draft, revision, object, old } = admitted;
  const { warnings } = call;
  const admission: AdmissionRequest = {
    operation: 'update',
    resource,
    subresource,
    namespace,
    name,
    object,
    old,
    user: call.request.user,
    dryRun: change.options.dryRun,
    draft,
    warnings,
    options: change.options,
    annotate: call.request.annotate,
  };
  if (change.tracked !== true) trackManagedFields(registry, call, { object, old, subresource, options: change.options });
  await registry.admission.mutate(admission);
  for (const warning of dedupeOwners(object, 'admitted')) warnings.add(warning);
  checkVersion(kind, object, revision);
  keepGeneration(object, old);
  if (part === 'object') for (const warning of kind.droppedFields?.(object, old) ?? []) warnings.add(warning);
  prepare(part, kind, { object, old, now: registry.world.clock.now() });
  keepSystemFields(object, old);
  if (part === 'object' || isSpecPart(part)) growGeneration(kind, object, old);
  keepTimes(object, old);
  validate({ resource, object, old, write: part === 'object' ? 'update' : part });
  if (part === 'object') for (const warning of kind.warnings?.(object, old) ?? []) warnings.add(warning);
  await registry.admission.validate(admission);
  return object;
}

const isSpecPart = (part: Part): part is SpecPart => part === 'ephemeralcontainers' || part === 'resize';

/** Optimistic concurrency: a given resourceVersion must be the newest one. */
function checkVersion(kind: Kind, { metadata }: KubeObject, current: number): void {
  const given = versionOf(metadata.resourceVersion ?? '');
  if (given === current) return;
  const name = metadata.name ?? '';
  if (given !== 0) throw statusErrors.conflict(kind, name, 'the object has been modified; please apply your changes to the latest version and try again');
  if (!kind.unconditionalUpdate) {
    // Kubernetes names the resource instead of the kind here, and prints the missing version as Go's unsigned zero.
    const error = invalid('metadata.resourceVersion', omittedValue, '0x0: must be specified for an update');
    throw statusErrors.invalid({ group: kind.group, kind: kind.plural }, name, [error]);
  }
  metadata.resourceVersion = String(current);
}

/** Kubernetes answers a version that is not a number with 500 and Go's words, unlike in a query. */
function versionOf(text: string): number {
  if (text === '') return 0;
  // An unsigned number has no sign in Go, not even a plus.
  const version = /^[+-]/.test(text) ? 'syntax' : readInteger(text, uint64);
  if (version === 'syntax') throw new ApiError(500, '', `strconv.ParseUint: parsing ${quoteGo(text)}: invalid syntax`);
  if (version === 'range') throw new ApiError(500, '', `strconv.ParseUint: parsing ${quoteGo(text)}: value out of range`);
  return Number(version);
}

interface Preparation {
  readonly object: KubeObject;
  readonly old: KubeObject;
  readonly now: number;
}

/** Restores the parts that the request does not write from the old object. */
function prepare(part: Part, kind: Kind, { object, old, now }: Preparation): void {
  const target = object as KubeObject & Record<string, unknown>;
  const source = old as KubeObject & Record<string, unknown>;
  switch (part) {
    case 'object':
      if (kind.status !== undefined) take(target, source, 'status');
      return kind.prepareForUpdate?.(object, old);
    case 'finalize':
      return take(target, source, 'status');
    case 'ephemeralcontainers':
    case 'resize':
      return kind.parts?.[part].prepareForUpdate(object, old);
    case 'status':
    case 'approval':
      for (const key of new Set([...Object.keys(target), ...Object.keys(source)])) {
        if (key !== 'metadata' && key !== 'status') take(target, source, key);
      }
      return (part === 'status' ? kind.status : kind.approval)?.prepareForUpdate?.(object, old, now);
  }
}

function take(target: Record<string, unknown>, source: Readonly<Record<string, unknown>>, key: string): void {
  if (Object.hasOwn(source, key)) target[key] = source[key];
  else delete target[key];
}

/** The update that removes the last finalizer of a deleted object also removes the object. */
function isFinished(kind: Kind, object: KubeObject, old: KubeObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0 || old.metadata.deletionTimestamp === undefined) return false;
  if (kind.group === '' && kind.kind === 'Namespace' && ((object as Namespace).spec.finalizers ?? []).length > 0) return false;
  return (old.metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

/** An update without changes writes nothing: the object keeps its resourceVersion, and watchers get no event. */
export function changesNothing(resource: Resource, encoded: EncodedObject, entry: Entry): boolean {
  if (encoded.bytes.length !== entry.value.length || entry.stale === true) return false;
  // Equally long but different: perhaps only the order of keys differs.
  return Buffer.compare(encoded.bytes, entry.value) === 0 || equalsRevision(encoded, revisionOf(resource.base, entry));
}
