import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import koffi from 'koffi';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadArchive } from '../../src/node/images/load-archive.ts';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';
import { digestOf, type ImageParts, ociArchive, savedArchive, tarOf, type TarItem } from './archives.ts';
import { type TestImages, testImages } from './layer-program.ts';

const getxattr = koffi.load(null).func('long getxattr(const char *path, const char *name, _Out_ void *value, size_t size)');

describeWithSandboxes('images of archives', () => {
  let store: TestImages;
  beforeAll(async () => {
    store = await testImages();
  });
  afterAll(() => store.dispose());

  const load = (archive: Buffer, name?: string) => {
    const file = path.join(store.directory, 'archive.tar');
    writeFileSync(file, archive);
    return loadArchive(file, store.images, name);
  };
  const contentNames = (folder: string): readonly string[] => readdirSync(path.join(store.directory, 'content', folder));
  const imageOf = (items: readonly TarItem[], over: Partial<ImageParts> = {}): ImageParts => ({ name: 'test/app:1', layers: [tarOf(items)], ...over });

  test.each([
    ['an OCI layout', (parts: ImageParts) => ociArchive(parts)],
    ['an OCI layout with compressed layers', (parts: ImageParts) => ociArchive({ ...parts, isCompressed: true })],
    ['docker save', savedArchive],
    ['a compressed archive', (parts: ImageParts) => gzipSync(savedArchive(parts))],
  ])('%s', async (_, archiveOf) => {
    const config = { Entrypoint: ['/app'], Env: ['A=b'], User: 'app', WorkingDir: '/w' };
    const parts = imageOf(
      [
        { name: 'etc/passwd', content: 'app:x:5:6::/home:/bin/sh\n' },
        { name: 'app', content: 'x', mode: 0o755 },
      ],
      { config },
    );
    const [loaded] = await load(archiveOf(parts));
    expect(loaded?.name).toBe('docker.io/test/app:1');
    const ready = await store.images.prepare(loaded?.digest ?? '');
    expect(ready).toMatchObject({ config: { entrypoint: ['/app'], env: ['A=b'], user: 'app', workingDir: '/w' }, passwd: 'app:x:5:6::/home:/bin/sh\n' });
    expect(readFileSync(path.join(ready.layers[0] ?? '', 'app'), 'utf8')).toBe('x');
  });

  test('files have their modes, owners, times and attributes; a layer is unpacked once', async () => {
    const capability = Buffer.from('0100000200040000000000000000000000000000', 'hex');
    const items: readonly TarItem[] = [
      { name: 'd/', type: '5', mode: 0o1777, uid: 9, gid: 10, modified: 1000 },
      { name: 'd/set-id', content: 'x', mode: 0o4755, uid: 11, gid: 12, modified: 2000 },
      { name: 'd/private', content: 'x', mode: 0o600 },
      { name: 'd/link', type: '2', linkName: '/nowhere', uid: 13 },
      { name: 'd/hard', type: '1', linkName: 'd/set-id' },
      { name: 'd/pipe', type: '6', mode: 0o622 },
      { name: 'dev/null', type: '3' },
      { name: 'no/parents/file', content: 'x' },
      { name: 'able', content: 'x', pax: { 'SCHILY.xattr.security.capability': capability } },
    ];
    const [loaded] = await load(ociArchive(imageOf(items)));
    const { layers } = await store.images.prepare(loaded?.digest ?? '');
    const factsOf = (name: string) => lstatSync(path.join(layers[0] ?? '', name));
    expect(factsOf('d')).toMatchObject({ mode: 0o41777, uid: 9, gid: 10, mtimeMs: 1_000_000 });
    expect(factsOf('d/set-id')).toMatchObject({ mode: 0o104755, uid: 11, gid: 12, mtimeMs: 2_000_000, nlink: 2 });
    expect(factsOf('d/private').mode).toBe(0o100600);
    expect(factsOf('d/link')).toMatchObject({ uid: 13, mtimeMs: 1_700_000_000_000 });
    expect(factsOf('d/hard').ino).toBe(factsOf('d/set-id').ino);
    expect(factsOf('d/pipe').isFIFO()).toBe(true);
    expect(existsSync(path.join(layers[0] ?? '', 'dev/null'))).toBe(false);
    const value = Buffer.alloc(64);
    const length = Number(getxattr(path.join(layers[0] ?? '', 'able'), 'security.capability', value, value.length));
    expect(value.subarray(0, length)).toEqual(capability);
    const made = factsOf('able').ino;
    await load(ociArchive(imageOf(items, { name: 'other:1' })));
    expect(factsOf('able').ino).toBe(made);
    expect(contentNames('ingest')).toEqual([]);
  });

  test('whiteouts hide files of the layers below, and nothing of their own layer', async () => {
    const lower = tarOf([
      { name: 'gone', content: 'x' },
      { name: 'd/old', content: 'x' },
      { name: 'e/old', content: 'x' },
      { name: 'lib', type: '2', linkName: 'usr/lib' },
      { name: 'usr/lib/', type: '5' },
    ]);
    const upper = tarOf([
      { name: '.wh.gone' },
      { name: 'd/new', content: 'y' },
      { name: 'd/.wh..wh..opq' },
      { name: 'e/', type: '5' },
      { name: '.wh.e' },
      { name: 'lib/own', content: 'by a link of the layer below' },
    ]);
    const [loaded] = await load(ociArchive({ name: 'white', layers: [lower, upper] }));
    const { layers } = await store.images.prepare(loaded?.digest ?? '');
    const shown = execFileSync(
      'unshare',
      ['--mount', 'sh', '-ec', 'mount -t overlay overlay -o lowerdir="$1:$2" /mnt; cd /mnt; find . -type f | sort', 'sh', ...layers],
      {
        encoding: 'utf8',
      },
    );
    expect(shown).toBe('./d/new\n./usr/lib/own\n');
  });

  test.each<readonly [string, readonly TarItem[], string]>([
    ['a name that leads out', [{ name: '../../evil', content: 'x' }], 'leads out of the image'],
    [
      'a link that leads out, and a file behind it',
      [
        { name: 'l', type: '2', linkName: '/tmp' },
        { name: 'l/moor-evil', content: 'x' },
      ],
      '"l/moor-evil" cannot be made',
    ],
    ['a hard link to a file of the host', [{ name: 'h', type: '1', linkName: '/etc/hostname' }], 'another name of "/etc/hostname"'],
    ['a device node', [{ name: 'disk', type: '4' }], '"disk" is a device node'],
    [
      'many whiteouts of one large directory',
      [...Array.from({ length: 2_000 }, (_, i) => ({ name: `d/${i}`, content: '' })), ...Array.from({ length: 510 }, () => ({ name: 'd/.wh..wh..opq' }))],
      'its whiteouts concern more than 1000000 files',
    ],
    ['a whiteout of the directory above', [{ name: 'd/.wh...' }], 'is a whiteout of no file'],
    ['an attribute of overlays', [{ name: 'f', pax: { 'SCHILY.xattr.trusted.overlay.opaque': 'y' } }], 'extended attribute trusted.overlay.opaque'],
  ])('%s: refused, and nothing is left', async (_, items, message) => {
    const before = contentNames('references');
    await expect(load(ociArchive(imageOf(items, { name: 'evil' })))).rejects.toThrow(message);
    expect([contentNames('references'), contentNames('ingest')]).toEqual([before, []]);
    expect(existsSync('/tmp/moor-evil')).toBe(false);
  });

  test('what is not whole, of another machine or not what its config says is refused', async () => {
    const parts = imageOf([{ name: 'f', content: 'x' }], { name: 'wrong' });
    await expect(load(ociArchive({ ...parts, architecture: 's390x' }))).rejects.toThrow('is for linux/s390x, and this machine is linux/');
    await expect(load(ociArchive({ ...parts, diffIds: [digestOf(Buffer.from('another'))] }))).rejects.toThrow('and its config says');
    await expect(load(ociArchive({ ...parts, diffIds: [] }))).rejects.toThrow('has 1 layers, and its config says 0');
    await expect(load(tarOf([{ name: 'some', content: 'file' }]))).rejects.toThrow('neither an index.json');
    await expect(load(savedArchive(parts).subarray(0, 3000))).rejects.toThrow('ends in the middle');
    expect(await store.images.find('docker.io/library/wrong:latest')).toBeUndefined();
  });

  test('of several platforms, this machine gets its own', async () => {
    const others = ['s390x', 'riscv64'].map((architecture) => imageOf([{ name: 'f', content: architecture }], { architecture, name: 'many:1' }));
    const [loaded] = await load(ociArchive(...others, imageOf([{ name: 'f', content: 'own' }], { name: 'many:1' })));
    const { layers } = await store.images.prepare(loaded?.digest ?? '');
    expect(readFileSync(path.join(layers[0] ?? '', 'f'), 'utf8')).toBe('own');
    await expect(load(ociArchive(...others))).rejects.toThrow('no match for platform in manifest');
  });

  test('a bomb ends at the limit of the store', async () => {
    const small = await testImages(100_000);
    try {
      const file = path.join(small.directory, 'bomb.tar');
      writeFileSync(file, ociArchive(imageOf([{ name: 'zeros', content: Buffer.alloc(10_000_000) }], { isCompressed: true })));
      await expect(loadArchive(file, small.images)).rejects.toThrow('it would take more than');
      // What is kept beside the content of files counts too.
      const noted = Array.from({ length: 40 }, (_, number) => ({ name: `f${number}`, pax: { 'SCHILY.xattr.user.note': 'x'.repeat(3000) } }));
      writeFileSync(file, ociArchive(imageOf(noted, { isCompressed: true })));
      await expect(loadArchive(file, small.images)).rejects.toThrow('it would take more than');
      expect(readdirSync(path.join(small.directory, 'content/ingest'))).toEqual([]);
    } finally {
      await small.dispose();
    }
  });

  test('a disk that fills up in the middle keeps nothing of the image, and takes what fits', async () => {
    // The store leaves 256 MiB of it free.
    const disk = (directory: string): void => {
      mkdirSync(path.join(directory, 'content'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${258 * 1024 * 1024}`, 'tmpfs', path.join(directory, 'content')]);
    };
    const full = await testImages(undefined, disk);
    const content = path.join(full.directory, 'content');
    try {
      const file = path.join(full.directory, 'large.tar');
      const large = Array.from({ length: 10 }, (_, number) => ({ name: `zeros${number}`, content: Buffer.alloc(1_000_000) }));
      writeFileSync(file, ociArchive(imageOf(large, { isCompressed: true, name: 'large:1' })));
      await expect(loadArchive(file, full.images)).rejects.toThrow('it would take more than');
      expect([readdirSync(path.join(content, 'ingest')), readdirSync(path.join(content, 'snapshots'))]).toEqual([[], []]);
      expect(await full.images.find('large:1')).toBeUndefined();
      writeFileSync(file, ociArchive(imageOf([{ name: 'f', content: 'x' }], { name: 'small:1' })));
      await expect(loadArchive(file, full.images)).resolves.toHaveLength(1);
    } finally {
      execFileSync('umount', ['-l', content]);
      await full.dispose();
    }
  });

  test('a layer gets its name once it is on the disk', async () => {
    const archive = ociArchive(imageOf([{ name: 'durable', content: 'x' }], { name: 'durable:1' }));
    const before = contentNames('snapshots');
    const sync = vi.spyOn(store.unpacker, 'sync').mockRejectedValueOnce(new Error('the disk is gone'));
    await expect(load(archive)).rejects.toThrow('the disk is gone');
    expect([contentNames('snapshots'), contentNames('ingest')]).toEqual([before, []]);
    const synced: string[] = [];
    sync.mockImplementationOnce(async (directory) => {
      synced.push(...readdirSync(directory).toSorted(), readFileSync(path.join(directory, 'fs/durable'), 'utf8'), `${contentNames('snapshots').length}`);
    });
    await load(archive);
    expect(synced).toEqual(['bytes', 'fs', 'group', 'passwd', 'x', `${before.length}`]);
    sync.mockRestore();
    await expect(store.unpacker.sync(store.directory)).resolves.toBeUndefined();
    expect(contentNames('snapshots')).toHaveLength(before.length + 1);
  });

  test('layers that are asked for are kept; if it is not known what a container uses, all are', async () => {
    const [asked] = await load(ociArchive(imageOf([{ name: 'asked', content: 'x' }], { name: 'asked:1' })));
    await store.images.untag('docker.io/library/asked:1');
    store.pass(2 * 3600_000);
    const prepared = () => store.images.prepare(asked?.digest ?? '');
    const { layers } = await prepared();
    await store.images.collect(new Set());
    expect(existsSync(layers[0] ?? '')).toBe(true);
    // Also if the store remembers it.
    await prepared();
    store.pass(2 * 3600_000);
    await prepared();
    await store.images.collect(new Set());
    expect(existsSync(layers[0] ?? '')).toBe(true);
    store.pass(2 * 3600_000);
    await store.images.collect(new Set([`sha256:${'0'.repeat(64)}`]));
    expect(existsSync(layers[0] ?? '')).toBe(true);
    await store.images.collect(new Set());
    expect(existsSync(layers[0] ?? '')).toBe(false);
  });

  test('what neither a name nor a container uses is collected, after a while', async () => {
    const [kept] = await load(ociArchive(imageOf([{ name: 'kept', content: 'x' }], { name: 'kept:1' })));
    const [used] = await load(ociArchive(imageOf([{ name: 'used', content: 'x' }], { name: 'used:1' })));
    const [gone] = await load(ociArchive(imageOf([{ name: 'gone', content: 'x' }], { name: 'gone:1' })));
    const layersOf = async (image: { readonly digest: string } | undefined) => (await store.images.prepare(image?.digest ?? '')).layers;
    const [keptLayers, usedLayers, goneLayers] = [await layersOf(kept), await layersOf(used), await layersOf(gone)];
    await store.images.untag('docker.io/library/used:1');
    await store.images.untag('docker.io/library/gone:1');
    await store.images.collect(new Set([used?.digest ?? '']));
    expect(existsSync(goneLayers[0] ?? '')).toBe(true);
    store.pass(2 * 3600_000);
    await store.images.collect(new Set([used?.digest ?? '']));
    expect([keptLayers, usedLayers, goneLayers].map(([layer]) => existsSync(layer ?? ''))).toEqual([true, true, false]);
    await expect(store.images.prepare(gone?.digest ?? '')).rejects.toThrow('is missing');
  });
});
