import type { Namespace } from '../../../api/generated/types.ts';
import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { cloneObject } from '../../../api/schema/index.ts';
import { type Status, statusErrors } from '../../../api/status.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Entry } from '../../../store/contract.ts';
import type { ApiResponse, ObjectRevision } from '../../api.ts';
import { decodeDeleteOptions } from './delete-options.ts';
import { finalizersAfter, namespaceFinalizersAfter, orphansByDefault, returnsRemovedObject } from './deletion-rules.ts';
import { recordRemoval } from '../../objects/side-records.ts';
import { timestamp } from '../../objects/metadata.ts';
import type { DeleteOptions } from '../../objects/options.ts';
import { type Call, type Registry, targetOf } from '../registry.ts';
import { keyOf } from '../../objects/resources.ts';
import { encode, forgetDecoded, revisionOf, dryRunRevision } from '../../objects/object-revision.ts';
import { type CommittedWrite, type TransactionDraft, type PreparedWrite, write } from '../../objects/transaction.ts';
import { changesNothing } from './update.ts';

export async function deleteObject(registry: Registry, call: Call): Promise<ApiResponse> {
  const options = decodeDeleteOptions(call);
  warnOfOrphans(call, options);
  return respond(call, options, await deleteOne(registry, call, options));
}

export function warnOfOrphans({ route, warnings }: Call, { propagationPolicy, orphanDependents }: DeleteOptions): void {
  if (orphansByDefault(route.resource.kind) && propagationPolicy === undefined && orphanDependents === undefined) warnings.add(ORPHANS_WARNING);
}

const ORPHANS_WARNING =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

/** The object is gone, or it stays until its finalizers are removed or its grace period has ended. */
export interface DeletionResult {
  readonly gone: boolean;
  readonly stored: ObjectRevision;
}

function respond(call: Call, options: DeleteOptions, { gone, stored }: DeletionResult): ApiResponse {
  const { kind } = call.route.resource;
  const warnings = [...call.warnings];
  if (gone && !returnsRemovedObject(kind)) return { type: 'status', status: success(kind, stored.object), warnings };
  return { type: 'object', code: !gone && options.orphanDependents === false ? 202 : 200, kind, stored, warnings };
}

function success(kind: Kind, { metadata }: KubeObject): Status {
  const { name, uid } = metadata;
  const details = {
    ...(name === undefined ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.plural,
    ...(uid === undefined ? {} : { uid }),
  };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details, code: 200 };
}

export async function deleteOne(registry: Registry, call: Call, options: DeleteOptions): Promise<DeletionResult> {
  return write(targetOf(registry, call), (draft) => prepareDeletion(registry, call, { options, draft }));
}

export interface Deletion {
  readonly options: DeleteOptions;
  readonly draft: TransactionDraft;
}

export async function prepareDeletion(registry: Registry, call: Call, { options, draft }: Deletion): Promise<PreparedWrite<DeletionResult>> {
  const { resource, namespace, name, subresource } = call.route;
  const key = keyOf(resource, namespace, name);
  const entry = await draft.read(key);
  if (entry === undefined) throw statusErrors.notFound(resource.kind, name);
  const { object: old } = revisionOf(resource, entry);
  const request = {
    operation: 'delete',
    resource,
    subresource,
    namespace,
    name,
    object: old,
    old,
    user: call.request.user,
    dryRun: options.dryRun,
    draft,
    warnings: call.warnings,
    options,
    annotate: call.request.annotate,
  } as const;
  checkPreconditions(resource.kind, old, options);
  await registry.admission.mutate(request);
  await registry.admission.validate(request);
  const next = isNamespace(resource.kind)
    ? afterNamespaceDelete(old as Namespace, options, registry)
    : afterDelete(resource.kind, old, { options, now: registry.world.clock.now() });
  return recordDeletion(call, { draft, entry, key, next, dryRun: options.dryRun });
}

/** What a deletion does to an object. */
export type DeletionOutcome =
  /** It is being deleted already. */
  | { readonly type: 'unchanged' }
  /** It stays until its finalizers are removed or its grace period has ended. */
  | { readonly type: 'kept'; readonly object: KubeObject }
  /** It is removed now; `object`: its last state. */
  | { readonly type: 'gone'; readonly object: KubeObject };

export interface DeletionRecord {
  readonly draft: TransactionDraft;
  readonly entry: Entry;
  readonly key: string;
  readonly next: DeletionOutcome;
  readonly dryRun: boolean;
}

export function recordDeletion(call: Call, { draft, entry, key, next, dryRun }: DeletionRecord): PreparedWrite<DeletionResult> {
  const { resource } = call.route;
  const current = revisionOf(resource, entry);
  if (next.type === 'unchanged') return { type: 'answer', answer: { gone: false, stored: current } };
  const gone = next.type === 'gone';
  const encoded = encode(resource, next.object);
  if (dryRun) return { type: 'answer', answer: { gone, stored: dryRunRevision(resource, encoded, current.revision) } };
  if (gone) {
    draft.remove(key);
    recordRemoval(draft, resource, current.object);
    return committing(entry, ({ revision }) => ({ gone, stored: dryRunRevision(resource, encoded, revision) }));
  }
  if (changesNothing(resource, encoded, entry)) return { type: 'answer', answer: { gone, stored: current } };
  draft.put(key, encoded);
  return committing(entry, (committed) => ({ gone, stored: committed.revisionAt(resource, key) }));
}

const committing = (before: Entry, answer: (committed: CommittedWrite) => DeletionResult): PreparedWrite<DeletionResult> => ({
  type: 'commit',
  answer: (committed) => {
    forgetDecoded(before);
    return answer(committed);
  },
});

export function checkPreconditions(kind: Kind, { metadata }: Stored, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions;
  const { name } = metadata;
  const ofNamespace = isNamespace(kind);
  // Kubernetes names the kind where other messages name the resource.
  const subject = ofNamespace ? kind : { ...kind, plural: kind.kind };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = ofNamespace
      ? `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`
      : `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw statusErrors.conflict(subject, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = ofNamespace
      ? `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`
      : `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw statusErrors.conflict(subject, name, why);
  }
}

const isNamespace = (kind: Kind): boolean => kind.group === '' && kind.kind === 'Namespace';

interface DeletionRequest {
  readonly options: DeleteOptions;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Pure: what a deletion does to an object. */
export function afterDelete(kind: Kind, old: KubeObject, request: DeletionRequest): DeletionOutcome {
  if (kind.beginDeletion !== undefined && old.metadata.deletionTimestamp === undefined) {
    const begun = cloneObject(old);
    begun.metadata.deletionTimestamp = timestamp(request.now);
    kind.beginDeletion(begun, begun.metadata.deletionTimestamp);
    return { type: 'kept', object: begun };
  }
  const grace = graceOf(kind, old, request);
  if (grace.type === 'pending') return { type: 'unchanged' };
  const finalizers = finalizersAfter(kind, old.metadata.finalizers ?? [], request.options);
  const object = cloneObject(old);
  setFinalizers(object, finalizers);
  if (grace.type === 'none') {
    if (finalizers.length === 0) return { type: 'gone', object };
    markDeleting(object, request.now);
    return { type: 'kept', object };
  }
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined && (metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1;
  metadata.deletionTimestamp = grace.deletionTimestamp;
  metadata.deletionGracePeriodSeconds = grace.seconds;
  return finalizers.length === 0 && grace.seconds === 0 ? { type: 'gone', object } : { type: 'kept', object };
}

function setFinalizers({ metadata }: KubeObject, finalizers: readonly string[]): void {
  if (finalizers.length === 0) delete metadata.finalizers;
  else metadata.finalizers = [...finalizers];
}

function markDeleting({ metadata }: KubeObject, now: number): void {
  if (metadata.deletionTimestamp === undefined && (metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1;
  if (metadata.deletionTimestamp === undefined || Date.parse(metadata.deletionTimestamp) > now) metadata.deletionTimestamp = timestamp(now);
  metadata.deletionGracePeriodSeconds = 0;
}

type Grace =
  /** The kind has no graceful deletion, or the grace period has ended. */
  | { readonly type: 'none' }
  /** A grace period is running, and the request does not shorten it. */
  | { readonly type: 'pending' }
  | { readonly type: 'granted'; readonly seconds: number; readonly deletionTimestamp: string };

function graceOf(kind: Kind, { ...old }: KubeObject, { options, now }: DeletionRequest): Grace {
  if (kind.gracePeriod === undefined) return { type: 'none' };
  const requested = options.gracePeriodSeconds === undefined || options.gracePeriodSeconds >= 0 ? options.gracePeriodSeconds : 1;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = old.metadata;
  if (deletionTimestamp === undefined) {
    const seconds = kind.gracePeriod(old, requested);
    return { type: 'granted', seconds, deletionTimestamp: timestamp(now + seconds * 1000) };
  }
  if (deletionGracePeriodSeconds === 0) return { type: 'none' };
  if (requested === undefined || requested >= deletionGracePeriodSeconds) return { type: 'pending' };
  return shortened(Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000 + requested * 1000, requested, now);
}

/** A grace period that would have ended already ends now. The kubelet still confirms the end, unless 0 seconds were requested. */
function shortened(end: number, requested: number, now: number): Grace {
  if (end >= now) return { type: 'granted', seconds: requested, deletionTimestamp: timestamp(end) };
  return { type: 'granted', seconds: requested === 0 ? 0 : 1, deletionTimestamp: timestamp(now) };
}

/** A deleted namespace is Terminating until the namespace controller has deleted its content and cleared `spec.finalizers`. */
function afterNamespaceDelete(old: Namespace, options: DeleteOptions, { world, resources }: Registry): DeletionOutcome {
  if (old.metadata.deletionTimestamp !== undefined) {
    if ((old.spec.finalizers ?? []).length > 0) return { type: 'unchanged' };
    return afterDelete(resources.require('v1', 'namespaces').kind, old, { options, now: world.clock.now() });
  }
  const object = cloneObject(old);
  object.metadata.deletionTimestamp = timestamp(world.clock.now());
  object.status.phase = 'Terminating';
  setFinalizers(object, namespaceFinalizersAfter(old.metadata.finalizers ?? [], options));
  return { type: 'kept', object };
}
