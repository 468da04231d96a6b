import type { DecodeState } from './decode-state.ts';

/** Base64 in its canonical form: Go ignores line breaks and stray bits, and prints neither. */
export function decodeBase64(text: string, state: DecodeState): string | undefined {
  const bare = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, '') : text;
  if (bare.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(bare)) {
    state.error ??= `illegal base64 data at input byte ${firstIllegalByte(text)}`;
    return undefined;
  }
  if (!bare.endsWith('=')) return bare;
  return Buffer.from(bare, 'base64').toString('base64');
}

/** The place that Go names: the first byte that cannot be, or the start of the group that ends too early. */
function firstIllegalByte(text: string): number {
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '\r' || char === '\n') continue;
    if (/[A-Za-z0-9+/]/.test(char)) digits++;
    else if (char === '=' && digits % 4 >= 2) return afterPadding(text, at, digits % 4);
    else return new TextEncoder().encode(text.slice(0, at)).length;
  }
  return text.length - (digits % 4);
}

function afterPadding(text: string, at: number, digits: number): number {
  const rest = text.slice(at + 1);
  const breaks = /^[\r\n]*/.exec(rest)?.[0].length ?? 0;
  if (digits === 3) return at + 1 + breaks;
  if (breaks === rest.length) return text.length;
  if (rest[breaks] !== '=') return at + breaks;
  const more = /^[\r\n]*/.exec(rest.slice(breaks + 1))?.[0].length ?? 0;
  return at + 2 + breaks + more;
}
