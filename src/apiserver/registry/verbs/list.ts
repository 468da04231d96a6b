import { ExpiredListError, statusErrors } from '../../../api/status.ts';
import { requiredValue } from '../../../api/selectors/field-selector.ts';
import { type Entry, prefixEnd, type Range, type RangeResult, StoreError } from '../../../store/contract.ts';
import type { ApiResponse, ListMeta, ObjectRevision } from '../../api.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';
import { waitForRevision } from '../../objects/wait-for-revision.ts';
import { type ListOptions, parseRevision } from '../../objects/options.ts';
import type { Call, Registry } from '../registry.ts';
import { keyOf, prefixOf } from '../../objects/resources.ts';
import { checkFields, type Selection, selectionOf } from '../../objects/selection.ts';
import { forgetDecoded, isDecoded, revisionOf } from '../../objects/object-revision.ts';
import { storeFailure } from '../../objects/transaction.ts';

/** The largest page that is read at once while a selector filters. */
const MAX_PAGE = 10_000;

export async function list(registry: Registry, call: Call, options: ListOptions): Promise<ApiResponse> {
  const { kind } = call.route.resource;
  const { items, metadata } = await selectObjects(registry, call, options);
  return { type: 'list', kind, items, metadata, warnings: [...call.warnings] };
}

/** The keys and the revision that a list reads. */
interface ListPlan {
  readonly prefix: string;
  readonly from: string;
  readonly to: string;
  /** undefined: the current one. */
  readonly revision: number | undefined;
  readonly limit: number;
  readonly continued: boolean;
  readonly selection: Selection;
}

interface Listed {
  readonly items: readonly ObjectRevision[];
  readonly metadata: ListMeta;
}

export async function selectObjects(registry: Registry, call: Call, options: ListOptions): Promise<Listed> {
  const plan = await planList(registry, call, options);
  return plan.limit === 0 && plan.selection.everything ? readAll(registry, call, plan) : readPage(registry, call, plan);
}

async function planList(registry: Registry, call: Call, options: ListOptions): Promise<ListPlan> {
  const { resource } = call.route;
  checkFields(resource.kind, options.fieldSelector);
  const selection = selectionOf(resource.kind, options);
  const prefix = prefixOf(resource, call.route.namespace);
  // Kubernetes ignores the limit at version "0", which old clients use to get the whole list from the watch cache.
  const limit = options.resourceVersion === '0' ? 0 : options.limit;
  const common = { prefix, limit, selection };
  if (options.continue !== '') {
    const position = decodeContinue(options.continue, prefix);
    if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
      throw statusErrors.badRequest('specifying resource version is not allowed when using continue');
    }
    const revision = position.revision < 0 ? undefined : position.revision;
    return { ...common, from: position.key, to: prefixEnd(prefix), revision, continued: true };
  }
  const revision = await startRevision(registry, options);
  return { ...common, ...keysOf(call, options, prefix), revision, continued: false };
}

/** A field selector for a name or a namespace narrows the range of keys. */
function keysOf(call: Call, { fieldSelector }: ListOptions, prefix: string): { from: string; to: string } {
  const { resource } = call.route;
  const { kind } = resource;
  const namespace = call.route.namespace !== '' || !kind.namespaced ? call.route.namespace : (requiredValue(fieldSelector, 'metadata.namespace') ?? '');
  const name = requiredValue(fieldSelector, 'metadata.name');
  const plain = (text: string): boolean => text !== '' && !text.includes('/');
  if (name !== undefined && plain(name) && (!kind.namespaced || plain(namespace))) {
    const key = keyOf(resource, namespace, name);
    return { from: key, to: `${key}\0` };
  }
  const narrowed = plain(namespace) ? prefixOf(resource, namespace) : prefix;
  return { from: narrowed, to: prefixEnd(narrowed) };
}

async function startRevision(registry: Registry, options: ListOptions): Promise<number | undefined> {
  const revision = parseRevision(options.resourceVersion);
  // A page of a list at a given version without a match means Exact, for old clients.
  const exact = options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0 && revision > 0);
  await waitForRevision(registry, revision);
  return exact ? revision : undefined;
}

async function readAll(registry: Registry, call: Call, plan: ListPlan): Promise<Listed> {
  const { listCache: recentLists, store } = registry;
  const { resource } = call.route;
  const { from: prefix } = plan;
  // Of a store that servers share, the newest revision here may not be the newest.
  const current = plan.revision ?? (await store.currentRevision());
  const recent = recentLists.find({ prefix, resource, revision: current });
  if (recent !== undefined) return { items: recent, metadata: { resourceVersion: String(current) } };
  const { entries, revision } = await readRange(registry, plan, rangeOf({ ...plan, revision: current }, prefix, 0));
  const items = entries.map((entry) => revisionOf(resource, entry));
  if (!plan.continued) recentLists.keep({ prefix, resource, revision }, items);
  return { items, metadata: { resourceVersion: String(revision) } };
}

/** Reads growing pages at one revision until enough objects match or none are left. */
async function readPage(registry: Registry, call: Call, plan: ListPlan): Promise<Listed> {
  const { resource } = call.route;
  const { limit, selection } = plan;
  const items: ObjectRevision[] = [];
  let from = plan.from;
  let revision = plan.revision;
  let page = limit;
  for (;;) {
    const read = await readRange(registry, plan, rangeOf({ ...plan, revision }, from, page));
    revision = read.revision;
    const used = takeMatching(read.entries, { limit, selection, items, stored: (entry) => revisionOf(resource, entry) });
    const left = read.entries.length - used + read.remaining;
    if (left === 0) return { items, metadata: { resourceVersion: String(revision) } };
    const last = read.entries[used - 1];
    if (last !== undefined) from = `${last.key}\0`;
    if (limit > 0 && items.length >= limit) {
      const token = encodeContinue({ revision, key: from }, plan.prefix);
      const remaining = selection.everything ? { remainingItemCount: left } : {};
      return { items, metadata: { resourceVersion: String(revision), continue: token, ...remaining } };
    }
    page = Math.min(page * 2, MAX_PAGE);
  }
}

interface Taking {
  readonly limit: number;
  readonly selection: Selection;
  readonly items: ObjectRevision[];
  readonly stored: (entry: Entry) => ObjectRevision;
}

/** What is decoded for the selection alone is freed again. @returns how many entries were read before the limit was reached */
function takeMatching(entries: readonly Entry[], { limit, selection, items, stored }: Taking): number {
  let used = 0;
  for (const entry of entries) {
    if (limit > 0 && items.length >= limit) break;
    used++;
    const wasDecoded = isDecoded(entry);
    const object = stored(entry);
    if (selection.everything || selection.matches(object.object)) items.push(object);
    else if (!wasDecoded) forgetDecoded(entry);
  }
  return used;
}

const rangeOf = (plan: ListPlan, from: string, limit: number): Range => ({
  from,
  to: plan.to,
  ...(plan.revision === undefined ? {} : { revision: plan.revision }),
  ...(limit > 0 ? { limit } : {}),
});

async function readRange({ store }: Registry, plan: ListPlan, range: Range): Promise<RangeResult> {
  try {
    return await store.range(range);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') throw expired(plan, range);
    if (error instanceof StoreError && error.code === 'future') throw statusErrors.resourceVersionTooLarge(range.revision ?? 0, store.revision());
    throw storeFailure(error);
  }
}

/** The 410 carries a token with which the client may finish the list at the current revision. */
function expired(plan: ListPlan, range: Range): Error {
  if (!plan.continued) return statusErrors.expired('The resourceVersion for the provided list is too old.');
  return new ExpiredListError(encodeContinue({ revision: -1, key: range.from }, plan.prefix));
}
