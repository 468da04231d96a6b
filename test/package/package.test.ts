/** The package as users get it: packed, and installed in an empty folder without install scripts. */
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../moor-process.ts';

const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), 'mooring-package-'));
const megabyte = 2 ** 20;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let packed: Packed;

beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', root, '--ignore-scripts', '--json'], { cwd: folder, maxBuffer: 64 * megabyte });
  const answer = JSON.parse(stdout) as readonly Packed[] | Readonly<Record<string, Packed>>;
  packed = Object.values(answer)[0] as Packed;
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', `./${packed.filename}`], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  test('has the bundles and the types, and keeps its budget', () => {
    const others = packed.files
      .map((file) => file.path)
      .filter((file) => !/^dist\/(main|moor|ui)\/|^dist\/.*\.d\.ts$|^(package\.json|LICENSE|\w+\.md)$/.test(file));
    expect(others).toEqual([]);
    expect(packed.size).toBeLessThan(4 * megabyte);
    expect(packed.unpackedSize).toBeLessThan(16 * megabyte);
  });

  test('npx mooring up starts a cluster, which a signal ends', async () => {
    const args = ['mooring', 'up', '--bare', '--store', 'memory', '--listen', '127.0.0.1:0', '--kubeconfig', path.join(folder, 'kubeconfig')];
    const child = spawn('npx', ['--no-install', ...args], { cwd: folder, env: { ...process.env, XDG_STATE_HOME: folder }, detached: true });
    let output = '';
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes('Mooring is ready')) resolve();
        });
      void ended.then(() => reject(new Error(output)));
    });
    // npx and what it started.
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await ended;
    expect(output).toContain('https://127.0.0.1:');
  });

  test('the example of examples/vitest passes', async () => {
    const example = path.join(folder, 'example');
    cpSync(path.join(root, 'examples/vitest'), example, { recursive: true });
    // Its Vitest is that of this project: what is tried is Mooring.
    mkdirSync(path.join(example, 'node_modules'));
    symlinkSync(path.join(root, 'node_modules/vitest'), path.join(example, 'node_modules/vitest'));
    const { stdout } = await run('node', ['node_modules/vitest/vitest.mjs', 'run', '--root', '.', '--testTimeout', '600000'], {
      cwd: example,
      env: { ...process.env, NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/Tests\s+2 passed/);
  });
});
