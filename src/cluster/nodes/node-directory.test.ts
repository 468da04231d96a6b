import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { releaseRoot, separateRoot, separateRootOf } from './node-directory.ts';

describe('a root directory of its own', () => {
  let folder: string;
  const below = (...names: readonly string[]): string => path.join(folder, ...names);

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'mooring-root-'));
    for (const node of ['node-1', 'node-2']) mkdirSync(below(node));
  });

  afterEach(async () => {
    for (const node of ['node-1', 'node-2']) await releaseRoot(below(node));
    rmSync(folder, { recursive: true });
  });

  test('is used again by its node', async () => {
    expect(await separateRoot(below('node-1'), below('root'))).toBe(below('root'));
    mkdirSync(below('root', 'pods', 'uid'), { recursive: true });
    expect(await separateRoot(below('node-1'), below('root'))).toBe(below('root'));
    expect(separateRootOf(below('node-1'))).toBe(below('root'));
  });

  test('with pods of another kubelet is refused, and not recorded', async () => {
    mkdirSync(below('root', 'pods', 'uid'), { recursive: true });
    await expect(separateRoot(below('node-1'), below('root'))).rejects.toThrow('has pods of another kubelet');
    expect(separateRootOf(below('node-1'))).toBe(undefined);
  });

  test('of another node is refused, until that one is gone', async () => {
    await separateRoot(below('node-1'), below('root'));
    await expect(separateRoot(below('node-2'), below('root'))).rejects.toThrow(`has the volumes of the node in ${below('node-1')}`);
    await releaseRoot(below('node-1'));
    rmSync(below('node-1'), { recursive: true });
    expect(await separateRoot(below('node-2'), below('root'))).toBe(below('root'));
  });
});
