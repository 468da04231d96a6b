/** Every command block of the README and of the documents runs, in the order of its page, with the real `moor` and kubectl. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../moor-process.ts';
import { type Block, blocksOf, reasons } from './command-blocks.ts';
import { runPage } from './page-run.ts';
import { isAsShown, withoutChanging } from './shown-output.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(root, file)));
// Not the documents of others, and not how the project was once.
const pages = files.filter((file) => file.endsWith('.md') && !file.startsWith('test/documents/') && file !== 'CHANGELOG.md');
const textOf = (page: string): string => readFileSync(path.join(root, page), 'utf8');
const commandPages = pages.map((page) => ({ page, blocks: blocksOf(page, textOf(page)) })).filter(({ blocks }) => blocks.length > 0);
const runs = (block: Block): boolean => block.kind === 'commands';

test('few blocks are excused', () => {
  const excused = commandPages.flatMap(({ page, blocks }) => blocks.flatMap((block) => (block.kind === 'excused' ? [`${page}: ${block.reason}`] : [])));
  expect(excused).toEqual([
    'CONTRIBUTING.md: the suite itself',
    'README.md: a fresh clone',
    'docs/CLOUD.md: other programs',
    'docs/CONFORMANCE.md: other programs',
    'docs/DASHBOARD.md: other programs',
    'docs/HIGH-AVAILABILITY.md: other programs',
    'docs/PEERS.md: other programs',
    'docs/PEERS.md: other programs',
  ]);
});

test.each(commandPages.filter(({ blocks }) => blocks.some(runs)))('$page', async ({ page, blocks }) => {
  const run = await runPage(page, blocks);
  expect(run.code, run.problem).toBe(0);
  for (const block of blocks)
    if (block.kind === 'commands')
      for (const command of block.commands)
        if (command.shown !== undefined && !isAsShown(command.shown, run.outputOf(command)))
          expect.soft(withoutChanging(run.outputOf(command)), `${page}:${command.line} shows another output`).toBe(withoutChanging(command.shown.join('\n')));
  expect(run.left).toEqual([]);
});

describe('a page', () => {
  const page = (...lines: string[]) => blocksOf('page.md', lines.join('\n'));

  test('has commands in blocks of a shell, and in others after a prompt', () => {
    const blocks = page(
      '```sh',
      'one \\',
      '  more',
      '# a comment',
      'two',
      '```',
      'text',
      '  ```',
      '  $ three',
      '  …',
      '  its output',
      '  ```',
      '```yaml',
      'a: b',
      '```',
    );
    expect(blocks).toEqual([
      {
        kind: 'commands',
        line: 1,
        commands: [
          { line: 2, text: 'one \\\n  more', keepsRunning: false },
          { line: 5, text: 'two', keepsRunning: false },
        ],
      },
      { kind: 'commands', line: 8, commands: [{ line: 9, text: 'three', shown: ['…', 'its output'], keepsRunning: false }] },
    ]);
  });

  test.each(reasons)('excuses a block: %s', (reason) => {
    expect(page(`<!-- test: not run, ${reason} -->`, '', '```sh', 'npm ci', '```')).toMatchObject([{ kind: 'excused', reason }]);
  });

  test.each([
    ['an unknown reason', ['<!-- test: not run, too long -->', '```sh', 'npm ci', '```'], 'page.md:2: "not run, too long" is none of'],
    ['a comment that no block follows', ['<!-- test: not run, a fresh clone -->', 'text', '```sh', 'npm ci', '```'], 'page.md:1: a comment'],
    ['a comment before no commands', ['<!-- test: not run, a fresh clone -->', '```yaml', 'a: b', '```'], 'page.md:2: "not run'],
    ['a command in the foreground', ['```sh', 'moor up --runtime hollow', '```'], 'page.md:1: "moor up --runtime hollow" stays in the foreground'],
    ['a block without an end', ['```sh', 'npm ci'], 'has no end'],
    ['a block without commands', ['```sh', '```'], 'without a command'],
  ])('is refused for %s', (_, lines, message) => {
    expect(() => page(...lines)).toThrow(message);
  });

  test('fails with the command that fails, and deletes the cluster that it started', async () => {
    const blocks = page(
      '```sh',
      'moor up --detach --runtime hollow',
      'moor why pvc/none --kubeconfig "$(moor kubeconfig --path)" && true',
      'echo never',
      '```',
    );
    const run = await runPage('page.md', blocks);
    expect(run.code).not.toBe(0);
    expect(run.problem).toMatch(/^page\.md:3: exit code \d/);
    expect(run.left).toEqual([]);
  });

  test('fails for another output than the one it shows', () => {
    expect(isAsShown(['…', 'db-0  1/1  2s'], 'NAME\ndb-0   1/1     17s\n')).toBe(true);
    expect(isAsShown(['db-0  1/1  2s'], 'NAME\ndb-0   1/1     17s\n')).toBe(false);
    expect(isAsShown(['…', 'db-0  0/1  2s'], 'NAME\ndb-0   1/1     17s\n')).toBe(false);
  });
});

describe('commands in the text', () => {
  /** Code in a line, and the commands of blocks that are not run. */
  const named = pages.flatMap((page) => [
    ...Array.from(textOf(page).matchAll(/`([^`\n]+)`/g), ([, text = '']) => ({ page, text })),
    ...blocksOf(page, textOf(page)).flatMap((block) => (block.kind === 'excused' ? block.commands.map(({ text }) => ({ page, text })) : [])),
  ]);

  test('npm has each script', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Record<string, string> };
    const missing = named.flatMap(({ page, text }) =>
      Array.from(text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g), ([, script = '']) => script)
        .filter((script) => scripts[script] === undefined)
        .map((script) => `${page}: npm run ${script}`),
    );
    expect(missing).toEqual([]);
  });

  test('programs and tests that are run are there', () => {
    const missing = named.flatMap(({ page, text }) => {
      const [, program = '', rest = ''] = /\b(npx vitest run|npm run bench|node)(( [\w./:-]+)+)/.exec(text) ?? [];
      const paths =
        program === 'npm run bench'
          ? rest
              .trim()
              .split(' ')
              .map((name) => `bench/${name}.mjs`)
          : Array.from(rest.matchAll(/(?:src|test|bench|scripts)\/[\w./-]+/g), String);
      return paths.filter((each) => !files.some((file) => file.startsWith(each))).map((each) => `${page}: ${each}`);
    });
    expect(missing).toEqual([]);
  });

  test('moor has each command and flag', () => {
    const completion = execFileSync(process.execPath, [path.join(root, 'dist/main/moor.js'), 'completion', 'fish'], { encoding: 'utf8' });
    const commands = new Set(Array.from(completion.matchAll(/__fish_use_subcommand -f -a (\S+)/g), ([, name]) => name));
    const flags = new Set(Array.from(completion.matchAll(/seen_subcommand_from (\S+)' -l (\S+)/g), ([, name, flag]) => `${name} --${flag}`));
    expect(commands.size).toBeGreaterThan(10);
    const missing = named.flatMap(({ page, text }) => {
      const [, command, rest = ''] = /^(?:npx )?moor ([a-z][\w-]*)(.*)$/.exec(text) ?? [];
      if (command === undefined) return [];
      if (!commands.has(command)) return [`${page}: moor ${command}`];
      const own = rest.split(' -- ')[0] ?? '';
      return Array.from(own.matchAll(/(?<=[\s[])--([a-z][\w-]*)/g), ([, flag = '']) => flag)
        .filter((flag) => flag !== 'help' && !flags.has(`${command} --${flag}`))
        .map((flag) => `${page}: moor ${command} --${flag}`);
    });
    expect(missing).toEqual([]);
  });
});
