import { expect, test } from 'vitest';
import { type SimulatedWorld, simulate } from '../../../sim/world/world.ts';
import type { HostNetwork } from '../../../world/host-network.ts';
import type { RulesetPart } from './ruleset.ts';
import { NftablesTable } from './table.ts';

const chain = (name: string, rule: string): RulesetPart => ({ chains: new Map([[name, [rule]]]) });

/** A kernel with one table of chains. It takes a second for each transaction. */
class Kernel {
  readonly chains = new Map<string, string[]>();
  made = 0;
  /** Undefined: the transaction is carried out. */
  refuses: (commands: string) => string | undefined = () => undefined;
  readonly network: HostNetwork;

  constructor(world: SimulatedWorld) {
    this.network = {
      nft: async (commands) => {
        await world.sleep(1000);
        const wrong = this.refuses(commands);
        if (wrong === undefined) for (const command of commands.split('\n')) this.#run(command);
        return wrong ?? '';
      },
      ip: () => Promise.resolve(''),
      bridge: () => Promise.resolve(''),
      conntrack: () => Promise.resolve(''),
      sysctl: () => Promise.resolve(undefined),
      setSysctl: () => Promise.resolve(''),
    };
  }

  get rules(): Record<string, readonly string[]> {
    return Object.fromEntries(this.chains);
  }

  #run(command: string): void {
    const [verb = '', what = '', , , name = '', ...rule] = command.split(' ');
    if (verb === 'delete' && what === 'table') {
      this.chains.clear();
      this.made++;
    } else if (what === 'chain' && verb === 'delete') this.chains.delete(name);
    else if (what === 'chain' && (verb === 'flush' || !this.chains.has(name))) this.chains.set(name, []);
    else if (what === 'rule') this.chains.get(name)?.push(rule.join(' '));
  }
}

const refused: string[] = [];
function tableOf(world: SimulatedWorld, hold?: string) {
  const kernel = new Kernel(world);
  refused.length = 0;
  const onRefused = (owner: string): void => void refused.push(owner);
  const table = new NftablesTable({ world, network: kernel.network, name: 'ip t', base: '', ...(hold === undefined ? {} : { hold }), onRefused });
  return { kernel, table };
}

test('what is replaced while a bad part is looked for is in the table afterwards', () =>
  simulate(1, async (world) => {
    const { kernel, table } = tableOf(world);
    kernel.refuses = (commands) => {
      if (!commands.includes('bad')) return undefined;
      // The part of `a` is in the table already, or is to be tried later.
      if (!commands.includes(' a ')) table.replace('a', chain('a', 'new'));
      return 'syntax error';
    };
    for (const [owner, rule] of [
      ['a', 'old'],
      ['b', 'good'],
      ['c', 'bad'],
      ['d', 'good'],
    ] as const)
      table.replace(owner, chain(owner, rule));
    await table.flushed();
    // What was replaced meanwhile.
    await table.flushed();
    expect(kernel.rules).toEqual({ a: ['new'], b: ['good'], d: ['good'] });
    expect(refused).toEqual(['c']);
    await table.stop();
  }));

test('a part that replaces one that is being refused is tried', () =>
  simulate(1, async (world) => {
    const { kernel, table } = tableOf(world);
    kernel.refuses = (commands) => {
      if (!commands.includes('bad')) return undefined;
      if (kernel.made > 0) table.replace('a', chain('a', 'good'));
      return 'syntax error';
    };
    table.replace('a', chain('a', 'bad'));
    await table.flushed();
    await table.flushed();
    expect(kernel.rules).toEqual({ a: ['good'] });
    expect(refused).toEqual([]);
    await table.stop();
  }));

test('a refused part is tried again, and the table stays as it is meanwhile', () =>
  simulate(1, async (world) => {
    const { kernel, table } = tableOf(world);
    kernel.refuses = (commands) => (commands.includes('later') ? 'nft was killed' : undefined);
    table.replace('a', chain('a', 'good'));
    table.replace('b', chain('b', 'later'));
    await table.flushed();
    expect(kernel.rules).toEqual({ a: ['good'] });
    await world.sleep(60_000);
    expect([kernel.made, refused]).toEqual([1, ['b']]);
    kernel.refuses = () => undefined;
    await world.sleep(10_000);
    expect(kernel.rules).toEqual({ a: ['good'], b: ['later'] });
    table.replace('b', undefined);
    await table.flushed();
    expect([kernel.rules, kernel.made]).toEqual([{ a: ['good'] }, 1]);
    await table.stop();
  }));

test('a table that cannot be made is made later, once', () =>
  simulate(1, async (world) => {
    const { kernel, table } = tableOf(world);
    kernel.refuses = () => 'no memory';
    table.replace('a', chain('a', 'one'));
    await table.flushed();
    table.replace('b', chain('b', 'two'));
    await table.flushed();
    kernel.refuses = () => undefined;
    await world.sleep(60_000);
    expect([kernel.rules, kernel.made]).toEqual([{ a: ['one'], b: ['two'] }, 1]);
    await table.stop();
  }));

test('while the kernel refuses a part, the table has what the part names for that', () =>
  simulate(1, async (world) => {
    const { kernel, table } = tableOf(world);
    const isBad = (commands: string) => (commands.includes('bad') ? 'syntax error' : undefined);
    kernel.refuses = isBad;
    table.replace('a', { ...chain('a', 'bad'), ifRefused: chain('a', 'drop') });
    table.replace('b', chain('b', 'good'));
    await table.flushed();
    expect([kernel.rules, refused, table.has('a'), table.has('b')]).toEqual([{ a: ['drop'], b: ['good'] }, ['a'], true, true]);
    // The table is made anew for another part, and tried again with the first.
    table.replace('c', chain('c', 'bad'));
    await table.flushed();
    await world.sleep(60_000);
    expect([kernel.rules, refused, table.has('c')]).toEqual([{ a: ['drop'], b: ['good'] }, ['a', 'c'], false]);
    kernel.refuses = () => undefined;
    await world.sleep(10_000);
    expect(kernel.rules).toEqual({ a: ['bad'], b: ['good'], c: ['bad'] });
    kernel.refuses = isBad;
    table.replace('a', { ...chain('a', 'bad again'), ifRefused: chain('a', 'drop') });
    await table.flushed();
    expect(kernel.rules).toMatchObject({ a: ['drop'] });
    table.replace('a', undefined);
    await table.flushed();
    expect(Object.keys(kernel.rules)).toEqual(['b']);
    await table.stop();
  }));

test('new connections are held until the first release, and whenever the table is made anew', () =>
  simulate(1, async (world) => {
    const { kernel, table } = tableOf(world, 'hold');
    const held: boolean[] = [];
    kernel.chains.set('hold', []);
    expect(await table.open()).toBe('');
    kernel.chains.set('hold', ['drop']);
    table.replace('a', chain('a', 'good'));
    await table.flushed();
    expect(kernel.rules).toEqual({ hold: ['drop'], a: ['good'] });
    table.release();
    await world.sleep(5000);
    expect(kernel.rules).toEqual({ hold: [], a: ['good'] });
    kernel.refuses = (commands) => {
      if (kernel.made > 1) held.push(commands.includes('hold'));
      return commands.includes('bad') ? 'syntax error' : undefined;
    };
    table.replace('b', chain('b', 'bad'));
    await table.flushed();
    await world.sleep(3000);
    // The parts are tried while it drops; the last transaction lets through again.
    expect([held.at(0), held.at(-1), held.length > 2]).toEqual([false, true, true]);
    await table.stop();
  }));
