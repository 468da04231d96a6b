import { describe, expect, test } from 'vitest';
import { type Command, type FlagValues, runProgram } from './command.ts';

function program() {
  const seen: FlagValues[] = [];
  let out = '';
  let err = '';
  const up: Command = {
    name: 'up',
    summary: 'start',
    about: 'Starts.',
    flags: [
      { name: 'store', value: 'KIND', about: 'where', oneOf: ['memory', 'embedded'], default: 'embedded' },
      { name: 'bare', about: 'nothing else' },
    ],
    examples: [{ line: 'moor up --bare', about: 'just the API' }],
    run: (flags) => {
      seen.push(flags);
      return Promise.resolve(0);
    },
  };
  const ask: Command = {
    ...up,
    name: 'ask',
    arguments: { usage: 'KIND/NAME', about: 'what is asked about', least: 1, most: 2 },
    flags: [
      { name: 'namespace', short: 'n', value: 'NAMESPACE', about: 'where' },
      { name: 'output', short: 'o', value: 'FORMAT', about: 'how' },
    ],
  };
  const run = (...args: string[]) =>
    runProgram(
      {
        commands: [up, ask],
        version: '1.2.3',
        out: (t) => {
          out += t;
        },
        err: (t) => {
          err += t;
        },
      },
      args,
    );
  return { run, seen, out: () => out, err: () => err };
}

describe('the command line', () => {
  test('passes flags to the command', async () => {
    const p = program();
    expect(await p.run('up', '--store', 'memory', '--bare')).toBe(0);
    expect(p.seen[0]?.text('store')).toBe('memory');
    expect(p.seen[0]?.on('bare')).toBe(true);
  });

  test('takes --flag=value, and the last of two', async () => {
    const p = program();
    await p.run('up', '--store=memory', '--store=embedded', '--bare=false');
    expect(p.seen[0]?.text('store')).toBe('embedded');
    expect(p.seen[0]?.on('bare')).toBe(false);
  });

  test.each([
    [['up', '--stor', 'memory'], 'there is no flag --stor; did you mean --store?'],
    [['up', '--store', 'paper'], '--store is one of memory, embedded, not "paper"'],
    [['up', '--store'], '--store wants a value: --store KIND'],
    [['up', '--bare=perhaps'], '--bare is a switch'],
    [['up', 'stray'], 'it takes no argument "stray"'],
    [['upp'], 'there is no command "upp"; did you mean "up"?'],
    [['frobnicate'], 'there is no command "frobnicate"\n'],
  ])('refuses %j', async (args, message) => {
    const p = program();
    expect(await p.run(...args)).toBe(2);
    expect(p.err()).toContain(message);
    expect(p.seen).toEqual([]);
  });

  test('takes arguments, and flags of one letter, in any order', async () => {
    const p = program();
    await p.run('ask', '-n', 'shop', 'pvc/data', '--output=json');
    await p.run('ask', 'pvc', 'data', '-nshop', '-o', 'json');
    for (const given of p.seen) expect([given.text('namespace'), given.text('output')]).toEqual(['shop', 'json']);
    expect(p.seen.map((given) => given.arguments)).toEqual([['pvc/data'], ['pvc', 'data']]);
  });

  test.each([
    [['ask'], 'it wants KIND/NAME: what is asked about'],
    [['ask', 'pvc', 'data', 'more'], 'it takes no further argument "more"'],
    [['ask', 'pvc/data', '-x'], 'there is no flag -x'],
    [['ask', 'pvc/data', '-n'], '--namespace wants a value'],
  ])('refuses %j', async (args, message) => {
    const p = program();
    expect(await p.run(...args)).toBe(2);
    expect(p.err()).toContain(message);
    expect(p.seen).toEqual([]);
  });

  test('shows arguments and flags of one letter in the help', async () => {
    const p = program();
    await p.run('ask', '--help');
    expect(p.out()).toContain('  moor ask KIND/NAME [flags]\n\nKIND/NAME: what is asked about\n');
    expect(p.out()).toContain('-n, --namespace NAMESPACE  where');
  });

  test('explains itself', async () => {
    const p = program();
    expect(await p.run('up', '--help')).toBe(0);
    expect(p.out()).toContain('--store KIND  where (otherwise: embedded)');
    expect(p.out()).toContain('moor up --bare');
    expect(await p.run()).toBe(0);
    expect(p.out()).toContain('Commands\n  up   start');
  });
});
