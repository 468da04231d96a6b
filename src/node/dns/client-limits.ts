/** How much of a bounded thing each client has: one pod must not take what the others need. */
export class ClientLimits {
  readonly #most: number;
  /** By the client's address. Clients that have nothing are not in it. */
  readonly #taken = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** False: the client has as much as it may. */
  take(client: string): boolean {
    const taken = this.#taken.get(client) ?? 0;
    if (taken >= this.#most) return false;
    this.#taken.set(client, taken + 1);
    return true;
  }

  release(client: string): void {
    const taken = this.#taken.get(client) ?? 0;
    if (taken > 1) this.#taken.set(client, taken - 1);
    else this.#taken.delete(client);
  }
}
