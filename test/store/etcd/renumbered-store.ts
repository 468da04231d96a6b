import type { Change, Entry, RangeResult, Store, TransactionResult } from '../../../src/store/contract.ts';

/**
 * A store as if its first revision, or the one after `offset`, were 1. The revisions of an etcd that has been in use are higher; the suites of stores count from the
 * beginning.
 */
export function renumbered(store: Store, offset = store.revision() - 1): Store {
  const inner = (revision: number): number => (revision === 0 ? 0 : revision + offset);
  const outer = (revision: number): number => revision - offset;
  const entries = new WeakMap<Entry, Entry>();
  const changes = new WeakMap<Change, Change>();

  const entryOf = (entry: Entry | undefined): Entry | undefined => entry && remembered(entries, entry, renumberedEntry);
  const renumberedEntry = (entry: Entry): Entry => ({
    key: entry.key,
    value: entry.value,
    createRevision: outer(entry.createRevision),
    modRevision: outer(entry.modRevision),
    get memo() {
      return entry.memo;
    },
    set memo(memo) {
      entry.memo = memo;
    },
  });
  const changeOf = (change: Change): Change =>
    remembered(changes, change, (each) => ({ ...each, revision: outer(each.revision), entry: entryOf(each.entry), previous: entryOf(each.previous) }));
  const resultOf = (result: TransactionResult): TransactionResult =>
    result.ok
      ? { ok: true, revision: outer(result.revision), entries: result.entries.map(entryOf) }
      : { ok: false, revision: outer(result.revision), conflicts: result.conflicts.map(({ key, found }) => ({ key, found: entryOf(found) })) };
  const rangeOf = ({ entries: found, revision, remaining }: RangeResult): RangeResult => ({
    entries: found.flatMap((entry) => entryOf(entry) ?? []),
    revision: outer(revision),
    remaining,
  });

  return {
    revision: () => outer(store.revision()),
    currentRevision: async () => outer(await store.currentRevision()),
    compactedRevision: () => outer(store.compactedRevision()),
    transact: async ({ compares, writes }) =>
      resultOf(await store.transact({ compares: compares.map(({ key, modRevision }) => ({ key, modRevision: inner(modRevision) })), writes })),
    get: async (key) => entryOf(await store.get(key)),
    // Revision 0 is one before the first.
    range: async ({ revision, ...range }) => rangeOf(await store.range({ ...range, ...(revision !== undefined && { revision: revision + offset }) })),
    watch: ({ prefix, after }, watcher) => {
      const watch = store.watch(
        { prefix, after: after + offset },
        { changes: (revision, made) => watcher.changes(outer(revision), made.map(changeOf)), end: (cause) => watcher.end(cause) },
      );
      return { progress: () => outer(watch.progress()), stop: () => watch.stop() };
    },
    compact: (revision) => store.compact(revision + offset),
    stats: () => store.stats(),
    close: () => store.close(),
  };
}

function remembered<T extends object>(known: WeakMap<T, T>, from: T, make: (from: T) => T): T {
  const found = known.get(from) ?? make(from);
  known.set(from, found);
  return found;
}
