/**
 * A step of a path through an object, in the text that managedFields has it:
 *
 *     f:replicas                              a field of a struct or a key of a map
 *     k:{"containerPort":80,"protocol":"TCP"} the item of a list with these keys
 *     v:"example.com/finalizer"               the item of a set with this value
 *     i:0                                     the item at this place
 *
 * The text is canonical (keys sorted, no spaces), so that two steps are the same if and only if their texts are.
 */
import { isJsonObject, quoteGo } from '../json.ts';

export type PathElement = string;

export const fieldElement = (name: string): PathElement => `f:${name}`;
export const indexElement = (index: number): PathElement => `i:${index}`;
export const valueElement = (value: unknown): PathElement => `v:${JSON.stringify(value)}`;

/** `keys`: in any order. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  const sorted = keys.length < 2 ? keys : [...keys].sort(([a], [b]) => compareText(a, b));
  return `k:{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value)}`).join(',')}}`;
}

/** The name of a field; undefined: the element is none. */
export const fieldName = (element: PathElement): string | undefined => (element.startsWith('f:') ? element.slice(2) : undefined);

export const isKeyElement = (element: PathElement): boolean => element.startsWith('k:');

/**
 * The canonical form of an element from managedFields; undefined: of an unknown type.
 * @throws SyntaxError for an invalid element
 */
export function readElement(text: string): PathElement | undefined {
  if (text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`);
  const content = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'k': {
      const keys: unknown = JSON.parse(content);
      if (!isJsonObject(keys)) throw new SyntaxError(`no keys: ${text}`);
      return keyElement(Object.entries(keys));
    }
    case 'v':
      return `v:${canonical(JSON.parse(content))}`;
    case 'i':
      if (!/^[+-]?\d+$/.test(content)) throw new SyntaxError(`no index: ${text}`);
      return indexElement(Number(content));
    default:
      return undefined;
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const members = Object.keys(value).sort(compareText);
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

/** '.spec', '[name="web"]', '[="a"]', '[0]': how a message shows the element. */
export function elementText(element: PathElement): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'k': {
      const keys = Object.entries(JSON.parse(content) as Record<string, unknown>);
      return `[${keys.map(([name, value]) => `${name}=${valueText(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${valueText(JSON.parse(content))}]`;
    case 'i':
      return `[${content}]`;
    default:
      return `.${content}`;
  }
}

const valueText = (value: unknown): string => (typeof value === 'string' ? quoteGo(value) : canonical(value));

export const pathText = (path: readonly PathElement[]): string => path.map(elementText).join('');

const typeOrder = 'fkvi';

/** The order in which Kubernetes prints elements: fields, keys, values, places. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const byType = typeOrder.indexOf(a.charAt(0)) - typeOrder.indexOf(b.charAt(0));
  if (byType !== 0) return byType;
  switch (a[0]) {
    case 'f':
      return compareText(a, b);
    case 'k':
      return compareKeys(Object.entries(parsed(a)), Object.entries(parsed(b)));
    case 'v':
      return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
    default:
      return Number(a.slice(2)) - Number(b.slice(2));
  }
}

const parsed = (element: PathElement): Record<string, unknown> => JSON.parse(element.slice(2)) as Record<string, unknown>;

type Keys = readonly (readonly [string, unknown])[];

function compareKeys(a: Keys, b: Keys): number {
  for (const [i, [name, value]] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    const order = compareText(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const valueTypes = ['number', 'string', 'boolean'];

function compareValues(a: unknown, b: unknown): number {
  const byType = rank(a) - rank(b);
  if (byType !== 0) return byType;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : compareText(canonical(a), canonical(b));
}

function rank(value: unknown): number {
  const known = valueTypes.indexOf(typeof value);
  return known === -1 ? valueTypes.length : known;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
