import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Ruleset, type RulesetPart } from './ruleset.ts';

const part = (
  chains: Record<string, readonly string[]>,
  elements: Record<string, Record<string, string>> = {},
  sets: Record<string, string> = {},
): RulesetPart => ({
  chains: new Map(Object.entries(chains)),
  sets: new Map(Object.entries(sets)),
  elements: new Map(Object.entries(elements).map(([set, keys]) => [set, new Map(Object.entries(keys))])),
});

const send = (ruleset: Ruleset): readonly string[] => {
  const changes = ruleset.changes();
  changes?.onApplied();
  return (changes?.commands ?? '').split('\n').filter((line) => line !== '');
};

test('only what changed is sent, and what two owners share stays until both are gone', () => {
  const ruleset = new Ruleset('ip t');
  ruleset.replace('a', part({ 'service-a': ['dnat to 10.0.0.1:80'] }, { ips: { '10.96.0.1': 'goto service-a' }, hairpin: { '10.0.0.1': '' } }));
  expect(send(ruleset)).toEqual([
    'add chain ip t service-a',
    'add rule ip t service-a dnat to 10.0.0.1:80',
    'add element ip t ips { 10.96.0.1 : goto service-a }',
    'add element ip t hairpin { 10.0.0.1 }',
  ]);
  ruleset.replace('b', part({ 'service-b': ['dnat to 10.0.0.1:81'] }, { ips: { '10.96.0.2': 'goto service-b' }, hairpin: { '10.0.0.1': '' } }));
  expect(send(ruleset)).toEqual([
    'add chain ip t service-b',
    'add rule ip t service-b dnat to 10.0.0.1:81',
    'add element ip t ips { 10.96.0.2 : goto service-b }',
  ]);
  ruleset.replace('a', part({ 'service-a': ['dnat to 10.0.0.2:80'] }, { ips: { '10.96.0.1': 'goto service-a' }, hairpin: { '10.0.0.2': '' } }));
  expect(send(ruleset)).toEqual(['flush chain ip t service-a', 'add rule ip t service-a dnat to 10.0.0.2:80', 'add element ip t hairpin { 10.0.0.2 }']);
  ruleset.replace('b', undefined);
  expect(send(ruleset)).toEqual([
    'flush chain ip t service-b',
    'delete element ip t ips { 10.96.0.2 }',
    'delete element ip t hairpin { 10.0.0.1 }',
    'delete chain ip t service-b',
  ]);
  expect(send(ruleset)).toEqual([]);
});

test('a set of one owner is deleted with its elements', () => {
  const ruleset = new Ruleset('ip t');
  ruleset.replace('p', part({}, { peers: { '10.0.0.1': '' } }, { peers: 'type ipv4_addr;' }));
  expect(send(ruleset)).toEqual(['add set ip t peers { type ipv4_addr; }', 'add element ip t peers { 10.0.0.1 }']);
  ruleset.replace('p', undefined);
  expect(send(ruleset)).toEqual(['delete set ip t peers']);
});

test('of two owners that want the same element, the first by name has it', () => {
  const ruleset = new Ruleset('ip t');
  ruleset.replace('b', part({}, { ips: { x: 'goto b' } }));
  ruleset.replace('a', part({}, { ips: { x: 'goto a' } }));
  expect(send(ruleset)).toEqual(['add element ip t ips { x : goto a }']);
  ruleset.replace('a', undefined);
  expect(send(ruleset)).toEqual(['delete element ip t ips { x }', 'add element ip t ips { x : goto b }']);
});

/** The kernel's table, as far as these commands need it. It refuses what the kernel would refuse. */
class KernelTable {
  readonly chains = new Map<string, string[]>();
  readonly elements = new Map<string, Map<string, string>>([['ips', new Map()]]);

  apply(commands: readonly string[]): void {
    for (const command of commands) {
      const [verb = '', what = '', , , name = '', ...rest] = command.split(' ');
      const text = rest.join(' ');
      if (what === 'chain' && verb === 'add') this.chains.set(name, []);
      else if (what === 'chain' && verb === 'flush') this.#chain(name).length = 0;
      else if (what === 'chain') this.#deleteChain(name);
      else if (what === 'rule') this.#chain(name).push(text);
      else for (const each of text.slice(2, -2).split(', ')) this.#element(verb, name, each.split(' : '));
    }
  }

  #chain(name: string): string[] {
    const chain = this.chains.get(name);
    if (chain === undefined) throw new Error(`no chain ${name}`);
    return chain;
  }

  #deleteChain(name: string): void {
    const isUsed = [...this.elements.values()].some((set) => [...set.values()].includes(`goto ${name}`));
    if (isUsed || this.#chain(name).length > 0) throw new Error(`${name} is in use`);
    this.chains.delete(name);
  }

  #element(verb: string, set: string, [key = '', value = '']: readonly string[]): void {
    const elements = this.elements.get(set);
    if (elements === undefined) throw new Error(`no set ${set}`);
    if (verb === 'delete' ? !elements.delete(key) : elements.has(key)) throw new Error(`${verb} ${key}`);
    if (verb === 'delete') return;
    this.#chain(value.slice('goto '.length));
    elements.set(key, value);
  }
}

test('any sequence of changes, sent in any portions, ends in the table of the last parts', () => {
  const owner = fc.constantFrom('a', 'b', 'c');
  const content = fc.option(
    fc.record({ rules: fc.array(fc.constantFrom('r1', 'r2'), { maxLength: 2 }), keys: fc.uniqueArray(fc.constantFrom('k1', 'k2', 'k3')) }),
    {
      nil: undefined,
    },
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(owner, content, fc.boolean())), (steps) => {
      const [ruleset, kernel] = [new Ruleset('ip t'), new KernelTable()];
      const last = new Map<string, { readonly rules: readonly string[]; readonly keys: readonly string[] }>();
      for (const [name, made, sends] of steps) {
        if (made === undefined) last.delete(name);
        else last.set(name, made);
        ruleset.replace(
          name,
          made === undefined ? undefined : part({ [name]: made.rules }, { ips: Object.fromEntries(made.keys.map((key) => [key, `goto ${name}`])) }),
        );
        if (sends) kernel.apply(send(ruleset));
      }
      kernel.apply(send(ruleset));
      expect(kernel.chains).toEqual(new Map([...last].map(([name, { rules }]) => [name, [...rules]])));
      const expected = new Map<string, string>();
      for (const [name, { keys }] of [...last].sort(([a], [b]) => (a < b ? -1 : 1)))
        for (const key of keys) if (!expected.has(key)) expected.set(key, `goto ${name}`);
      expect(kernel.elements.get('ips')).toEqual(expected);
    }),
  );
});
