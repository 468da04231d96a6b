import type { HostNetwork } from '../../../world/host-network.ts';
import type { World } from '../../../world/world.ts';
import { Ruleset, type RulesetPart } from './ruleset.ts';

export interface NftablesTableOptions {
  readonly world: World;
  readonly network: HostNetwork;
  /** With its family: 'ip moor-1a2b3c4d'. */
  readonly name: string;
  /** The content that does not change: chains with hooks, sets and maps. */
  readonly base: string;
  /** The kernel refuses what this owner adds; the others' is in the table. */
  readonly onRefused?: (owner: string, error: string) => void;
}

/** After a failure that no part explains: the kernel, or nft, may recover. */
const retryMs = 5000;

/**
 * One nftables table of the host. What changes while nft runs is sent together afterwards, so that a burst of changes costs few transactions.
 *
 * Guarantees
 * - A transaction is whole or not at all: no packet meets half of a change.
 * - A part that the kernel refuses keeps no other part from the table.
 */
export class NftablesTable {
  readonly #options: NftablesTableOptions;
  #ruleset: Ruleset;
  readonly #parts = new Map<string, RulesetPart>();
  /** Owner → the part that the kernel refused. */
  readonly #refused = new Map<string, RulesetPart>();
  #flushing: Promise<void> | undefined;
  #isPlanned = false;
  #stopped = false;

  constructor(options: NftablesTableOptions) {
    this.#options = options;
    this.#ruleset = new Ruleset(options.name);
  }

  /** Replaces a table of this name that an earlier process left. Resolves with the error; '': none. */
  open(): Promise<string> {
    const { network, name, base } = this.#options;
    return network.nft(`add table ${name}\ndelete table ${name}\ntable ${name} {\n${base}\n}\n`);
  }

  /** Undefined: the owner adds nothing any more. */
  replace(owner: string, part: RulesetPart | undefined): void {
    if (part === undefined) this.#parts.delete(owner);
    else this.#parts.set(owner, part);
    this.#refused.delete(owner);
    this.#ruleset.replace(owner, part);
    this.#plan();
  }

  /** Resolves once the kernel has everything that was replaced so far. */
  async flushed(): Promise<void> {
    while (this.#isPlanned || this.#flushing !== undefined) {
      await this.#flushing;
      await new Promise<void>((resolve) => this.#options.world.timers.soon(resolve));
    }
  }

  /** The table stays: pods that go on need it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#flushing;
  }

  #plan(): void {
    if (this.#isPlanned || this.#flushing !== undefined || this.#stopped) return;
    this.#isPlanned = true;
    this.#options.world.timers.soon(() => {
      this.#isPlanned = false;
      if (this.#stopped) return;
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined;
      });
    });
  }

  async #flush(): Promise<void> {
    const { network, world } = this.#options;
    for (let changes = this.#ruleset.changes(); changes !== undefined && !this.#stopped; changes = this.#ruleset.changes()) {
      const wrong = await network.nft(changes.commands);
      if (wrong === '') {
        changes.onApplied();
        continue;
      }
      world.log.warn('a transaction of nftables failed: the table is made anew', { table: this.#options.name, error: wrong });
      await this.#rebuild();
    }
  }

  /** Another program may have changed or removed the table, or one part is bad: it is found by halving. */
  async #rebuild(): Promise<void> {
    const { world, name } = this.#options;
    const wrong = await this.open();
    if (wrong !== '') {
      world.log.error('the table of nftables cannot be made: Services do not work on this node', { table: name, error: wrong });
      this.#ruleset.reset();
      // Nothing is sent until the retry, or the next change.
      this.#ruleset.changes();
      world.timers.after(retryMs, () => {
        this.#ruleset.reset();
        this.#plan();
      });
      return;
    }
    this.#ruleset = new Ruleset(name);
    await this.#applyOwners([...this.#parts.keys()].filter((owner) => !this.#refused.has(owner)));
  }

  async #applyOwners(owners: readonly string[]): Promise<void> {
    const ruleset = this.#ruleset;
    for (const owner of owners) ruleset.replace(owner, this.#parts.get(owner));
    const changes = ruleset.changes();
    if (changes === undefined) return;
    const wrong = await this.#options.network.nft(changes.commands);
    if (wrong === '') return changes.onApplied();
    for (const owner of owners) ruleset.replace(owner, undefined);
    ruleset.changes();
    const [only, ...more] = owners;
    if (more.length > 0) {
      await this.#applyOwners(owners.slice(0, owners.length / 2));
      return this.#applyOwners(owners.slice(owners.length / 2));
    }
    const part = only === undefined ? undefined : this.#parts.get(only);
    if (only === undefined || part === undefined) return;
    this.#refused.set(only, part);
    this.#options.onRefused?.(only, wrong);
  }
}
