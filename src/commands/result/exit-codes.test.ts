import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { allCommands } from '../all-commands.ts';
import { commandsIn, runProgram } from '../command.ts';
import { exitCodes, exitCodeTable, meaningsOf } from './exit-codes.ts';

const commandsFolder = path.join(import.meta.dirname, '..');
const documented = readFileSync(path.join(commandsFolder, '../../docs/COMMANDS.md'), 'utf8');

/** The rows of the table, which has one column for each code. */
const rows = Array.from(documented.matchAll(/^\| `moor ([^`]+)` \|(.*)\|$/gm), ([, name = '', cells = '']) => ({
  name,
  meanings: cells.split(' | ').flatMap((cell, code) => (cell.trim() === '' ? [] : [[code, cell.trim()]])),
}));

describe('exit codes', () => {
  test('every command has a row in the table, and the documents have the same', async () => {
    const names = (await commandsIn(allCommands)).map(([name]) => name).sort();
    expect(Object.keys(exitCodeTable).sort()).toEqual(names);
    expect(rows).toEqual(Object.keys(exitCodeTable).map((name) => ({ name, meanings: meaningsOf(name) })));
  });

  test('commands end with codes of the table, not with numbers', () => {
    const files = readdirSync(commandsFolder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
    expect(files).toContain('why.ts');
    const withNumbers = files.filter((file) =>
      /return (.*[?:] )?\d+;|return .*\? \d : |process\.exit(Code = |\()\d/.test(readFileSync(path.join(commandsFolder, file), 'utf8')),
    );
    expect(withNumbers).toEqual([]);
  });

  test('the help of a command shows its row', async () => {
    let help = '';
    const out = (text: string): void => void (help += text);
    const code = await runProgram({ commands: allCommands, version: '0', out, err: () => undefined }, ['status', '--help']);
    expect(code).toBe(exitCodes.success);
    expect(help).toContain('Exit codes\n  0  it runs\n  1  there is no such cluster\n  2  wrong command line\n  3  it does not run\n');
  });
});
