/** How a stream is compressed, by its first bytes. */
export type Compression = 'none' | 'gzip' | 'zstd' | 'bzip2' | 'xz';

/** As many bytes decide. */
export const magicBytes = 6;

const magics: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
];

export const compressionOf = (start: Uint8Array): Compression => magics.find(([, magic]) => magic.every((byte, at) => start[at] === byte))?.[0] ?? 'none';
