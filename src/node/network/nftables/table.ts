import type { HostNetwork } from '../../../world/host-network.ts';
import type { Cancel, World } from '../../../world/world.ts';
import { Ruleset, type RulesetChanges, type RulesetPart } from './ruleset.ts';

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

/** After a failure: the kernel, or nft, may recover. */
const retryMs = 5000;

/**
 * One nftables table of the host. What changes while nft runs is sent together afterwards, so that a burst of changes costs few transactions.
 *
 * Guarantees
 * - A transaction is whole or not at all: no packet meets half of a change.
 * - A part that the kernel refuses keeps no other part from the table. It is tried again, since nft may have failed for another reason.
 */
export class NftablesTable {
  readonly #options: NftablesTableOptions;
  #ruleset: Ruleset;
  readonly #parts = new Map<string, RulesetPart>();
  /** Owner → the part that the kernel refused. */
  readonly #refused = new Map<string, RulesetPart>();
  /** Owners that are replaced while others are tried: the ruleset has only those that are tried. Undefined: none is tried. */
  #postponed: Set<string> | undefined;
  #hasTable = true;
  #cancelRetry: Cancel | undefined;
  #isRetryDue = false;
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
    if (this.#postponed === undefined) this.#ruleset.replace(owner, part);
    else this.#postponed.add(owner);
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
    this.#cancelRetry?.();
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
    while (!this.#stopped) {
      const changes = this.#ruleset.changes();
      if (changes === undefined && !this.#isRetryDue) return;
      if (changes === undefined) await this.#retry();
      else if (!this.#hasTable || !(await this.#send(changes))) await this.#rebuild();
    }
  }

  async #send({ commands, onApplied }: RulesetChanges): Promise<boolean> {
    const { network, world, name } = this.#options;
    const wrong = await network.nft(commands);
    if (wrong === '') onApplied();
    else world.log.warn('a transaction of nftables failed: the table is made anew', { table: name, error: wrong });
    return wrong === '';
  }

  /** Another program may have changed or removed the table, or one part is bad: it is found by halving. */
  async #rebuild(): Promise<void> {
    const { world, name } = this.#options;
    const wrong = await this.open();
    this.#hasTable = wrong === '';
    this.#ruleset = new Ruleset(name);
    if (this.#hasTable) return this.#try([...this.#parts.keys()].filter((owner) => !this.#refused.has(owner)));
    world.log.error('the table of nftables cannot be made: Services do not work on this node', { table: name, error: wrong });
    // Nothing is sent until the retry, or the next change.
    this.#retryLater();
  }

  #retryLater(): void {
    this.#cancelRetry ??= this.#options.world.timers.after(retryMs, () => {
      this.#cancelRetry = undefined;
      this.#isRetryDue = true;
      this.#plan();
    });
  }

  /** A refused part is tried in the table as it is: the others' parts stay where they are. */
  #retry(): Promise<void> {
    this.#isRetryDue = false;
    return this.#hasTable ? this.#try([...this.#refused.keys()]) : this.#rebuild();
  }

  /** The ruleset has no changes. */
  async #try(owners: readonly string[]): Promise<void> {
    const postponed = new Set<string>();
    this.#postponed = postponed;
    await this.#applyOwners(owners);
    this.#postponed = undefined;
    for (const owner of postponed) if (!this.#refused.has(owner)) this.#ruleset.replace(owner, this.#parts.get(owner));
    if (this.#refused.size > 0) this.#retryLater();
  }

  async #applyOwners(owners: readonly string[]): Promise<void> {
    const ruleset = this.#ruleset;
    const parts = owners.map((owner) => [owner, this.#parts.get(owner)] as const);
    for (const [owner, part] of parts) ruleset.replace(owner, part);
    const changes = ruleset.changes();
    const wrong = changes === undefined ? '' : await this.#options.network.nft(changes.commands);
    if (wrong === '') {
      changes?.onApplied();
      for (const [owner, part] of parts) if (this.#refused.get(owner) === part) this.#refused.delete(owner);
      return;
    }
    for (const owner of owners) ruleset.replace(owner, undefined);
    ruleset.changes();
    const [only, ...more] = parts;
    if (more.length > 0) {
      await this.#applyOwners(owners.slice(0, owners.length / 2));
      return this.#applyOwners(owners.slice(owners.length / 2));
    }
    if (only !== undefined) this.#refuse(...only, wrong);
  }

  #refuse(owner: string, part: RulesetPart | undefined, error: string): void {
    const isOther = this.#parts.get(owner) !== part;
    if (part === undefined || isOther || this.#refused.get(owner) === part) return;
    this.#refused.set(owner, part);
    this.#options.onRefused?.(owner, error);
  }
}
