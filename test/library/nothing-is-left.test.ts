import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../moor-process.ts';

interface Report {
  readonly before: unknown;
  readonly running: unknown;
  readonly names: readonly string[];
}

test('a hundred clusters in one process are independent, keep nothing open and leave nothing', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mooring-library-'));
  try {
    const program = path.join(root, 'test/library/hundred-clusters.mjs');
    // It ends by itself, although half of its clusters run: a timer or a socket would keep it.
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: root, env: { ...process.env, TMPDIR: directory } });
    const { before, running, names } = JSON.parse(stdout) as Report;
    expect(running).toEqual(before);
    expect(names).toEqual(Array.from({ length: 100 }, (_, i) => `kube-root-ca.crt of-${i}`));
    expect(readdirSync(directory)).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
