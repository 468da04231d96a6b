/** What one owner (a Service, a pod) adds to the table. Chains and sets have names that no other owner uses. */
export interface RulesetPart {
  /** Name → rules. */
  readonly chains?: ReadonlyMap<string, readonly string[]>;
  /** Name → definition: 'type ipv4_addr; flags dynamic,timeout; timeout 3h;'. */
  readonly sets?: ReadonlyMap<string, string>;
  /** Of the table's sets and maps, or of own ones: set → key → value, which is '' in a set. */
  readonly elements?: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** In the table while the kernel refuses the rest. */
  readonly ifRefused?: RulesetPart;
}

/** The commands that lead from what the kernel has to the parts, and what to call once the kernel has taken them. */
export interface RulesetChanges {
  readonly commands: string;
  readonly onApplied: () => void;
}

/** Elements of one command: a line that nft parses quickly. */
const elementsPerCommand = 500;

/**
 * The content of an nftables table, put together of parts, and the commands that lead there from what the kernel has. Only what changed is sent.
 *
 * A worked example. The Services `a` and `b` have the pod 10.0.0.1:
 *
 *     replace('a', part)      → add chain service-a, add element service-ips, add element hairpin { 10.0.0.1 . 10.0.0.1 }
 *     replace('b', part)      → add chain service-b, add element service-ips; the hairpin element is there already
 *     replace('a', undefined) → delete element service-ips, delete chain service-a; the hairpin element stays: it is of `b` too
 *
 * Guarantees
 * - An element that several owners want with different values has that of the first owner by name: the others cannot take it away.
 * - Within one transaction, nothing refers to a chain or a set before it is added or after it is deleted.
 */
export class Ruleset {
  readonly #table: string;
  readonly #parts = new Map<string, RulesetPart>();
  /** Set → key → owner → value. */
  readonly #wanted = new Map<string, Map<string, Map<string, string>>>();
  #applied: Applied = nothingApplied();
  #dirty: Dirty = nothingDirty();

  /** `table`: with its family, 'ip moor-1a2b3c4d'. */
  constructor(table: string) {
    this.#table = table;
  }

  get owners(): Iterable<string> {
    return this.#parts.keys();
  }

  /** Undefined: the owner adds nothing any more. */
  replace(owner: string, part: RulesetPart | undefined): void {
    const before = this.#parts.get(owner);
    if (part === undefined) this.#parts.delete(owner);
    else this.#parts.set(owner, part);
    for (const each of [before, part]) {
      for (const chain of each?.chains?.keys() ?? []) this.#dirty.chains.set(chain, part?.chains?.get(chain));
      for (const set of each?.sets?.keys() ?? []) this.#dirty.sets.set(set, part?.sets?.get(set));
    }
    for (const [set, elements] of before?.elements ?? [])
      for (const key of elements.keys()) if (part?.elements?.get(set)?.has(key) !== true) this.#want({ set, key }, owner, undefined);
    for (const [set, elements] of part?.elements ?? []) for (const [key, value] of elements) this.#want({ set, key }, owner, value);
  }

  #want({ set, key }: { readonly set: string; readonly key: string }, owner: string, value: string | undefined): void {
    const keys = entry(this.#wanted, set, () => new Map<string, Map<string, string>>());
    const owners = entry(keys, key, () => new Map<string, string>());
    if (value === undefined) owners.delete(owner);
    else owners.set(owner, value);
    if (owners.size === 0) keys.delete(key);
    entry(this.#dirty.elements, set, () => new Set<string>()).add(key);
  }

  /** Undefined: nothing changed. */
  changes(): RulesetChanges | undefined {
    const dirty = this.#dirty;
    const { sets, chains, elements } = this.#differences(dirty);
    this.#dirty = nothingDirty();
    const commands = [
      ...sets.added.map(([set, definition]) => `add set ${this.#table} ${set} { ${definition} }`),
      ...chains.added.map(([chain]) => `add chain ${this.#table} ${chain}`),
      ...chains.flushed.map((chain) => `flush chain ${this.#table} ${chain}`),
      ...elements.flatMap(({ set, removed }) => this.#elementCommands('delete', set, removed)),
      ...chains.filled.flatMap(([chain, rules]) => rules.map((rule) => `add rule ${this.#table} ${chain} ${rule}`)),
      ...elements.flatMap(({ set, added }) => this.#elementCommands('add', set, added)),
      ...chains.removed.map((chain) => `delete chain ${this.#table} ${chain}`),
      ...sets.removed.map((set) => `delete set ${this.#table} ${set}`),
    ];
    if (commands.length === 0) return undefined;
    return { commands: `${commands.join('\n')}\n`, onApplied: () => this.#commit({ sets, chains, elements }) };
  }

  #elementCommands(verb: 'add' | 'delete', set: string, elements: readonly (readonly [string, string])[]): readonly string[] {
    const commands: string[] = [];
    for (let from = 0; from < elements.length; from += elementsPerCommand) {
      const texts = elements.slice(from, from + elementsPerCommand).map(([key, value]) => (value === '' || verb === 'delete' ? key : `${key} : ${value}`));
      commands.push(`${verb} element ${this.#table} ${set} { ${texts.join(', ')} }`);
    }
    return commands;
  }

  #differences(dirty: Dirty): Differences {
    const applied = this.#applied;
    const chains = [...dirty.chains].map(([chain, rules]) => ({ chain, rules, known: applied.chains.get(chain) }));
    const changed = chains.flatMap(({ chain, rules, known }) => (rules === undefined || rules.join('\n') === known ? [] : [{ chain, rules, known }]));
    const removed = chains.filter(({ rules, known }) => rules === undefined && known !== undefined).map(({ chain }) => chain);
    const sets = [...dirty.sets].map(([set, definition]) => ({ set, definition, known: applied.sets.get(set) }));
    const removedSets = sets.filter(({ definition, known }) => known !== undefined && definition === undefined).map(({ set }) => set);
    return {
      chains: {
        added: changed.filter(({ known }) => known === undefined).map(({ chain, rules }) => [chain, rules]),
        flushed: [...changed.filter(({ known }) => known !== undefined).map(({ chain }) => chain), ...removed],
        filled: changed.map(({ chain, rules }) => [chain, rules]),
        removed,
      },
      sets: {
        added: sets.flatMap(({ set, definition, known }) => (definition === undefined || known !== undefined ? [] : [[set, definition]])),
        removed: removedSets,
      },
      elements: [...dirty.elements].map(([set, keys]) => this.#elementDifferences(set, keys, removedSets.includes(set))),
    };
  }

  #elementDifferences(set: string, keys: ReadonlySet<string>, isRemoved: boolean): ElementDifferences {
    const [added, removed]: [[string, string][], [string, string][]] = [[], []];
    for (const key of keys) {
      const known = this.#applied.elements.get(set)?.get(key);
      const wanted = this.#valueOf(set, key);
      if (known === wanted) continue;
      // With its set.
      if (known !== undefined && !isRemoved) removed.push([key, known]);
      if (wanted !== undefined) added.push([key, wanted]);
    }
    return { set, added, removed };
  }

  #valueOf(set: string, key: string): string | undefined {
    let first: readonly [string, string] | undefined;
    for (const each of this.#wanted.get(set)?.get(key) ?? []) if (first === undefined || each[0] < first[0]) first = each;
    return first?.[1];
  }

  #commit({ sets, chains, elements }: Differences): void {
    const applied = this.#applied;
    for (const [set, definition] of sets.added) applied.sets.set(set, definition);
    for (const [chain, rules] of chains.filled) applied.chains.set(chain, rules.join('\n'));
    for (const chain of chains.removed) applied.chains.delete(chain);
    for (const { set, added, removed } of elements) {
      const known = entry(applied.elements, set, () => new Map<string, string>());
      for (const [key] of removed) known.delete(key);
      for (const [key, value] of added) known.set(key, value);
    }
    for (const set of sets.removed) {
      applied.sets.delete(set);
      applied.elements.delete(set);
    }
  }
}

interface Applied {
  readonly chains: Map<string, string>;
  readonly sets: Map<string, string>;
  readonly elements: Map<string, Map<string, string>>;
}

/** What differs, or may differ, from what the kernel has. */
interface Dirty {
  readonly chains: Map<string, readonly string[] | undefined>;
  readonly sets: Map<string, string | undefined>;
  readonly elements: Map<string, Set<string>>;
}

interface ElementDifferences {
  readonly set: string;
  readonly added: readonly (readonly [string, string])[];
  readonly removed: readonly (readonly [string, string])[];
}

interface Differences {
  readonly chains: {
    readonly added: readonly (readonly [string, readonly string[]])[];
    readonly flushed: readonly string[];
    readonly filled: readonly (readonly [string, readonly string[]])[];
    readonly removed: readonly string[];
  };
  readonly sets: { readonly added: readonly (readonly [string, string])[]; readonly removed: readonly string[] };
  readonly elements: readonly ElementDifferences[];
}

const nothingApplied = (): Applied => ({ chains: new Map(), sets: new Map(), elements: new Map() });
const nothingDirty = (): Dirty => ({ chains: new Map(), sets: new Map(), elements: new Map() });

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
