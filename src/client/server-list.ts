import type { Cancel } from '../world/world.ts';

/** Before the next server is tried. If all refuse, watches begin anew only so often. */
const MAX_REFUSALS = 5;

/**
 * The API servers of a cluster, of which all connections of a process use the same one until it fails. A server that is gone without a word
 * (its machine, or the network to it) is left by watches too, which would stay silent for ever.
 */
export class ServerList {
  readonly #servers: readonly URL[];
  readonly #watches = new Set<() => void>();
  #current = 0;
  /** In a row, by the current server. */
  #refusals = 0;

  /** At least one: 'https://10.0.0.1:6443'. */
  constructor(servers: readonly string[]) {
    this.#servers = servers.map((server) => new URL(server));
  }

  get size(): number {
    return this.#servers.length;
  }

  get current(): URL {
    const server = this.#servers[this.#current % this.#servers.length];
    if (server === undefined) throw new TypeError('a list of servers has at least one');
    return server;
  }

  /** The next requests go to another server, and watches begin anew there. One that was left already changes nothing. */
  leave(server: URL): void {
    if (server !== this.current || this.#servers.length === 1) return;
    this.#current++;
    this.#refusals = 0;
    // Each ends itself, and begins anew later.
    const watches = [...this.#watches];
    for (const end of watches) end();
  }

  /** Whether the server could serve: one that lost its store refuses all that it is asked, while others may do. */
  answered(server: URL, couldServe: boolean): void {
    if (server !== this.current) return;
    this.#refusals = couldServe ? 0 : this.#refusals + 1;
    if (this.#refusals >= MAX_REFUSALS) this.leave(server);
  }

  /** Calls when the server of a watch is left. */
  onLeft(end: () => void): Cancel {
    this.#watches.add(end);
    return () => this.#watches.delete(end);
  }
}
