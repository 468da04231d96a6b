import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { mountInfoParser, parseMountInfo } from '../../src/host/mount-info.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { realMounts } from '../../src/host/mounts.ts';
import { SimulatedHost } from '../../src/sim/host/simulated-host.ts';
import type { HostFiles, Mounts } from '../../src/world/mounts.ts';
import { describeWithMounts } from './permitted.ts';

interface Host {
  readonly mounts: Mounts;
  readonly files: HostFiles;
  /** An empty directory. */
  readonly root: string;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const code = (expected: string) => expect.objectContaining({ code: expected });

/** The contract of mounts and files, on the real machine and on the simulated one. */
function describeHost(name: string, make: () => Promise<Host>): void {
  describe(name, () => {
    const setUp = async () => {
      const host = await make();
      const at = (relative: string) => path.join(host.root, relative);
      for (const each of ['data', 'target']) await host.files.makeDirectory(at(each), 0o750);
      await host.files.write(at('data/file'), bytes('hello'), 0o640);
      const bind = (source: string, target: string) => host.mounts.mount({ type: 'bind', source: at(source), target: at(target), recursive: false });
      const mountedAt = async () => (await host.mounts.table()).map(({ target }) => target).filter((target) => target.startsWith(`${host.root}/`));
      return { ...host, at, bind, mountedAt };
    };

    test('the size of a tree is that of its files, without the targets of links', async () => {
      const { at, files } = await setUp();
      await files.makeDirectory(at('tree/below'), 0o750);
      const { bytes: empty } = await files.treeSize(at('tree'));
      await files.write(at('tree/below/file'), new Uint8Array(100_000).fill(1), 0o640);
      const { bytes: full } = await files.treeSize(at('tree'));
      expect(full - empty).toBeGreaterThanOrEqual(100_000);
      expect(full - empty).toBeLessThan(150_000);
      await files.makeLink(at('tree/link'), at('tree/below'));
      expect((await files.treeSize(at('tree'))).bytes).toBeLessThan(full + 50_000);
    });

    test('a bind mount is seen at both paths, until it is unmounted', async () => {
      const { files, mounts, at, bind, mountedAt } = await setUp();
      await bind('data', 'target');
      expect(await files.list(at('target'))).toEqual(['file']);
      expect(await mountedAt()).toEqual([at('target')]);
      await files.write(at('target/more'), bytes('x'), 0o600);
      await mounts.unmount(at('target'));
      expect(await files.list(at('data'))).toEqual(['file', 'more']);
      expect(await files.list(at('target'))).toEqual([]);
      await expect(mounts.unmount(at('target'))).rejects.toEqual(code('EINVAL'));
    });

    test('a bind mount can be read-only at one path alone', async () => {
      const { files, mounts, at, bind } = await setUp();
      await bind('data', 'target');
      await mounts.mount({ type: 'options', target: at('target'), options: ['ro'] });
      await expect(files.write(at('target/new'), bytes('x'), 0o600)).rejects.toEqual(code('EROFS'));
      await files.write(at('data/new'), bytes('x'), 0o600);
      const entry = (await mounts.table()).find(({ target }) => target === at('target'));
      expect(entry?.options).toContain('ro');
      await mounts.unmount(at('target'));
    });

    test('a tree with a mount in it is not removed, not even in part', async () => {
      const { files, mounts, at, bind } = await setUp();
      await files.makeDirectory(at('pod/volumes/data'), 0o750);
      await files.write(at('pod/first'), bytes('x'), 0o600);
      await bind('data', 'pod/volumes/data');
      await expect(files.removeTree(at('pod'))).rejects.toEqual(code('EBUSY'));
      await expect(files.removeTree(at('pod/volumes/data'))).rejects.toEqual(code('EBUSY'));
      expect(await files.list(at('pod'))).toEqual(['first', 'volumes']);
      expect(new TextDecoder().decode(await files.read(at('data/file')))).toBe('hello');
      await mounts.unmount(at('pod/volumes/data'));
      await files.removeTree(at('pod'));
      expect(await files.stat(at('pod'))).toBeUndefined();
      await files.removeTree(at('pod'));
    });

    test('a tree is walked with directories last, and the targets of links are not in it', async () => {
      const { files, at } = await setUp();
      await files.makeDirectory(at('tree/below'), 0o750);
      await files.write(at('tree/below/file'), bytes('x'), 0o600);
      await files.makeLink(at('tree/link'), at('data'));
      const seen: string[] = [];
      await files.walkTree(at('tree'), async ({ stat, setGroup, setMode }) => {
        seen.push(stat.type);
        await setGroup(stat.gid);
        if (stat.type === 'file') await setMode(0o660);
      });
      expect(seen).toEqual(['file', 'directory', 'link', 'directory']);
      expect(await files.stat(at('tree/below/file'))).toMatchObject({ mode: 0o660 });
      expect(await files.stat(at('data/file'))).toMatchObject({ mode: 0o640 });
    });

    test('the targets of links in a removed tree stay', async () => {
      const { files, at } = await setUp();
      await files.makeDirectory(at('pod'), 0o750);
      await files.makeLink(at('pod/link'), at('data'));
      await files.removeTree(at('pod'));
      expect(await files.list(at('data'))).toEqual(['file']);
    });

    test('neither a mount point nor a directory that is not empty can be removed', async () => {
      const { files, mounts, at, bind } = await setUp();
      await files.makeDirectory(at('empty'), 0o750);
      await bind('empty', 'target');
      await expect(files.removeDirectory(at('target'))).rejects.toEqual(code('EBUSY'));
      await expect(files.removeDirectory(at('data'))).rejects.toEqual(code('ENOTEMPTY'));
      await mounts.unmount(at('target'));
    });

    test('a tmpfs hides the files below it; a mount that holds another is busy', async () => {
      const { files, mounts, at, bind } = await setUp();
      await mounts.mount({ type: 'file-system', fileSystem: 'tmpfs', source: 'tmpfs', target: at('target'), options: ['size=65536'] });
      await files.makeDirectory(at('target/inner'), 0o700);
      await bind('data', 'target/inner');
      await expect(mounts.unmount(at('target'))).rejects.toEqual(code('EBUSY'));
      await mounts.unmount(at('target/inner'));
      await mounts.unmount(at('target'));
      expect(await files.list(at('target'))).toEqual([]);
    });

    test('of two mounts at one path the last is seen, and unmounted first', async () => {
      const { files, mounts, at, bind, mountedAt } = await setUp();
      await files.makeDirectory(at('other'), 0o750);
      await bind('other', 'target');
      await bind('data', 'target');
      expect(await files.list(at('target'))).toEqual(['file']);
      await mounts.unmount(at('target'));
      expect(await files.list(at('target'))).toEqual([]);
      expect(await mountedAt()).toEqual([at('target')]);
      await mounts.unmount(at('target'));
    });

    test('a link is replaced atomically', async () => {
      const { files, at } = await setUp();
      await files.makeLink(at('now'), 'data');
      await files.makeLink(at('next'), 'target');
      await files.rename(at('next'), at('now'));
      expect(await files.readLink(at('now'))).toBe('target');
      expect(await files.stat(at('next'))).toBeUndefined();
    });

    test('paths below a directory are opened or made, and none outside', async () => {
      const { files, at } = await setUp();
      const open = async (relative: string) => {
        const place = await files.openBelow(at('data'), relative, 0o750);
        await place.close();
        return place.stat.type;
      };
      expect(await open('file')).toBe('file');
      expect(await open('a/b')).toBe('directory');
      expect(await files.stat(at('data/a/b'))).toMatchObject({ type: 'directory', mode: 0o750 });
      await files.makeLink(at('data/inside'), 'a');
      expect(await open('inside/b')).toBe('directory');
      await files.makeLink(at('data/out'), '../target');
      await files.makeLink(at('data/absolute'), at('target'));
      for (const relative of ['out', 'out/made', 'absolute', 'absolute/made']) await expect(open(relative), relative).rejects.toEqual(code('EXDEV'));
      expect(await files.list(at('target'))).toEqual([]);
    });
  });
}

describeWithMounts(import.meta.url, () => {
  const directories: string[] = [];
  afterAll(() => {
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
  describeHost('the real host', async () => {
    const root = mkdtempSync(path.join(tmpdir(), 'moor-host-'));
    directories.push(root);
    return { mounts: realMounts(), files: realHostFiles, root };
  });

  test('errors of calls that run at the same time are not mixed up', async () => {
    const mounts = realMounts();
    const failing = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? mounts.unmount('/nowhere-at-all') : mounts.unmount('/usr')));
    const codes = (await Promise.allSettled(failing)).map((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : 'done'));
    expect(codes).toEqual(failing.map((_, i) => (i % 2 === 0 ? 'ENOENT' : 'EINVAL')));
  });
});

describeHost('the simulated host', async () => {
  const host = new SimulatedHost();
  await host.makeDirectory('/work', 0o755);
  return { mounts: host, files: host, root: '/work' };
});

describe('mountinfo', () => {
  test('is read with its optional fields and escapes', () => {
    const text =
      '36 35 98:0 /mnt1 /with\\040space\\011tab\\134 rw,noatime shared:7 master:1 - fuse.sshfs host:/a\\040b rw,user_id=0\nnonsense\n22 1 0:21 / /proc rw - proc proc rw\n';
    const [first, second, ...more] = parseMountInfo(text);
    expect(first).toEqual({
      id: 36,
      parent: 35,
      device: '98:0',
      root: '/mnt1',
      target: '/with space\ttab\\',
      options: ['rw', 'noatime'],
      fileSystem: 'fuse.sshfs',
      source: 'host:/a b',
      superOptions: ['rw', 'user_id=0'],
    });
    expect(second?.target).toBe('/proc');
    expect(more).toEqual([]);
  });

  test('that is read again has the current content, in order', () => {
    const parse = mountInfoParser();
    const line = (id: number, target: string) => `${id} 1 0:21 / ${target} rw - tmpfs none rw`;
    const tables = [[line(1, '/a'), line(2, '/b')], [line(2, '/b'), line(3, '/a'), line(4, '/a')], [line(1, '/a')], []].map((lines) => lines.join('\n'));
    for (const table of tables) expect(parse(table)).toEqual(parseMountInfo(table));
  });
});
