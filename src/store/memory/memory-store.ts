import { type Store, StoreError, type Transaction, type TransactionResult } from '../contract.ts';
import { evaluate } from '../mvcc/evaluate.ts';
import { ReadableStore } from '../mvcc/readable.ts';

/** A store that lives as long as its process: for tests, simulation and `--store memory`. */
export function openMemoryStore(): Store {
  return new MemoryStore();
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
