import type { Entry, Transaction, TransactionResult, Write } from '../contract.ts';
import { ownBytes, tombstone, Version, visible } from './version.ts';

type Conflicts = Extract<TransactionResult, { ok: false }>['conflicts'];

/** The outcome of a transaction, before it is durable and visible. */
export type TransactionOutcome =
  | { readonly type: 'conflict'; readonly conflicts: Conflicts }
  /** Every compare holds, and there is nothing to write. */
  | { readonly type: 'nothing'; readonly entries: readonly (Entry | undefined)[] }
  | { readonly type: 'write'; readonly versions: readonly Version[]; readonly entries: readonly (Entry | undefined)[] };

/**
 * Checks a transaction against the newest versions, and makes those that it would write at `revision`.
 * @throws TypeError if it writes a key twice
 */
export function evaluate(transaction: Transaction, newest: (key: string) => Version | undefined, revision: number): TransactionOutcome {
  const conflicts = conflictsOf(transaction, newest);
  if (conflicts !== undefined) return { type: 'conflict', conflicts };
  if (transaction.writes.length > 1) refuseTwice(transaction.writes);
  const written = transaction.writes.map((write) => versionOf(write, visible(newest(write.key)), revision));
  const entries = written.map(visible);
  const versions = written.every((version) => version !== undefined) ? written : written.filter((version) => version !== undefined);
  return versions.length > 0 ? { type: 'write', versions, entries } : { type: 'nothing', entries };
}

/** The version that a write makes; undefined if it changes nothing. */
function versionOf(write: Write, current: Version | undefined, revision: number): Version | undefined {
  if (write.type === 'delete') return current && tombstone(current.key, revision);
  return new Version({
    // The key that is stored already, so that all versions share one string.
    key: current?.key ?? write.key,
    value: ownBytes(write.value),
    createRevision: current?.createRevision ?? revision,
    modRevision: revision,
    memo: write.memo,
  });
}

function conflictsOf(transaction: Transaction, newest: (key: string) => Version | undefined): Conflicts | undefined {
  let conflicts: { key: string; found: Entry | undefined }[] | undefined;
  for (const compare of transaction.compares) {
    const found = visible(newest(compare.key));
    if ((found?.modRevision ?? 0) === compare.modRevision) continue;
    conflicts ??= [];
    conflicts.push({ key: compare.key, found });
  }
  return conflicts;
}

/** @throws TypeError if a key is written twice */
export function refuseTwice(writes: readonly Write[]): void {
  const keys = new Set<string>();
  for (const { key } of writes) {
    if (keys.has(key)) throw new TypeError(`a transaction writes ${key} twice`);
    keys.add(key);
  }
}
