import { type Change, type Entry, type Range, type RangeResult, StoreError } from '../contract.ts';
import { History } from './history.ts';
import { SortedIndex } from './sorted-index.ts';
import { type Version, versionAt, visible } from './version.ts';

/** A key, for as long as any of its versions can be read. */
interface Slot {
  readonly key: string;
  newest: Version;
}

/**
 * All keys and all of their versions back to the compacted revision, in memory.
 *
 * A worked example: /a was put at 2 and 5 and deleted at 7; the compacted revision is 3.
 *
 *     slot /a: newest = deleted@7 → put@5 → put@2       (a reader at 4 walks to put@2)
 *     history: 5: put /a (previous @2), 7: delete /a (previous @5)
 *     compact(5): put@5 forgets put@2; history starts at 6
 *     compact(7): the slot goes, since no reader can reach /a any more
 *
 * Invariant: a slot is in `live` if its newest version is a value, in `dead` if it is a deletion.
 */
export class Tree {
  readonly #slots = new Map<string, Slot>();
  readonly #live = new SortedIndex<Slot>();
  readonly #dead = new SortedIndex<Slot>();
  readonly #history: History;
  /** Made once for all watchers. Old ones are dropped and made again for a late watcher. */
  readonly #changes = new Map<number, readonly Change[]>();
  #revision: number;
  #compacted: number;
  /** The state as of this revision is being copied; it must stay readable. */
  #pinned = Number.POSITIVE_INFINITY;
  #liveBytes = 0;
  #historyBytes = 0;

  constructor(revision: number, compacted: number) {
    this.#revision = revision;
    this.#compacted = compacted;
    this.#history = new History(revision);
  }

  get revision(): number {
    return this.#revision;
  }
  get compacted(): number {
    return this.#compacted;
  }
  get keys(): number {
    return this.#live.size;
  }
  get liveBytes(): number {
    return this.#liveBytes;
  }
  get historyBytes(): number {
    return this.#historyBytes;
  }

  /** The newest version of a key, which may be its deletion. */
  newest(key: string): Version | undefined {
    return this.#slots.get(key)?.newest;
  }

  get(key: string): Entry | undefined {
    return visible(this.#slots.get(key)?.newest);
  }

  /** Puts a version in place that was made before the oldest history (loaded from a snapshot). */
  load(version: Version): void {
    this.#addSlot(version);
  }

  /** Makes the versions of the next revision visible. */
  apply(versions: readonly Version[]): void {
    this.#revision++;
    for (let i = 0; i < versions.length; i++) this.#applyOne(versions[i] as Version);
    this.#history.push(versions);
    this.#forgetMemos();
  }

  /** Passes over revisions without writes here, up to `revision`. */
  skipTo(revision: number): void {
    if (revision <= this.#revision) return;
    this.#history.skip(revision - this.#revision);
    this.#revision = revision;
  }

  #applyOne(version: Version): void {
    const slot = this.#slots.get(version.key);
    if (slot === undefined) {
      this.#addSlot(version);
      return;
    }
    const previous = visible(slot.newest);
    version.older = slot.newest;
    slot.newest = version;
    if (previous === undefined && !version.deleted) this.#move(slot, this.#dead, this.#live);
    if (previous !== undefined && version.deleted) this.#move(slot, this.#live, this.#dead);
    const replaced = previous?.value.byteLength ?? 0;
    this.#liveBytes += version.value.byteLength - replaced;
    this.#historyBytes += replaced;
  }

  #addSlot(version: Version): void {
    const slot = { key: version.key, newest: version };
    this.#slots.set(version.key, slot);
    (version.deleted ? this.#dead : this.#live).add(slot);
    this.#liveBytes += version.value.byteLength;
  }

  #move(slot: Slot, from: SortedIndex<Slot>, to: SortedIndex<Slot>): void {
    from.delete(slot.key);
    to.add(slot);
  }

  /** The memo of a replaced value is seldom used again; its bytes stay until they are compacted. */
  #forgetMemos(): void {
    for (const version of this.#history.at(this.#revision - MEMO_REVISIONS) ?? []) if (version.older !== undefined) version.older.memo = undefined;
  }

  /** @throws StoreError `compacted` or `future` */
  range(range: Range): RangeResult {
    const revision = range.revision ?? this.#revision;
    if (revision > this.#revision) throw new StoreError('future', `revision ${revision} does not exist yet: the newest is ${this.#revision}`);
    if (revision < this.#compacted) throw new StoreError('compacted', `revision ${revision} is forgotten: the oldest is ${this.#compacted}`);
    const limit = range.limit ?? Number.POSITIVE_INFINITY;
    const entries = revision === this.#revision ? this.#newestIn(range, limit) : this.#pastIn(range, { revision, limit });
    const remaining = entries.length < limit ? 0 : this.#count(range, revision) - entries.length;
    return { entries, revision, remaining };
  }

  #newestIn({ from, to }: Range, limit: number): Entry[] {
    return this.#live.slice({ from, to, limit }, (slot) => slot.newest);
  }

  #pastIn({ from, to }: { from: string; to: string | undefined }, past: { revision: number; limit: number }): Entry[] {
    const entries: Entry[] = [];
    const live = this.#live.cursor(from, to);
    const dead = this.#dead.cursor(from, to);
    while (entries.length < past.limit) {
      const next = dead.item === undefined || (live.item !== undefined && live.item.key < dead.item.key) ? live : dead;
      if (next.item === undefined) break;
      const version = versionAt(next.item.newest, past.revision);
      if (version !== undefined) entries.push(version);
      next.advance();
    }
    return entries;
  }

  #count({ from, to }: Range, revision: number): number {
    const now = this.#live.count(from, to);
    const revisions = this.#revision - revision;
    if (revisions === 0) return now;
    if (revisions > now + this.#dead.count(from, to)) return this.#pastIn({ from, to }, { revision, limit: Number.POSITIVE_INFINITY }).length;
    // Fewer revisions than keys: take back what each of them added and removed.
    let count = now;
    for (let later = revision + 1; later <= this.#revision; later++) {
      for (const version of this.#history.at(later) ?? []) {
        if (version.key >= from && version.key < to) count += (visible(version.older) === undefined ? 0 : 1) - (version.deleted ? 0 : 1);
      }
    }
    return count;
  }

  /** The changes of one revision after the compacted one. */
  changesAt(revision: number): readonly Change[] | undefined {
    const known = this.#changes.get(revision);
    if (known !== undefined) return known;
    const changes = this.#history.at(revision)?.map(changeOf);
    if (changes === undefined) return undefined;
    this.#changes.set(revision, changes);
    if (this.#changes.size > CHANGES_KEPT) this.#forgetOldestChanges();
    return changes;
  }

  #forgetOldestChanges(): void {
    const [oldest] = this.#changes.keys();
    if (oldest !== undefined) this.#changes.delete(oldest);
  }

  /** From now on reads before `revision` fail. `trim` then frees their data. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
  }

  /** Frees at most `budget` compacted revisions; false once none are left. */
  trim(budget: number): boolean {
    const upTo = Math.min(this.#compacted, this.#pinned);
    for (let done = 0; done < budget; done++) {
      if (this.#history.first > upTo) return false;
      this.#changes.delete(this.#history.first);
      for (const version of this.#history.shift()) this.#forgetBefore(version);
    }
    return this.#history.first <= upTo;
  }

  /** From now on the oldest state that can be read is the one this version is part of. */
  #forgetBefore(version: Version): void {
    this.#historyBytes -= visible(version.older)?.value.byteLength ?? 0;
    version.older = undefined;
    if (version.deleted && this.#slots.get(version.key)?.newest === version) {
      this.#slots.delete(version.key);
      this.#dead.delete(version.key);
    }
  }

  /** Keeps the state as of `revision` readable by `rangePinned`, whatever is compacted meanwhile. */
  pin(revision: number): void {
    this.#pinned = revision;
  }

  unpin(): void {
    this.#pinned = Number.POSITIVE_INFINITY;
  }

  /** The next entries of the pinned state, from the key `from` on. */
  rangePinned(from: string, limit: number): Entry[] {
    return this.#pastIn({ from, to: undefined }, { revision: this.#pinned, limit });
  }
}

/** For this many revisions a replaced value keeps what readers derived from it, since watchers may still be at it. */
const MEMO_REVISIONS = 1024;

/** How many revisions' changes are kept for watchers that come late. */
const CHANGES_KEPT = 4096;

function changeOf(version: Version): Change {
  return {
    type: version.deleted ? 'delete' : 'put',
    key: version.key,
    revision: version.modRevision,
    entry: visible(version),
    previous: visible(version.older),
    memo: undefined,
  };
}
