/**
 * How everything is written: a request is prepared (decoded, admitted, validated) against the revisions that it read. The
 * result is a draft: revisions that must still hold, and writes. One transaction commits it, or a conflict starts the
 * preparation again. Several objects, quotas and allocations go into one draft, and so into one transaction.
 */
import { type Kind, qualifiedResource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import { type Compare, type Entry, type Store, StoreError, type Transaction, type TransactionResult, type Write } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { Fence, ObjectRevision } from '../api.ts';
import { epochKey } from './fence.ts';
import type { KeyLocks } from './locks.ts';
import type { Resource } from './resources.ts';
import { type EncodedObject, revisionOf, WrittenObject } from './object-revision.ts';
import { settleUndecided } from './undecided.ts';

/** Attempts before a write gives up: each lost race means that another write succeeded. */
const MAX_ATTEMPTS = 256;

export class TransactionDraft {
  readonly #store: Store;
  readonly #locks: KeyLocks;
  readonly #compares = new ItemsByKey<Compare>();
  readonly #writes = new ItemsByKey<Write>();
  #held: Map<string, () => void> | undefined;

  constructor(store: Store, locks: KeyLocks) {
    this.#store = store;
    this.#locks = locks;
  }

  /** Locks a key that many requests rewrite. Callers lock keys in sorted order. */
  async hold(key: string): Promise<void> {
    this.#held ??= new Map();
    if (!this.#held.has(key)) this.#held.set(key, await this.#locks.acquire(key));
  }

  /** Releases the locks: the draft is committed or given up. */
  release(): void {
    for (const end of this.#held?.values() ?? []) end();
    this.#held = undefined;
  }

  /** Reads a key whose revision must still be the same when the draft commits. */
  async read(key: string): Promise<Entry | undefined> {
    const entry = await this.#store.get(key);
    this.expect(key, entry?.modRevision ?? 0);
    return entry;
  }

  /** The key must be at this revision (0: absent) when the draft commits. */
  expect(key: string, modRevision: number): void {
    this.#compares.set({ key, modRevision });
  }

  put(key: string, { bytes, object }: EncodedObject): void {
    this.#writes.set({ type: 'put', key, value: bytes, memo: new WrittenObject(object) });
  }

  putBytes(key: string, value: Uint8Array): void {
    this.#writes.set({ type: 'put', key, value });
  }

  remove(key: string): void {
    this.#writes.set({ type: 'delete', key });
  }

  /** The object that the draft writes to a key; undefined: it does not write it, or removes it. */
  pending(key: string): KubeObject | undefined {
    const write = this.#writes.get(key);
    return write?.type === 'put' && write.memo instanceof WrittenObject ? write.memo.object : undefined;
  }

  isWritten(key: string): boolean {
    return this.#writes.get(key) !== undefined;
  }

  get compares(): readonly Compare[] {
    return this.#compares.items;
  }

  get writes(): readonly Write[] {
    return this.#writes.items;
  }
}

/** One item per key: the last one counts. */
class ItemsByKey<T extends { readonly key: string }> {
  readonly items: T[] = [];
  /** Of many items only: a handful is searched faster. A Service with node ports has thousands. */
  #places: Map<string, number> | undefined;

  get(key: string): T | undefined {
    return this.items[this.#placeOf(key)];
  }

  set(item: T): void {
    const place = this.#placeOf(item.key);
    if (place >= 0) this.items[place] = item;
    else {
      this.#places?.set(item.key, this.items.length);
      this.items.push(item);
    }
  }

  #placeOf(key: string): number {
    if (this.items.length <= A_HANDFUL) return this.items.findIndex((item) => item.key === key);
    this.#places ??= new Map(this.items.map((item, place) => [item.key, place]));
    return this.#places.get(key) ?? -1;
  }
}

const A_HANDFUL = 16;

/** The result of a committed draft. */
export class CommittedWrite {
  readonly revision: number;
  readonly #writes: readonly Write[];
  readonly #entries: readonly (Entry | undefined)[];

  constructor(writes: readonly Write[], result: Extract<TransactionResult, { ok: true }>) {
    this.revision = result.revision;
    this.#writes = writes;
    this.#entries = result.entries;
  }

  revisionAt(resource: Resource, key: string): ObjectRevision {
    const entry = this.#entries[this.#writes.findIndex((write) => write.key === key)];
    if (entry === undefined) throw new Error(`the transaction did not write ${key}`);
    return revisionOf(resource, entry);
  }
}

export interface WriteTarget {
  readonly store: Store;
  readonly world: World;
  readonly locks: KeyLocks;
  readonly fence: Fence | undefined;
  readonly kind: Kind;
  /** For messages. */
  readonly name: string;
}

/** A prepared write has its answer at once (nothing to write, dry run) or needs the commit. */
export type PreparedWrite<T> =
  | { readonly type: 'answer'; readonly answer: T }
  | {
      readonly type: 'commit';
      readonly answer: (committed: CommittedWrite) => T;
      /** The error for a conflict on this key; undefined: the write is prepared again. */
      readonly conflict?: (key: string, found: Entry | undefined) => ApiError | undefined;
    };

/** Prepares and commits until it succeeds or preparing fails. @throws ApiError */
export async function write<T>(target: WriteTarget, prepare: (draft: TransactionDraft) => Promise<PreparedWrite<T>>): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const draft = new TransactionDraft(target.store, target.locks);
    try {
      const done = await attemptWrite(target, draft, prepare);
      if (done !== undefined) return done.answer;
    } finally {
      draft.release();
    }
  }
  throw statusErrors.conflict(target.kind, target.name, 'too many other writes got in between; please try again');
}

/** @returns undefined if another write was faster, and another attempt makes sense */
async function attemptWrite<T>(
  target: WriteTarget,
  draft: TransactionDraft,
  prepare: (draft: TransactionDraft) => Promise<PreparedWrite<T>>,
): Promise<{ answer: T } | undefined> {
  const { fence } = target;
  const prepared = await prepare(draft);
  if (prepared.type === 'answer') return { answer: prepared.answer };
  if (fence !== undefined) draft.expect(epochKey(fence.lease), fence.epoch);
  const { compares, writes } = draft;
  const result = await transact(target, { compares, writes });
  if (result.ok) return { answer: prepared.answer(new CommittedWrite(writes, result)) };
  for (const { key, found } of result.conflicts) {
    if (fence !== undefined && key === epochKey(fence.lease)) throw deposed(target, fence, found);
    const refused = prepared.conflict?.(key, found);
    if (refused !== undefined) throw refused;
  }
  return undefined;
}

/** A deposed leader must stop: the cause tells this conflict apart from those that are worth a retry. */
function deposed({ kind, name }: WriteTarget, fence: Fence, found: Entry | undefined): ApiError {
  const now = found === undefined ? 'the lease has no holder' : `the lease is at epoch ${found.modRevision}`;
  const message = `Operation cannot be fulfilled on ${qualifiedResource(kind)} "${name}": the writer no longer leads: it acquired lease ${fence.lease} at epoch ${fence.epoch}, but ${now}`;
  return new ApiError(409, 'Conflict', message, {
    ...statusErrors.conflict(kind, name, '').details,
    causes: [{ reason: 'LeaderDeposed', message: `lease ${fence.lease} was acquired by another leader`, field: 'fence' }],
  });
}

async function transact(target: WriteTarget, transaction: Transaction): Promise<TransactionResult> {
  const { store } = target;
  const before = store.revision();
  try {
    return await store.transact(transaction);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'undecided')) throw storeFailure(error);
    return settleUndecided(target, transaction, before).catch((unsettled: unknown) => Promise.reject(storeFailure(unsettled)));
  }
}

/** The client's error for a failure of the store. */
export function storeFailure(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  switch (error.code) {
    case 'closed':
      return statusErrors.serviceUnavailable('the server is shutting down');
    case 'full':
    case 'failed':
    case 'unavailable':
      return Object.assign(statusErrors.serviceUnavailable(error.message), { cause: error });
    case 'undecided':
      return Object.assign(statusErrors.timeout(error.message), { cause: error });
    case 'too-large':
      return Object.assign(statusErrors.writeTooLarge(error.message), { cause: error });
    case 'corrupt':
    case 'locked':
    case 'newer-version':
    case 'foreign':
    case 'unsupported':
    case 'compacted':
    case 'future':
      return Object.assign(statusErrors.internal(error.message), { cause: error });
  }
}
