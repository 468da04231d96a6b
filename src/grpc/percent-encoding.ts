/** The form of `grpc-message`: bytes of UTF-8; those outside printable ASCII, and '%', as '%E2'. */
export function percentEncoded(text: string): string {
  if (!/[^\x20-\x24\x26-\x7e]/.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

/** A '%' without two digits stands for itself. A text that is no UTF-8 after decoding stays as it came. */
export function percentDecoded(text: string): string {
  const binary = text.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  // Header values are bytes, one in each character.
  if (/[^\0-\xff]/.test(binary)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(binary, 'latin1'));
  } catch {
    return text;
  }
}
