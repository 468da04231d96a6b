/**
 * Expressions of MutatingAdmissionPolicies construct typed values: `Object{spec: Object.spec{replicas: 3}}`, `JSONPatch{op: "remove", path: "/x"}`.
 * cel-js has no message types: they are rewritten to maps, `{"spec": {"replicas": 3}}`.
 */

/** A string of any form, the type name before a brace, any other name or number, or one character. */
const token =
  /[rRbB]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?''')|[rR][bB]?(?:"[^"\n]*"|'[^'\n]*')|[bB]?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\/\/[^\n]*|(?:Object(?:\s*\.\s*[A-Za-z_]\w*)*|JSONPatch)\s*\{|[A-Za-z_0-9]\w*|`[^`]*`|[\s\S]/g;

type Frame = 'message' | 'other';

export function messagesAsMaps(text: string): string {
  const frames: Frame[] = [];
  let out = '';
  // Whether a field's name comes next: after the brace or a comma of a typed value.
  let atKey = false;
  let before = '';
  for (const [piece] of text.matchAll(token)) {
    const significant = piece.trim() !== '' && !piece.startsWith('//');
    const key = atKey && significant && piece !== '}' && piece !== '?' && piece !== ',';
    if (/^(Object|JSONPatch)[\s\S]*\{$/.test(piece) && before !== '.') {
      frames.push('message');
      out += '{';
      atKey = true;
    } else if (key) {
      out += JSON.stringify(unescaped(piece.replace(/^`|`$/g, '')));
      atKey = false;
    } else {
      out += piece;
      if (/^[([{]$/.test(piece)) frames.push('other');
      else if (/^[)\]}]$/.test(piece)) {
        frames.pop();
        atKey = false;
      } else if (piece === ',') atKey = frames.at(-1) === 'message';
    }
    if (significant) before = piece;
  }
  return out;
}

/** CEL's escaping of names that are no identifiers: 'x__dash__y' is 'x-y'. */
const unescaped = (name: string): string =>
  name
    .replaceAll('__dash__', '-')
    .replaceAll('__dot__', '.')
    .replaceAll('__slash__', '/')
    .replaceAll('__underscores__', '__')
    .replace(/^__(\w+)__$/, '$1');
