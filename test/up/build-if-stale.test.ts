import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root } from '../moor-process.ts';

/** A project with the scripts of this one and programs of one line each. */
let project = '';
const file = (name: string): string => path.join(project, name);
const write = (name: string, text: string): void => writeFileSync(file(name), text);

beforeEach(() => {
  project = mkdtempSync(path.join(tmpdir(), 'mooring-stale-'));
  for (const folder of ['scripts', 'src/commands', 'src/client', 'src/cluster', 'src/testing', 'src/dashboard/page'])
    mkdirSync(file(folder), { recursive: true });
  for (const script of ['bundle', 'build-digest', 'build-if-stale']) cpSync(path.join(root, `scripts/${script}.mjs`), file(`scripts/${script}.mjs`));
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json']) write(name, '{"type": "module"}');
  for (const program of ['kubectl-why', 'container-shim', 'fuzz-worker']) write(`src/commands/${program}.ts`, 'export {};\n');
  for (const library of ['src/cluster/library.ts', 'src/testing/index.ts']) write(library, 'export {};\n');
  for (const [name, text] of Object.entries({ 'main.tsx': 'export {};\n', 'tsconfig.json': '{}', 'style.css': '', 'index.html': 'STYLE SCRIPT' }))
    write(`src/dashboard/page/${name}`, text);
  write('src/commands/moor.ts', "import { text } from '../client/text.ts';\nconst shown: string = text;\nconsole.log(shown);\n");
  write('src/client/text.ts', "export const text = 'first';\n");
  symlinkSync(path.join(root, 'node_modules'), file('node_modules'));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

/** What `npm start` does first, from another folder: whether it built, and what the program then says. */
function start() {
  const build = spawnSync(process.execPath, [file('scripts/build-if-stale.mjs')], { cwd: '/', encoding: 'utf8' });
  const moor = spawnSync(process.execPath, [file('dist/main/moor.js')], { encoding: 'utf8' });
  return { built: build.stderr.includes('Building'), failed: build.status !== 0, says: moor.stdout.trim() };
}

test('a start bundles what changed since the last one, and nothing else', () => {
  expect(start()).toEqual({ built: true, failed: false, says: 'first' });
  expect(start()).toEqual({ built: false, failed: false, says: 'first' });

  write('src/client/text.ts', "export const text = 'second';\n");
  expect(start()).toEqual({ built: true, failed: false, says: 'second' });

  write('src/client/text.test.ts', 'a test');
  write('src/client/README.md', 'a text');
  expect(start()).toMatchObject({ built: false });

  write('package-lock.json', '{"packages": {}}');
  expect(start()).toMatchObject({ built: true });
});

test('packages that are missing are named, with the remedy', () => {
  write(
    'package-lock.json',
    '{"packages": {"": {}, "node_modules/no-such-package": {"version": "1.0.0"}, "node_modules/other-platform": {"version": "1.0.0", "optional": true}}}',
  );
  const { status, stderr } = spawnSync(process.execPath, [file('scripts/build-if-stale.mjs')], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'Packages are missing, or of another version: no-such-package. Run "npm ci" first.\n' });
});

test('a file that was replaced by an older one, or removed, is noticed', () => {
  start();
  write('src/client/text.ts', "export const text = 'older';\n");
  utimesSync(file('src/client/text.ts'), 1_000_000, 1_000_000);
  expect(start()).toEqual({ built: true, failed: false, says: 'older' });

  rmSync(file('src/commands/fuzz-worker.ts'));
  expect(start()).toMatchObject({ built: true, failed: true });
});

test('a failed build is tried again', () => {
  start();
  write('src/client/text.ts', 'export const = ;\n');
  expect(start()).toMatchObject({ built: true, failed: true });
  expect(start()).toMatchObject({ built: true, failed: true });
  write('src/client/text.ts', "export const text = 'repaired';\n");
  expect(start()).toEqual({ built: true, failed: false, says: 'repaired' });
});

test('a program that runs meanwhile keeps the parts that it has not loaded yet', async () => {
  write('src/commands/moor.ts', "console.log('runs');\nprocess.stdin.once('data', async () => console.log((await import('../client/text.ts')).text));\n");
  expect(spawnSync(process.execPath, [file('scripts/build-if-stale.mjs')]).status).toBe(0);
  const running = spawn(process.execPath, ['dist/main/moor.js'], { cwd: project, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(running, 'exit');
  const said = createInterface(running.stdout)[Symbol.asyncIterator]();
  expect(await said.next()).toMatchObject({ value: 'runs' });
  const chunks = () => readdirSync(file('dist/moor'));
  const before = chunks();
  write('src/client/text.ts', "export const text = 'second';\n");
  expect(spawnSync(process.execPath, [file('scripts/build-if-stale.mjs')]).status).toBe(0);
  expect(chunks().length).toBeGreaterThan(before.length);
  running.stdin.end('now');
  expect(await said.next()).toMatchObject({ value: 'first' });
  expect(await ended).toEqual([0, null]);

  // Nothing runs any more.
  write('src/client/text.ts', "export const text = 'third';\n");
  expect(spawnSync(process.execPath, [file('scripts/build-if-stale.mjs')]).status).toBe(0);
  expect(chunks()).toHaveLength(before.length);
});

test('programs that are gone are built again', () => {
  start();
  rmSync(file('dist/moor'), { recursive: true, force: true });
  rmSync(file('dist/main'), { recursive: true, force: true });
  expect(start()).toEqual({ built: true, failed: false, says: 'first' });
});
