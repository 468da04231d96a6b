/**
 * What became of a transaction that was sent to a store on other machines, and not answered. Its client gets the answer that it would have
 * got: never a conflict with its own write, and never a second write.
 */
import { type Change, type Entry, type Store, StoreError, type Transaction, type TransactionResult } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import { waitForRevision } from './wait-for-revision.ts';

/** Before the client is told that the outcome is not known. */
const MAX_ATTEMPTS = 3;
const NOT_KNOWN = 'the store did not answer in time: the write may have happened, or may still happen';

/**
 * `before`: the store's revision before the transaction was sent.
 * @throws StoreError `undecided` or ApiError 504 if it cannot be found out
 */
export async function settleUndecided(
  { store, world }: { readonly store: Store; readonly world: World },
  transaction: Transaction,
  before: number,
): Promise<TransactionResult> {
  for (let attempt = 0; ; attempt++) {
    const { found, revision } = await readKeys(store, transaction);
    // The history of a mirror may be behind the reads.
    await waitForRevision({ store, world }, revision);
    const changes = changesSince(store, transaction, before);
    for (const [key, entry] of found) if (changes.has(key) && isUnknown(entry, changes.get(key), before)) throw new StoreError('undecided', NOT_KNOWN);
    const happened = committedResult(transaction, { changes, found });
    if (happened !== undefined) return happened;
    const failed = transaction.compares.filter(({ key, modRevision }) => (found.get(key)?.modRevision ?? 0) !== modRevision);
    // A key never comes back to a revision that it has left: the transaction has not happened, and cannot happen any more.
    if (failed.some(({ modRevision }) => modRevision > 0))
      return { ok: false, revision: store.revision(), conflicts: failed.map(({ key }) => ({ key, found: found.get(key) })) };
    // A key that has to be absent may be deleted: a create that is on its way would happen then.
    if (failed.length > 0 || !isGuarded(transaction) || attempt >= MAX_ATTEMPTS) throw new StoreError('undecided', NOT_KNOWN);
    // Of both, at most one succeeds. If the first one does, this one gets a conflict, and the next round finds the changes.
    const again = await repeated(store, transaction);
    if (again?.ok === true) return again;
  }
}

async function repeated(store: Store, transaction: Transaction): Promise<TransactionResult | undefined> {
  try {
    return await store.transact(transaction);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'undecided') return undefined;
    throw error;
  }
}

/** A transaction changes what it compares: it cannot succeed twice. */
const isGuarded = ({ compares, writes }: Transaction): boolean =>
  compares.some(({ key, modRevision }) => writes.some((write) => write.key === key && (write.type === 'put' || modRevision > 0)));

interface KeysRead {
  readonly found: ReadonlyMap<string, Entry | undefined>;
  /** Of the newest of the reads. */
  readonly revision: number;
}

/** All keys of the transaction. These reads are current: they show every earlier transaction. */
async function readKeys(store: Store, { compares, writes }: Transaction): Promise<KeysRead> {
  const keys = [...new Set([...compares, ...writes].map(({ key }) => key))];
  try {
    const reads = await Promise.all(keys.map((key) => store.range({ from: key, to: `${key}\0` })));
    return { found: new Map(keys.map((key, i) => [key, reads[i]?.entries[0]])), revision: Math.max(...reads.map(({ revision }) => revision)) };
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'unavailable')) throw error;
    throw new StoreError('undecided', `${error.message}. Whether the write happened is not known.`, { cause: error });
  }
}

/** The history lacks what was read. */
const isUnknown = (entry: Entry | undefined, changes: ReadonlyMap<number, Change> | undefined, before: number): boolean =>
  entry !== undefined && entry.modRevision > before && changes?.has(entry.modRevision) !== true;

/** The changes of the written keys, by key and revision. @throws StoreError `undecided` if they are forgotten already */
function changesSince(store: Store, { writes }: Transaction, after: number): ReadonlyMap<string, ReadonlyMap<number, Change>> {
  return new Map(writes.map(({ key }) => [key, changesOf(store, key, after)]));
}

function changesOf(store: Store, key: string, after: number): ReadonlyMap<number, Change> {
  const found = new Map<number, Change>();
  const end: { cause?: StoreError } = {};
  const watch = store.watch(
    { prefix: key, after },
    {
      changes: (revision, changes) => {
        for (const change of changes) if (change.key === key) found.set(revision, change);
      },
      end: (cause) => (end.cause = cause),
    },
  );
  watch.stop();
  if (end.cause !== undefined) throw new StoreError('undecided', `${NOT_KNOWN}: ${end.cause.message}`);
  return found;
}

interface KeyHistories extends Pick<KeysRead, 'found'> {
  readonly changes: ReadonlyMap<string, ReadonlyMap<number, Change>>;
}

/** At a revision that did not change the key. */
function wasThere(key: string, revision: number, { changes, found }: KeyHistories): boolean {
  const later = [...(changes.get(key)?.values() ?? [])].filter((change) => change.revision > revision).sort((a, b) => a.revision - b.revision);
  const [next] = later;
  return (next === undefined ? found.get(key) : next.previous) !== undefined;
}

/**
 * The revision at which all writes happened together, with the same values. A value has the uid and the times of its request: another writer's
 * is the same only if it means the same.
 */
function committedResult({ compares, writes }: Transaction, { changes, found }: KeyHistories): TransactionResult | undefined {
  const revisions = new Set([...changes.values()].flatMap((changesOfKey) => [...changesOfKey.keys()]));
  for (const revision of revisions) {
    const matches = writes.every((write) => {
      const change = changes.get(write.key)?.get(revision);
      // To delete an absent key is no change. A key that stayed was not deleted: another client has deleted only others of them.
      if (write.type === 'delete') return change === undefined ? !wasThere(write.key, revision, { changes, found }) : change.type === 'delete';
      return change?.entry !== undefined && Buffer.compare(change.entry.value, write.value) === 0;
    });
    // Another writer's changes may be the same from another state.
    const isFromCompared = compares.every(({ key, modRevision }) => {
      const change = changes.get(key)?.get(revision);
      // A key that is only compared has no changes here.
      return change === undefined ? modRevision === 0 || !changes.has(key) : (change.previous?.modRevision ?? 0) === modRevision;
    });
    if (matches && isFromCompared) return { ok: true, revision, entries: writes.map(({ key }) => changes.get(key)?.get(revision)?.entry) };
  }
  return undefined;
}
