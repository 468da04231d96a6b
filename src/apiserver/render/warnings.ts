/** Beyond this many characters in all, every warning is cut to `itemCharacters`; then nothing more is added. */
const totalCharacters = 4 * 1024;
const itemCharacters = 256;

/** The values of the Warning headers: `299 - "text"`, as Kubernetes writes them. */
export function warningHeaders(warnings: readonly string[]): readonly string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== '' && !/\p{Cc}/u.test(text)).map((text) => Array.from(text));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= totalCharacters) return texts.map(header);
  const kept: string[] = [];
  let written = 0;
  for (const text of texts) {
    if (written >= totalCharacters) break;
    const cut = text.slice(0, itemCharacters);
    kept.push(header(cut));
    written += cut.length;
  }
  return kept;
}

/** Headers are bytes: what is not ASCII goes out as UTF-8. */
function header(characters: readonly string[]): string {
  const quoted = characters.join('').replace(/["\\]/g, (character) => `\\${character}`);
  return Buffer.from(`299 - "${quoted}"`).toString('latin1');
}
