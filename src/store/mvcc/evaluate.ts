import type { Entry, Transaction, TransactionResult } from '../contract.ts';
import { ownBytes, tombstone, Version, visible } from './version.ts';

type Conflicts = Extract<TransactionResult, { ok: false }>['conflicts'];

/** What a transaction comes to, before it is made durable and visible. */
export type Verdict =
  | { readonly outcome: 'conflict'; readonly conflicts: Conflicts }
  /** Every compare holds, and there is nothing to write. */
  | { readonly outcome: 'nothing'; readonly entries: readonly undefined[] }
  | { readonly outcome: 'write'; readonly versions: readonly Version[]; readonly entries: readonly (Entry | undefined)[] };

/**
 * Checks a transaction against the newest versions, and makes those that it would write at `revision`.
 * @throws TypeError if it writes a key twice
 */
export function evaluate(transaction: Transaction, newest: (key: string) => Version | undefined, revision: number): Verdict {
  const conflicts = conflictsOf(transaction, newest);
  if (conflicts !== undefined) return { outcome: 'conflict', conflicts };
  const versions: Version[] = [];
  const entries: (Entry | undefined)[] = [];
  for (const write of transaction.writes) {
    const current = visible(newest(write.key));
    if (write.type === 'put') {
      const version = new Version({
        key: current?.key ?? write.key,
        value: ownBytes(write.value),
        createRevision: current?.createRevision ?? revision,
        modRevision: revision,
        memo: write.memo,
      });
      versions.push(version);
      entries.push(version);
    } else {
      if (current !== undefined) versions.push(tombstone(current.key, revision));
      entries.push(undefined);
    }
  }
  if (transaction.writes.length > 1) refuseTwice(transaction);
  if (versions.length === 0) return { outcome: 'nothing', entries: entries.map(() => undefined) };
  return { outcome: 'write', versions, entries };
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

function refuseTwice(transaction: Transaction): void {
  const keys = new Set<string>();
  for (const { key } of transaction.writes) {
    if (keys.has(key)) throw new TypeError(`a transaction writes ${key} twice`);
    keys.add(key);
  }
}
