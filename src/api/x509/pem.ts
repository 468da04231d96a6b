/** A block between `-----BEGIN TYPE-----` and `-----END TYPE-----`. */
export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';

/**
 * The blocks of a text, in order; text between them and broken blocks are ignored. Each part of the text is
 * scanned once: there may be megabytes of BEGIN lines without an END.
 */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let begin = lineStart(text, BEGIN, 0); begin >= 0; ) {
    const next = lineStart(text, BEGIN, begin + BEGIN.length);
    const end = lineStart(text, END, begin + BEGIN.length);
    if (end < 0) return blocks;
    const block = next >= 0 && next < end ? undefined : readBlock(text, begin, end);
    if (block !== undefined) blocks.push(block);
    begin = next >= 0 && next < end ? lastBefore(text, { from: next, end }) : next;
  }
  return blocks;
}

/** The last BEGIN line before the END line: earlier ones have no END. */
function lastBefore(text: string, { from, end }: { readonly from: number; readonly end: number }): number {
  const last = text.lastIndexOf(`\n${BEGIN}`, end);
  return last + 1 > from ? last + 1 : from;
}

function lineStart(text: string, words: string, from: number): number {
  if (from === 0 && text.startsWith(words)) return 0;
  const at = text.indexOf(`\n${words}`, Math.max(from - 1, 0));
  return at < 0 ? -1 : at + 1;
}

function readBlock(text: string, begin: number, end: number): PemBlock | undefined {
  const firstLine = lineAt(text, begin);
  const type = typeIn(firstLine, BEGIN);
  if (type === undefined || type !== typeIn(lineAt(text, end), END)) return undefined;
  const lines = text
    .slice(begin + firstLine.length, end)
    .split('\n')
    .map((line) => line.trim());
  const body = lines.findIndex((line, i) => i > 0 && !line.includes(':'));
  const base64 = lines
    .slice(body < 0 ? lines.length : body)
    .join('')
    .replace(/\s+/g, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  return { type, hasHeaders: body > 1, bytes: Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)) };
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.slice(at) : text.slice(at, end);
}

function typeIn(line: string, words: string): string | undefined {
  const trimmed = line.trimEnd();
  return trimmed.length >= words.length + DASHES.length && trimmed.endsWith(DASHES) ? trimmed.slice(words.length, -DASHES.length) : undefined;
}
