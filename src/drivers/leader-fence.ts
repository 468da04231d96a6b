import { type DriverFailure, deposed, type Leader } from './contract.ts';
import type { Directories } from './directories.ts';

/**
 * Remembers, beside the directories, the highest epoch of each lease that ever asked for something. One that is lower belongs to a
 * leader which another has replaced, perhaps in another process.
 *
 * Caveat: between the look and the call another leader may come. What the old one does then is what it was about to do
 * under an intent that the new one finds as well.
 */
export class LeaderFence {
  readonly #directories: Directories;
  readonly #path: string;
  /** One look at a time: two calls of a new leader must not both write. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(directories: Directories, path: string) {
    this.#directories = directories;
    this.#path = path;
  }

  /** Undefined: go on. */
  check(leader: Leader): Promise<DriverFailure | undefined> {
    const looked = this.#turn.then(() => this.#check(leader));
    this.#turn = looked.catch(() => undefined);
    return looked;
  }

  async #check(leader: Leader): Promise<DriverFailure | undefined> {
    const seen = epochsIn(await this.#directories.readFile(this.#path));
    const highest = seen[leader.lease] ?? 0;
    if (leader.epoch < highest) return deposed(leader, highest);
    if (leader.epoch > highest) {
      // A disk that is full keeps nobody from deleting: the API refuses what a deposed leader writes all the same.
      await this.#directories.writeFile(this.#path, `${JSON.stringify({ ...seen, [leader.lease]: leader.epoch })}\n`).catch(() => undefined);
    }
    return undefined;
  }
}

/** Whatever else stands there was not written here, and counts for nothing. */
function epochsIn(note: string | undefined): Readonly<Record<string, number>> {
  try {
    const written: unknown = JSON.parse(note ?? '{}');
    if (written === null || typeof written !== 'object') return {};
    return Object.fromEntries(Object.entries(written).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])));
  } catch {
    return {};
  }
}
