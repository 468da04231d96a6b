import { describe, expect, test } from 'vitest';
import { type Command, type CommandEntry, type FlagValues, runProgram } from './command.ts';

function program() {
  const runs: FlagValues[] = [];
  let out = '';
  let err = '';
  const up: Command = {
    about: 'Starts.',
    flags: [
      { name: 'store', value: 'KIND', about: 'where', oneOf: ['memory', 'embedded'], default: 'embedded' },
      { name: 'bare', about: 'nothing else' },
    ],
    examples: [{ line: 'moor up --bare', about: 'just the API' }],
    run: (flags) => {
      runs.push(flags);
      return Promise.resolve(0);
    },
  };
  const ask: Command = {
    ...up,
    arguments: { usage: 'KIND/NAME', about: 'what is asked about', least: 1, most: 2 },
    flags: [
      { name: 'namespace', short: 'n', value: 'NAMESPACE', about: 'where' },
      { name: 'output', short: 'o', value: 'FORMAT', about: 'how' },
    ],
  };
  const commands: readonly CommandEntry[] = [
    { name: 'up', summary: 'start', aliases: ['begin'], load: () => Promise.resolve(up) },
    { name: 'ask', summary: 'ask', elsewhere: ['explain'], load: () => Promise.resolve(ask) },
    {
      name: 'box',
      summary: 'commands about boxes',
      load: () => Promise.resolve({ about: 'moor box: boxes.', commands: [{ name: 'open', summary: 'open one', load: () => Promise.resolve(ask) }] }),
    },
  ];
  const run = (...args: string[]) =>
    runProgram(
      {
        commands,
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
  return { run, runs, out: () => out, err: () => err };
}

describe('the command line', () => {
  test('passes flags to the command', async () => {
    const p = program();
    expect(await p.run('up', '--store', 'memory', '--bare')).toBe(0);
    expect(p.runs[0]?.text('store')).toBe('memory');
    expect(p.runs[0]?.on('bare')).toBe(true);
  });

  test('accepts --flag=value, and the last of two values holds', async () => {
    const p = program();
    await p.run('up', '--store=memory', '--store=embedded', '--bare=false');
    expect(p.runs[0]?.text('store')).toBe('embedded');
    expect(p.runs[0]?.on('bare')).toBe(false);
  });

  test.each([
    [['up', '--stor', 'memory'], 'there is no flag --stor; did you mean --store?'],
    [['up', '--store', 'paper'], '--store must be one of memory, embedded, not "paper"'],
    [['up', '--store'], '--store needs a value: --store KIND'],
    [['up', '--bare=perhaps'], '--bare takes no value but =true or =false'],
    [['up', 'stray'], 'unexpected argument "stray"'],
    [['upp'], 'there is no command "upp"; did you mean "up"?'],
    [['frobnicate'], 'there is no command "frobnicate"\n'],
    [['explain', 'pvc/data'], 'there is no command "explain"; did you mean "ask"?'],
    [['help', 'frobnicate'], 'there is no command "frobnicate"\n'],
    [['help', 'box', 'close'], 'moor box: there is no command "close"\n'],
  ])('refuses %j', async (args, message) => {
    const p = program();
    expect(await p.run(...args)).toBe(2);
    expect(p.err()).toContain(message);
    expect(p.runs).toEqual([]);
  });

  test('accepts arguments and one-letter flags in any order', async () => {
    const p = program();
    await p.run('ask', '-n', 'shop', 'pvc/data', '--output=json');
    await p.run('ask', 'pvc', 'data', '-nshop', '-o', 'json');
    for (const given of p.runs) expect([given.text('namespace'), given.text('output')]).toEqual(['shop', 'json']);
    expect(p.runs.map((given) => given.arguments)).toEqual([['pvc/data'], ['pvc', 'data']]);
  });

  test.each([
    [['ask'], 'KIND/NAME is missing: what is asked about'],
    [['ask', 'pvc', 'data', 'more'], 'unexpected argument "more"'],
    [['ask', 'pvc/data', '-x'], 'there is no flag -x'],
    [['ask', 'pvc/data', '-n'], '--namespace needs a value'],
  ])('refuses %j', async (args, message) => {
    const p = program();
    expect(await p.run(...args)).toBe(2);
    expect(p.err()).toContain(message);
    expect(p.runs).toEqual([]);
  });

  test('prints arguments and one-letter flags in the help', async () => {
    const p = program();
    await p.run('ask', '--help');
    expect(p.out()).toContain('moor ask KIND/NAME [flags]\n\nKIND/NAME: what is asked about\n');
    expect(p.out()).toContain('-n, --namespace NAMESPACE  where');
  });

  test('an alias runs the command, and the help leaves it out', async () => {
    const p = program();
    expect(await p.run('begin', '--bare')).toBe(0);
    expect(p.runs).toHaveLength(1);
    await p.run('--help');
    expect(p.out()).not.toContain('begin');
  });

  test('prints help', async () => {
    const p = program();
    expect(await p.run('up', '--help')).toBe(0);
    expect(p.out()).toContain('--store KIND  where (default: embedded)');
    expect(p.out()).toContain('moor up --bare');
    expect(await p.run()).toBe(0);
    expect(p.out()).toContain('Commands\n  up   start');
  });

  test.each([
    [['help', 'ask'], 'moor ask KIND/NAME [flags]'],
    [['help', 'box'], 'moor box: boxes.'],
    [['help', 'box', 'open'], 'moor box open KIND/NAME [flags]'],
    [['box', 'help', 'open'], 'moor box open KIND/NAME [flags]'],
    [['box', 'open', '--help'], 'moor box open KIND/NAME [flags]'],
  ])('prints help for %j', async (args, beginning) => {
    const p = program();
    expect(await p.run(...args)).toBe(0);
    expect(p.out().startsWith(beginning)).toBe(true);
  });
});
