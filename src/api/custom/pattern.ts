/** Regular expressions in Go's notation (RE2), as JavaScript's. Compiled once for each pattern. */
const compiled = new Map<string, RegExp | undefined>();

/** Patterns come from whoever may write definitions: what is kept of them is bounded. */
const MAX_COMPILED = 10_000;

/** undefined: it is none. */
export function patternOf(pattern: string): RegExp | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern);
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  const made = compile(pattern);
  compiled.set(pattern, made);
  return made;
}

const posixClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

function compile(pattern: string): RegExp | undefined {
  const inline = /^\(\?([imsU]+)\)/.exec(pattern);
  const flags = (inline?.[1] ?? '').replaceAll('U', '');
  const body = pattern
    .slice(inline?.[0].length ?? 0)
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => posixClasses[name] ?? whole)
    .replaceAll(/\\([Az])/g, (_whole, anchor: string) => (anchor === 'A' ? '^' : '$'));
  return attempt(body, `${flags}u`) ?? attempt(body, flags);
}

function attempt(body: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(body, flags);
  } catch {
    return undefined;
  }
}
