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
  /** An empty chain of the base. While parts may be missing it drops: from `open` to the first `release`, and whenever the table is made anew. */
  readonly hold?: string;
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
 * - A part that the kernel refuses keeps no other part from the table. It is tried again, since nft may have failed for another reason. Meanwhile the table has
 *   its `ifRefused`.
 */
export class NftablesTable {
  readonly #options: NftablesTableOptions;
  #ruleset: Ruleset;
  readonly #parts = new Map<string, RulesetPart>();
  /** Owner → the part that the kernel refused. */
  readonly #refused = new Map<string, RulesetPart>();
  /** Owner → what the table has in place of its refused part. */
  readonly #substitutes = new Map<string, RulesetPart>();
  /** Owners that are replaced while others are tried: the ruleset has only those that are tried. Undefined: none is tried. */
  #postponed: Set<string> | undefined;
  #hasTable = true;
  #cancelRetry: Cancel | undefined;
  #isRetryDue = false;
  #flushing: Promise<void> | undefined;
  #isPlanned = false;
  /** Something was planned since the last look for changes. */
  #isDue = false;
  #stopped = false;
  #isReleased = false;
  /** The kernel's table drops by the chain `hold`. */
  #isHolding = false;
  /** Calls of `replace`, and how many of them an attempt to send has ended for. */
  #replaced = 0;
  #attempted = 0;
  #waiting: { readonly upTo: number; readonly resolve: () => void }[] = [];

  constructor(options: NftablesTableOptions) {
    this.#options = options;
    this.#ruleset = new Ruleset(options.name);
  }

  /** Replaces a table of this name that an earlier process left. Resolves with the error; '': none. */
  async open(): Promise<string> {
    const { network, name, base, hold } = this.#options;
    const holding = hold === undefined ? '' : `add rule ${name} ${hold} drop\n`;
    const wrong = await network.nft(`add table ${name}\ndelete table ${name}\ntable ${name} {\n${base}\n}\n${holding}`);
    if (wrong === '') this.#isHolding = hold !== undefined;
    return wrong;
  }

  /** Everything that packets have to be checked by has been given to `replace`. */
  release(): void {
    this.#isReleased = true;
    this.#plan();
  }

  /** Undefined: the owner adds nothing any more. */
  replace(owner: string, part: RulesetPart | undefined): void {
    if (part === undefined) this.#parts.delete(owner);
    else this.#parts.set(owner, part);
    this.#refused.delete(owner);
    this.#replaced++;
    if (this.#postponed === undefined) this.#ruleset.replace(owner, part);
    else this.#postponed.add(owner);
    this.#plan();
  }

  /** Resolves once an attempt to send what was replaced so far has ended. */
  flushed(): Promise<void> {
    if (this.#attempted === this.#replaced || this.#stopped) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ upTo: this.#replaced, resolve }));
  }

  /** Whether the kernel has what the owner added last, or what replaces it while it is refused. After `flushed`. */
  has(owner: string): boolean {
    return this.#hasTable && (!this.#refused.has(owner) || this.#substitutes.has(owner));
  }

  /** The table stays: pods that go on need it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    await this.#flushing;
    this.#settle(this.#replaced);
  }

  #plan(): void {
    this.#isDue = true;
    if (this.#isPlanned || this.#flushing !== undefined || this.#stopped) return;
    this.#isPlanned = true;
    this.#options.world.timers.soon(() => {
      this.#isPlanned = false;
      if (this.#stopped) return;
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined;
        if (this.#isDue) this.#plan();
      });
    });
  }

  async #flush(): Promise<void> {
    while (!this.#stopped) {
      this.#isDue = false;
      const [changes, upTo] = [this.#ruleset.changes(), this.#replaced];
      if (changes === undefined && !this.#isRetryDue) {
        this.#settle(upTo);
        return this.#letThrough();
      }
      if (changes === undefined) await this.#retry();
      else if (!this.#hasTable || !(await this.#send(changes))) await this.#rebuild();
      this.#settle(upTo);
    }
  }

  #settle(upTo: number): void {
    this.#attempted = upTo;
    const due = this.#waiting.filter((waiting) => waiting.upTo <= upTo);
    this.#waiting = this.#waiting.filter((waiting) => waiting.upTo > upTo);
    for (const { resolve } of due) resolve();
  }

  /** A part that restricts is missing, and what would replace it too. */
  get #lacksSubstitute(): boolean {
    return [...this.#refused].some(([owner, { ifRefused }]) => ifRefused !== undefined && !this.#substitutes.has(owner));
  }

  async #letThrough(): Promise<void> {
    const { network, name, hold = '' } = this.#options;
    if (!this.#isReleased || !this.#isHolding || !this.#hasTable || this.#lacksSubstitute) return;
    if ((await network.nft(`flush chain ${name} ${hold}\n`)) === '') this.#isHolding = false;
    else this.#retryLater();
  }

  async #send({ commands, onApplied }: RulesetChanges): Promise<boolean> {
    const { network, world, name } = this.#options;
    const wrong = await network.nft(commands);
    if (wrong === '') {
      onApplied();
      for (const owner of this.#substitutes.keys()) if (!this.#refused.has(owner)) this.#substitutes.delete(owner);
    } else world.log.warn('a transaction of nftables failed: the table is made anew', { table: name, error: wrong });
    return wrong === '';
  }

  /** Another program may have changed or removed the table, or one part is bad: it is found by halving. */
  async #rebuild(): Promise<void> {
    const { world, name } = this.#options;
    const wrong = await this.open();
    this.#hasTable = wrong === '';
    this.#ruleset = new Ruleset(name);
    this.#substitutes.clear();
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
    for (const [owner, { ifRefused }] of this.#refused) if (ifRefused !== undefined && !this.#substitutes.has(owner)) await this.#substitute(owner, ifRefused);
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
      for (const [owner, part] of parts) {
        if (this.#refused.get(owner) === part) this.#refused.delete(owner);
        this.#substitutes.delete(owner);
      }
      return;
    }
    for (const owner of owners) ruleset.replace(owner, this.#substitutes.get(owner));
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

  /** The ruleset has no changes. */
  async #substitute(owner: string, part: RulesetPart): Promise<void> {
    const ruleset = this.#ruleset;
    ruleset.replace(owner, part);
    const changes = ruleset.changes();
    const wrong = changes === undefined ? '' : await this.#options.network.nft(changes.commands);
    if (wrong === '') {
      changes?.onApplied();
      this.#substitutes.set(owner, part);
      return;
    }
    ruleset.replace(owner, undefined);
    ruleset.changes();
  }
}
