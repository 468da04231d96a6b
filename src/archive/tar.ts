/**
 * Reads a tar stream, piece by piece. Names, links and values are binary strings: each character is a byte.
 *
 *     const reader = new TarReader({ onEntry, onData, onEntryEnd });
 *     for await (const chunk of stream) reader.write(chunk);
 *     reader.end();
 */

export type TarEntryType = 'file' | 'directory' | 'link' | 'hard-link' | 'character-device' | 'block-device' | 'pipe';

export interface TarEntry {
  readonly name: string;
  readonly type: TarEntryType;
  /** Bytes that follow. */
  readonly size: number;
  /** Permissions with set-id and sticky bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970. */
  readonly modified: number;
  /** Of a link, or the name that a hard link is another name of. */
  readonly linkName: string;
  readonly xattrs: ReadonlyMap<string, string>;
}

export interface TarHandler {
  onEntry(entry: TarEntry): void;
  /** A piece of the entry's content; it is valid during the call only. */
  onData(chunk: Uint8Array): void;
  onEntryEnd(): void;
}

/** A stream that is no tar archive, or one with something that is not supported. */
export class ArchiveError extends Error {}

/** A binary string for people. */
export const shownName = (name: string): string => Buffer.from(name, 'latin1').toString('utf8');

const block = 512;
/** Of all long names and pax records of an entry. */
const mostHeaderBytes = 1 << 20;
/** Of one entry: 8 TiB. */
const mostBytes = 2 ** 43;

/** Values that pax headers and GNU's long names give the next entry. */
type Overrides = ReadonlyMap<string, string>;

type State =
  | { readonly is: 'header' }
  /** `padding`: bytes that follow the content. */
  | { readonly is: 'content'; left: number; readonly padding: number }
  | { readonly is: 'padding'; left: number }
  /** The content of a header of another entry. */
  | { readonly is: 'extension'; left: number; readonly padding: number; readonly type: string; readonly parts: Buffer[] }
  | { readonly is: 'end' };

export class TarReader {
  readonly #handler: TarHandler;
  #state: State = { is: 'header' };
  /** The beginning of a header whose rest has not come yet. */
  readonly #header = Buffer.alloc(block);
  #headerBytes = 0;
  #overrides: Overrides = none;
  /** Of the headers before the next entry. */
  #extensionBytes = 0;
  #hasEntries = false;

  constructor(handler: TarHandler) {
    this.#handler = handler;
  }

  /** @throws ArchiveError, and what the handler throws */
  write(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) at += this.#take(chunk, at);
  }

  /** @throws ArchiveError if the archive is not whole */
  end(): void {
    const isBetween = this.#state.is === 'header' && this.#headerBytes === 0 && this.#overrides === none;
    // An archive without its two empty blocks is accepted, as by tar.
    if (this.#state.is === 'end' || (isBetween && this.#hasEntries)) return;
    throw new ArchiveError(this.#hasEntries ? 'the archive ends in the middle of an entry' : 'it is not a tar archive');
  }

  /** Returns the number of bytes that were used. */
  #take(chunk: Uint8Array, at: number): number {
    const state = this.#state;
    const rest = chunk.length - at;
    switch (state.is) {
      case 'end':
        return rest;
      case 'header': {
        // Most headers lie whole in one chunk.
        if (this.#headerBytes === 0 && rest >= block) {
          this.#begin(Buffer.from(chunk.buffer, chunk.byteOffset + at, block));
          return block;
        }
        const count = Math.min(rest, block - this.#headerBytes);
        this.#header.set(chunk.subarray(at, at + count), this.#headerBytes);
        this.#headerBytes += count;
        if (this.#headerBytes < block) return count;
        this.#headerBytes = 0;
        this.#begin(this.#header);
        return count;
      }
      case 'content': {
        const count = Math.min(rest, state.left);
        this.#handler.onData(chunk.subarray(at, at + count));
        state.left -= count;
        if (state.left === 0) this.#finish(state.padding);
        return count;
      }
      case 'padding': {
        const count = Math.min(rest, state.left);
        state.left -= count;
        if (state.left === 0) this.#state = { is: 'header' };
        return count;
      }
      case 'extension': {
        const count = Math.min(rest, state.left);
        state.parts.push(Buffer.from(chunk.subarray(at, at + count)));
        state.left -= count;
        if (state.left === 0) this.#extend(state.type, Buffer.concat(state.parts), state.padding);
        return count;
      }
    }
  }

  #finish(padding: number): void {
    this.#handler.onEntryEnd();
    this.#skip(padding);
  }

  #skip(padding: number): void {
    this.#state = padding === 0 ? { is: 'header' } : { is: 'padding', left: padding };
  }

  #begin(header: Buffer): void {
    if (header[0] === 0 && header.every((byte) => byte === 0)) {
      if (this.#hasEntries || this.#overrides === none) this.#state = { is: 'end' };
      return;
    }
    if (!isChecked(header)) throw new ArchiveError(this.#hasEntries ? 'a header of the archive has a wrong checksum' : 'it is not a tar archive');
    const type = String.fromCharCode(header[156] ?? 0);
    const ownSize = numberIn(header, 124, 12);
    if (extensions.has(type)) {
      this.#extensionBytes += ownSize;
      if (this.#extensionBytes > mostHeaderBytes)
        throw new ArchiveError(`a header of the archive has ${this.#extensionBytes} bytes (at most ${mostHeaderBytes})`);
      const padding = paddingOf(ownSize);
      if (ownSize === 0) return this.#extend(type, Buffer.alloc(0), padding);
      this.#state = { is: 'extension', left: ownSize, padding, type, parts: [] };
      return;
    }
    const entry = entryOf(header, { type, ownSize, overrides: this.#overrides });
    this.#overrides = none;
    this.#extensionBytes = 0;
    this.#hasEntries = true;
    this.#handler.onEntry(entry);
    if (entry.size === 0) return this.#finish(0);
    this.#state = { is: 'content', left: entry.size, padding: paddingOf(entry.size) };
  }

  /** Global pax records ('g') say nothing that concerns an entry: git writes a commit there. */
  #extend(type: string, content: Buffer, padding: number): void {
    if (type !== 'g') {
      const overrides = new Map(this.#overrides);
      if (type === 'L') overrides.set('path', untilNul(content.toString('latin1')));
      else if (type === 'K') overrides.set('linkpath', untilNul(content.toString('latin1')));
      else for (const [key, value] of paxRecords(content)) overrides.set(key, value);
      this.#overrides = overrides;
    }
    this.#skip(padding);
  }
}

const none: Overrides = new Map();
const extensions: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);

const types: Readonly<Record<string, TarEntryType>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'hard-link',
  '2': 'link',
  '3': 'character-device',
  '4': 'block-device',
  '5': 'directory',
  '6': 'pipe',
};

interface HeaderFacts {
  readonly type: string;
  readonly ownSize: number;
  readonly overrides: Overrides;
}

function entryOf(header: Buffer, { type, ownSize, overrides }: HeaderFacts): TarEntry {
  const name = overrides.get('path') ?? nameIn(header);
  if (name.includes('\0')) throw new ArchiveError('a name has a zero byte');
  let entryType = types[type];
  if (entryType === undefined) throw new ArchiveError(`"${shownName(name)}" has the type ${JSON.stringify(type)}, which is not supported`);
  if ([...overrides.keys()].some((key) => key.startsWith('GNU.sparse.')))
    throw new ArchiveError(`"${shownName(name)}" is a sparse file, which is not supported`);
  // Old archives mark directories by their names only.
  if (entryType === 'file' && name.endsWith('/')) entryType = 'directory';
  const size = Number(overrides.get('size') ?? ownSize);
  if (!Number.isSafeInteger(size) || size < 0 || size > mostBytes)
    throw new ArchiveError(`"${shownName(name)}" has the size ${overrides.get('size') ?? ownSize}`);
  return {
    name,
    type: entryType,
    size: entryType === 'file' ? size : 0,
    mode: numberIn(header, 100, 8) & 0o7777,
    uid: idOf(overrides.get('uid'), header, 108),
    gid: idOf(overrides.get('gid'), header, 116),
    modified: Number(overrides.get('mtime') ?? numberIn(header, 136, 12)) || 0,
    linkName: overrides.get('linkpath') ?? textIn(header, 157, 100),
    xattrs: xattrsOf(overrides),
  };
}

const noXattrs: ReadonlyMap<string, string> = new Map();
const xattrPrefix = 'SCHILY.xattr.';

function xattrsOf(overrides: Overrides): ReadonlyMap<string, string> {
  if (overrides === none) return noXattrs;
  return new Map([...overrides].flatMap(([key, value]) => (key.startsWith(xattrPrefix) ? [[key.slice(xattrPrefix.length), value] as const] : [])));
}

function idOf(given: string | undefined, header: Buffer, at: number): number {
  const id = given === undefined ? numberIn(header, at, 8) : Number(given);
  if (!Number.isInteger(id) || id < 0 || id > 0xffff_fffe) throw new ArchiveError(`an entry has the owner or group ${given ?? id}`);
  return id;
}

/** ustar splits long names in two. */
function nameIn(header: Buffer): string {
  const name = textIn(header, 0, 100);
  const isUstar = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? textIn(header, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textIn(header: Buffer, at: number, length: number): string {
  const end = header.indexOf(0, at);
  return header.toString('latin1', at, end < 0 || end > at + length ? at + length : end);
}

const untilNul = (text: string): string => (text.includes('\0') ? text.slice(0, text.indexOf('\0')) : text);

/** Octal digits; or, with the highest bit set, binary (GNU, star). */
function numberIn(header: Buffer, at: number, length: number): number {
  const first = header[at] ?? 0;
  if ((first & 0x80) !== 0) {
    let value = first === 0xff ? -1 : first & 0x7f;
    for (let i = at + 1; i < at + length; i++) value = value * 256 + (header[i] ?? 0);
    if (!Number.isSafeInteger(value)) throw new ArchiveError('a header of the archive has a number that is too large');
    return value;
  }
  let value = 0;
  for (let i = at; i < at + length; i++) {
    const byte = header[i] ?? 0;
    if (byte === 0 || (byte === 0x20 && value > 0)) break;
    if (byte === 0x20) continue;
    if (byte < 0x30 || byte > 0x37) throw new ArchiveError('a header of the archive has a number that is none');
    value = value * 8 + byte - 0x30;
  }
  return value;
}

/** The checksum counts its own field as spaces. */
function isChecked(header: Buffer): boolean {
  let sum = 8 * 0x20;
  for (let i = 0; i < block; i++) if (i < 148 || i >= 156) sum += header[i] ?? 0;
  const digits = /^ *([0-7]+)/.exec(header.toString('latin1', 148, 156))?.[1];
  return digits !== undefined && Number.parseInt(digits, 8) === sum;
}

const paddingOf = (size: number): number => (block - (size % block)) % block;

/** 'LENGTH KEY=VALUE\n', where the length counts itself. */
function* paxRecords(content: Buffer): Generator<readonly [string, string]> {
  const text = content.toString('latin1');
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(' ', at);
    const digits = space < 0 ? '' : text.slice(at, space);
    const length = /^\d{1,7}$/.test(digits) ? Number(digits) : 0;
    const record = text.slice(space + 1, at + length);
    const equals = record.indexOf('=');
    if (length <= digits.length + 2 || at + length > text.length || !record.endsWith('\n') || equals < 1) throw new ArchiveError('a pax header is malformed');
    yield [record.slice(0, equals), record.slice(equals + 1, -1)];
    at += length;
  }
}
