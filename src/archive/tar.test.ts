import { describe, expect, test } from 'vitest';
import { tarOf, type TarItem } from '../../test/images/archives.ts';
import { ArchiveError, type TarEntry, TarReader } from './tar.ts';

interface ReadEntry extends TarEntry {
  readonly content: string;
}

/** All entries of an archive that comes in pieces of so many bytes. */
function read(archive: Buffer, piece = archive.length): readonly ReadEntry[] {
  const entries: ReadEntry[] = [];
  let current: { readonly entry: TarEntry; readonly parts: Buffer[] } | undefined;
  const reader = new TarReader({
    onEntry: (entry) => (current = { entry, parts: [] }),
    onData: (chunk) => void current?.parts.push(Buffer.from(chunk)),
    onEntryEnd: () => {
      if (current !== undefined) entries.push({ ...current.entry, content: Buffer.concat(current.parts).toString() });
    },
  });
  for (let at = 0; at < archive.length; at += piece) reader.write(archive.subarray(at, at + piece));
  reader.end();
  return entries;
}

const long = `${'directory/'.repeat(20)}file`;
const items: readonly TarItem[] = [
  { name: 'etc/', type: '5', mode: 0o750, uid: 7, gid: 8 },
  { name: 'etc/motd', content: 'hello', mode: 0o4755 },
  { name: 'short', content: 'x'.repeat(513), pax: { path: long, mtime: '12.5', 'SCHILY.xattr.user.note': 'a=b\nc', uid: '3000000' } },
  { name: 'link', type: '2', linkName: '/etc' },
  { name: 'same', type: '1', linkName: 'etc/motd' },
  { name: 'empty' },
];

describe('a tar archive', () => {
  test.each([1, 7, 511, 512, 513, 100_000])('is read alike in pieces of %i bytes', (piece) => {
    const entries = read(tarOf(items), piece);
    expect(entries.map(({ name, type, content }) => [name, type, content.length])).toEqual([
      ['etc/', 'directory', 0],
      ['etc/motd', 'file', 5],
      [long, 'file', 513],
      ['link', 'link', 0],
      ['same', 'hard-link', 0],
      ['empty', 'file', 0],
    ]);
    expect(entries[0]).toMatchObject({ mode: 0o750, uid: 7, gid: 8 });
    expect(entries[1]).toMatchObject({ mode: 0o4755, modified: 1_700_000_000, content: 'hello' });
    expect(entries[2]).toMatchObject({ modified: 12.5, uid: 3_000_000, xattrs: new Map([['user.note', 'a=b\nc']]) });
    expect(entries[3]).toMatchObject({ linkName: '/etc', xattrs: new Map() });
  });

  test('that is cut, changed or none is refused', () => {
    const archive = tarOf(items);
    expect(() => read(archive.subarray(0, 1100))).toThrow('ends in the middle');
    expect(() => read(Buffer.from('not an archive'.repeat(100)))).toThrow('it is not a tar archive');
    expect(() => read(Buffer.alloc(0))).toThrow('it is not a tar archive');
    const changed = Buffer.from(archive);
    changed[512 + 3] = 0x58;
    expect(() => read(changed)).toThrow('wrong checksum');
  });

  test('of nothing is an archive; one without its last blocks too', () => {
    expect(read(tarOf([]))).toEqual([]);
    expect(read(tarOf([{ name: 'a' }]).subarray(0, 512))).toHaveLength(1);
  });

  test.each<readonly [string, TarItem, string]>([
    ['a sparse file', { name: 'a', pax: { 'GNU.sparse.major': '1' } }, 'sparse'],
    ['an unknown type', { name: 'a', type: 'S' }, 'type "S"'],
    ['a size that is none', { name: 'a', pax: { size: '-1' } }, 'size -1'],
    ['a huge size', { name: 'a', pax: { size: '9e15' } }, 'size 9e15'],
    ['an owner that is none', { name: 'a', pax: { uid: '-1' } }, 'owner or group -1'],
    ['a name with a zero byte', { name: 'a', pax: { path: 'a\0b' } }, 'zero byte'],
  ])('with %s is refused', (_, item, message) => {
    expect(() => read(tarOf([item]))).toThrow(ArchiveError);
    expect(() => read(tarOf([item]))).toThrow(message);
  });

  test('with headers without end is refused', () => {
    expect(() => read(tarOf([{ name: 'a', pax: { comment: 'x'.repeat(1 << 20) } }]))).toThrow('a header of the archive has');
    const header = tarOf([{ name: 'a', pax: { comment: 'x'.repeat(1 << 18) } }]).subarray(0, (1 << 18) + 1024);
    const many = Buffer.concat([...Array<Buffer>(5).fill(header), tarOf([{ name: 'a' }])]);
    expect(() => read(many)).toThrow('a header of the archive has');
    expect(read(tarOf(Array.from({ length: 5 }, () => ({ name: 'a', pax: { comment: 'x'.repeat(1 << 18) } }))))).toHaveLength(5);
  });
});
