import { type Entry, type Store, StoreError, type Transaction, type TransactionResult } from '../contract.ts';
import { evaluate } from '../mvcc/evaluate.ts';
import { ReadableStore } from '../mvcc/readable.ts';
import { Tree } from '../mvcc/tree.ts';
import { Version } from '../mvcc/version.ts';

/** What a store held at a revision. */
export interface StoreContent {
  readonly revision: number;
  readonly entries: readonly Entry[];
}

/**
 * A store that lives as long as its process: for tests, simulation and `--store memory`. With the content of another one it goes on from there, at
 * the same revisions; what lies before is compacted.
 */
export function openMemoryStore(content?: StoreContent): Store {
  return new MemoryStore(content === undefined ? undefined : treeOf(content));
}

function treeOf({ revision, entries }: StoreContent): Tree {
  const tree = new Tree(revision, revision);
  // Versions of its own: the other store links its newer ones to them.
  for (const entry of entries) tree.load(new Version(entry));
  return tree;
}

class MemoryStore extends ReadableStore implements Store {
  #closing: Promise<void> | undefined;

  /** As in a durable store, a write is visible only after `transact` has returned: no caller may rely on an earlier read. */
  async transact(transaction: Transaction): Promise<TransactionResult> {
    this.#refuseIfClosing();
    await Promise.resolve();
    const outcome = evaluate(transaction, (key) => this.tree.newest(key), this.tree.revision + 1);
    switch (outcome.type) {
      case 'conflict':
        return { ok: false, revision: this.tree.revision, conflicts: outcome.conflicts };
      case 'nothing':
        return { ok: true, revision: this.tree.revision, entries: outcome.entries };
      case 'write':
        this.publish(outcome.versions);
        return { ok: true, revision: this.tree.revision, entries: outcome.entries };
    }
  }

  async compact(revision: number): Promise<void> {
    this.#refuseIfClosing();
    if (revision > this.tree.revision) throw new StoreError('future', `revision ${revision} does not exist yet: the newest is ${this.tree.revision}`);
    await Promise.resolve();
    this.tree.compact(revision);
    this.tree.trim(Number.POSITIVE_INFINITY);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // The writes in progress are ahead of this continuation in the microtask queue.
    await Promise.resolve();
    this.endReading();
  }

  /** @throws StoreError `closed` */
  #refuseIfClosing(): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'the store is closed');
  }
}
