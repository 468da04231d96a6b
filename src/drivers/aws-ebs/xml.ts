/** Answers of EC2: elements with text or elements, no attributes that matter, no mixed content. */
export interface Element {
  readonly name: string;
  readonly text: string;
  readonly children: readonly Element[];
}

/** Deeper than any answer of EC2. */
const deepest = 50;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const unescaped = (text: string): string =>
  text.replace(/&(#x[0-9a-fA-F]+|#\d+|\w+);/g, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name] ?? whole;
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code <= 0x10_ffff ? String.fromCodePoint(code) : whole;
  });

/** Undefined: it is no XML document of this kind. */
export function parseXml(text: string): Element | undefined {
  const stack: { readonly name: string; text: string; readonly children: Element[] }[] = [{ name: '', text: '', children: [] }];
  for (const [, declaration, closing, opening, empty, content] of text.matchAll(
    /<([?!][^>]{0,1000})>|<\/([\w.-]+)\s*>|<([\w.-]+)(?:\s[^>]*?)?(\/)?>|([^<]+)/g,
  )) {
    const current = stack.at(-1);
    if (current === undefined) return undefined;
    if (content !== undefined) current.text += content;
    else if (opening !== undefined && empty === undefined) {
      if (stack.length > deepest) return undefined;
      stack.push({ name: opening, text: '', children: [] });
    } else if (opening !== undefined) current.children.push({ name: opening, text: '', children: [] });
    else if (closing !== undefined) {
      if (stack.length < 2 || current.name !== closing) return undefined;
      stack.pop();
      stack.at(-1)?.children.push({ ...current, text: current.children.length > 0 ? '' : unescaped(current.text) });
    } else if (declaration === undefined) return undefined;
  }
  const [root] = stack;
  return stack.length === 1 && root?.children.length === 1 ? root.children[0] : undefined;
}

export const child = (element: Element | undefined, name: string): Element | undefined => element?.children.find((each) => each.name === name);
/** '': it is absent or empty. */
export const textOf = (element: Element | undefined, name: string): string => child(element, name)?.text ?? '';
/** The elements of a list: <volumeSet><item/>…</volumeSet>. */
export const itemsOf = (element: Element | undefined, name: string): readonly Element[] =>
  child(element, name)?.children.filter((each) => each.name === 'item') ?? [];
