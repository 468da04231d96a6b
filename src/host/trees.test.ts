import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { realDirectories } from './directories.ts';
import { realHostFiles } from './files.ts';

/** Exchanges a directory and a link to the victim as fast as it can. */
const exchange = `
  const { renameSync } = require('node:fs');
  const [, volume] = process.argv;
  process.stdout.write('up');
  for (;;) for (const [from, to] of [['a', 'c'], ['link', 'a'], ['a', 'link'], ['c', 'a']]) try { renameSync(volume + '/' + from, volume + '/' + to); } catch {}`;

describe('a tree that a container changes meanwhile', () => {
  let root = '';
  let attacker: ChildProcess | undefined;
  const at = (name: string) => path.join(root, name);
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'moor-trees-'));
    for (const name of ['victim/below', 'volume/a/below']) mkdirSync(at(name), { recursive: true });
    for (const name of ['victim/file', 'victim/below/file', 'volume/a/file', 'volume/a/below/file']) writeFileSync(at(name), 'x', { mode: 0o600 });
    symlinkSync(at('victim'), at('volume/link'));
  });
  afterEach(() => {
    attacker?.kill('SIGKILL');
    execFileSync('rm', ['-rf', root]);
  });
  const attack = () =>
    new Promise<void>((resolve) => {
      attacker = spawn(process.execPath, ['-e', exchange, at('volume')], { stdio: ['ignore', 'pipe', 'inherit'] });
      attacker.stdout?.once('data', () => resolve());
    });

  test('its owner and mode are changed, and those of no other file', async () => {
    await attack();
    for (let round = 0; round < 100; round++) {
      await realHostFiles.walkTree(at('volume'), async ({ stat, setMode }) => (stat.type === 'link' ? undefined : setMode(stat.mode | 0o070)));
    }
    expect(['file', 'below/file', 'below'].map((name) => statSync(at(`victim/${name}`)).mode & 0o020)).toEqual([0, 0, 0]);
  });

  test('it is removed, and no other file', async () => {
    await attack();
    for (let round = 0; round < 40; round++) {
      await realHostFiles.makeDirectory(at('volume/a/below'), 0o755).catch(() => undefined);
      await realHostFiles.removeTree(at('volume/a')).catch(() => undefined);
    }
    expect(readdirSync(at('victim')).sort()).toEqual(['below', 'file']);
    expect(readdirSync(at('victim/below'))).toEqual(['file']);
  });

  test('names in no encoding are found, counted and removed', async () => {
    const names = [Buffer.from([0xff, 0xfe]), Buffer.from('a\nb'), Buffer.from([0xc3])];
    const inside = (name: Buffer) => Buffer.concat([Buffer.from(`${at('volume/a')}/`), name]);
    mkdirSync(inside(Buffer.from([0xfe])));
    for (const name of names) writeFileSync(inside(name), 'x'.repeat(8192), { mode: 0o600 });
    const seen: number[] = [];
    await realHostFiles.walkTree(at('volume/a'), async ({ stat, setMode }) => {
      seen.push(stat.mode);
      await setMode(stat.mode | 0o070);
    });
    expect(seen).toHaveLength(8);
    for (const name of names) expect(statSync(inside(name)).mode & 0o777).toBe(0o670);
    const { bytes, inodes } = await realHostFiles.treeSize(at('volume/a'));
    expect(inodes).toBe(8);
    expect(bytes).toBeGreaterThanOrEqual(3 * 8192);
    await realHostFiles.removeTree(at('volume/a'));
    expect(readdirSync(at('volume'))).toEqual(['link']);
  });

  test('directories are removed however deep they are nested', async () => {
    const nest = 'chdir($ARGV[0]) or die; for (1..1700) { mkdir "d" or die; open(my $file, ">", "f") or die; chdir "d" or die }';
    execFileSync('perl', ['-e', nest, at('volume/a')]);
    await realHostFiles.removeTree(at('volume/a'));
    expect(readdirSync(at('volume'))).toEqual(['link']);
  });

  test('a volume behind a link is not removed', async () => {
    await expect(realDirectories.remove(at('volume/link/below'))).rejects.toThrow('too many levels of symbolic links');
    expect(existsSync(at('victim/below/file'))).toBe(true);
    await realDirectories.remove(at('volume/link'));
    await realDirectories.remove(at('volume/a'));
    await realDirectories.remove(at('not/there'));
    expect(readdirSync(at('volume'))).toEqual([]);
    expect(readdirSync(at('victim')).sort()).toEqual(['below', 'file']);
  });

  test('directories nested far deeper than a path may be long are walked and removed, with few open files', async () => {
    const levels = 3000;
    const nest = `process.chdir(process.argv[1]); for (let i = 0; i < ${levels}; i++) {
      const name = String(i).padStart(200, 'd'); fs.mkdirSync(name); fs.writeFileSync('file', ''); fs.symlinkSync(process.argv[2], 'link'); process.chdir(name); }`;
    execFileSync(process.execPath, ['-e', nest, at('volume/a/below'), at('victim')]);
    let [entries, most] = [0, 0];
    await realHostFiles.walkTree(at('volume/a'), async ({ stat, setMode }) => {
      if (entries++ % 100 === 0) most = Math.max(most, readdirSync('/proc/self/fd').length);
      if (stat.type !== 'link') await setMode(stat.mode | 0o070);
    });
    expect(entries).toBe(3 * levels + 3);
    expect(most).toBeLessThan(300);
    let changed = 0;
    await realHostFiles.walkTree(at('volume/a'), async ({ stat }) => void (changed += (stat.mode & 0o070) === 0o070 ? 1 : 0));
    expect(changed).toBe(entries);
    await realHostFiles.removeTree(at('volume/a'));
    expect(existsSync(at('volume/a'))).toBe(false);
    expect([statSync(at('victim/file')).mode & 0o777, readdirSync(at('victim'))]).toEqual([0o600, ['below', 'file']]);
  });

  test('a directory that is moved far down while what is in it is visited leads to no other', async () => {
    let deep = at('volume');
    for (let depth = 0; depth < 110; depth++) deep += '/d';
    mkdirSync(path.join(deep, 'last'), { recursive: true });
    writeFileSync(path.join(deep, 'last/file'), 'of the last');
    await realHostFiles.walkTree(at('volume'), async ({ stat, setMode }) => {
      if (stat.type === 'file' && stat.size === 'of the last'.length) renameSync(path.join(deep, 'last'), at('victim/last'));
      if (stat.type !== 'link') await setMode(stat.mode | 0o070);
    });
    expect(existsSync(at('victim/last/file'))).toBe(true);
    expect(statSync(at('victim')).mode & 0o020).toBe(0);
    expect(statSync(at('volume')).mode & 0o020).toBe(0o020);
  });
});
