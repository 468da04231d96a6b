interface Turn {
  readonly ended: Promise<void>;
}

interface KeyTurns {
  writer: Turn | undefined;
  /** Since the writer. */
  readonly readers: Set<Turn>;
}

/**
 * Transactions on one key take effect in the order of their calls, whichever of them a server handles first. Those that share no key, or only
 * compare what they share, run together.
 */
export class KeyOrder {
  readonly #keys = new Map<string, KeyTurns>();

  /** Runs `task` after the earlier tasks on its keys. */
  async run<T>({ compared, written }: { readonly compared: readonly string[]; readonly written: readonly string[] }, task: () => Promise<T>): Promise<T> {
    let end: () => void = () => undefined;
    const turn: Turn = { ended: new Promise((resolve) => (end = resolve)) };
    const earlier = new Set<Turn>();
    for (const key of compared) this.#read(key, turn, earlier);
    for (const key of written) this.#write(key, turn, earlier);
    earlier.delete(turn);
    try {
      if (earlier.size > 0) await Promise.all(Array.from(earlier, ({ ended }) => ended));
      return await task();
    } finally {
      for (const key of compared) this.#leave(key, turn);
      for (const key of written) this.#leave(key, turn);
      end();
    }
  }

  #read(key: string, turn: Turn, earlier: Set<Turn>): void {
    const turns = this.#turnsOf(key);
    if (turns.writer !== undefined) earlier.add(turns.writer);
    turns.readers.add(turn);
  }

  #write(key: string, turn: Turn, earlier: Set<Turn>): void {
    const turns = this.#turnsOf(key);
    if (turns.writer !== undefined) earlier.add(turns.writer);
    for (const reader of turns.readers) earlier.add(reader);
    turns.readers.clear();
    turns.writer = turn;
  }

  #turnsOf(key: string): KeyTurns {
    let turns = this.#keys.get(key);
    if (turns === undefined) {
      turns = { writer: undefined, readers: new Set() };
      this.#keys.set(key, turns);
    }
    return turns;
  }

  #leave(key: string, turn: Turn): void {
    const turns = this.#keys.get(key);
    if (turns === undefined) return;
    turns.readers.delete(turn);
    if (turns.writer === turn) turns.writer = undefined;
    if (turns.writer === undefined && turns.readers.size === 0) this.#keys.delete(key);
  }
}
