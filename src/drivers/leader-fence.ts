import { deposed, type DriverFailure, type Leader } from './contract.ts';
import type { Directories } from './directories.ts';
import { KeyedMutex } from '../world/keyed-mutex.ts';

/**
 * Fencing: a file with the highest epoch of each lease that made a call. A call with a lower epoch comes from a deposed leader.
 *
 * Caveat: a new leader may appear between the check and the call. The old leader then executes an intent that the new leader finds too.
 */
export class LeaderFence {
  readonly #directories: Directories;
  readonly #path: string;
  /** Serialized: two calls of a new leader must not both write. */
  readonly #mutex = new KeyedMutex();
  /** Reads that have not begun, by the leader that asks: calls that wait for one are answered by the same one. */
  readonly #next = new Map<string, Promise<DriverFailure | undefined>>();

  constructor(directories: Directories, path: string) {
    this.#directories = directories;
    this.#path = path;
  }

  /** Undefined: the leader may proceed. */
  check(leader: Leader): Promise<DriverFailure | undefined> {
    const asks = `${leader.lease} ${leader.epoch}`;
    const next = this.#next.get(asks);
    if (next !== undefined) return next;
    const check = this.#mutex.run(this.#path, () => {
      // A later call may have been made after a newer leader wrote: it needs a read of its own.
      this.#next.delete(asks);
      return this.#check(leader);
    });
    this.#next.set(asks, check);
    return check;
  }

  async #check(leader: Leader): Promise<DriverFailure | undefined> {
    const epochs = epochsIn(await this.#directories.readFile(this.#path));
    const highest = epochs[leader.lease] ?? 0;
    if (leader.epoch < highest) return deposed(leader, highest);
    if (leader.epoch > highest) {
      // A full disk must not block deletes: the API server refuses the writes of a deposed leader anyway.
      await this.#directories.writeFile(this.#path, `${JSON.stringify({ ...epochs, [leader.lease]: leader.epoch })}\n`).catch(() => undefined);
    }
    return undefined;
  }
}

/** Invalid entries are ignored. */
function epochsIn(text: string | undefined): Readonly<Record<string, number>> {
  try {
    const written: unknown = JSON.parse(text ?? '{}');
    if (written === null || typeof written !== 'object') return {};
    return Object.fromEntries(Object.entries(written).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])));
  } catch {
    return {};
  }
}
