/**
 * YAML as Kubernetes reads it: YAML 1.1 as go-yaml v2 understands it (yes and no are booleans, 0777 is octal, dates are
 * strings), turned into what JSON can say. Only the first document of a stream counts.
 */
import { createRequire } from 'node:module';
import type { Alias, Document, Node, Pair, Scalar, YAMLMap } from 'yaml';
import { JsonNumber, maxDepth, quoteGo, setOwn } from './json.ts';

export class YamlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'YamlError';
  }
}

export interface YamlDocument {
  readonly value: unknown;
  /** Problems for a strict reader only: duplicate keys. */
  readonly strictErrors: readonly string[];
}

/** Values that aliases may repeat, all together: a small text must not become a huge object. */
const maxAliasedValues = 100_000;

type Library = typeof import('yaml');
let library: Library | undefined;

/** Loading the library takes longer than all the rest of a start, and few clients ever send YAML. */
function loadLibrary(): Library {
  library ??= createRequire(import.meta.url)('yaml') as Library;
  return library;
}

const tooDeep = 'yaml: exceeded max depth';

/** @throws YamlError */
export function readYaml(bytes: Uint8Array): YamlDocument {
  const yaml = loadLibrary();
  const text = new TextDecoder().decode(bytes);
  const lines = new yaml.LineCounter();
  const documents = yaml.parseAllDocuments(text, {
    schema: 'failsafe',
    version: '1.1',
    uniqueKeys: false,
    lineCounter: lines,
    logLevel: 'silent',
    prettyErrors: false,
  });
  const document = Array.isArray(documents) ? documents[0] : undefined;
  if (document === undefined) return { value: null, strictErrors: [] };
  const error = document.errors[0];
  if (error?.code === 'RESOURCE_EXHAUSTION') throw new YamlError(tooDeep);
  if (error !== undefined) throw new YamlError(`yaml: line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
  return new Converter(yaml, document, (node) => lines.linePos(node.range?.[0] ?? 0).line).convert();
}

class Converter {
  readonly #yaml: Library;
  readonly #document: Document.Parsed | Document;
  readonly #lineOf: (node: Node) => number;
  readonly #duplicates: string[] = [];
  /** By anchor, the node that has it; a later one takes the name over. */
  readonly #anchored = new Map<string, Node>();
  /** What an alias means where it stands; it means the same wherever it is repeated. */
  readonly #targets = new Map<Alias, Node>();
  #aliased = 0;
  #aliasDepth = 0;

  constructor(yaml: Library, document: Document.Parsed | Document, lineOf: (node: Node) => number) {
    this.#yaml = yaml;
    this.#document = document;
    this.#lineOf = lineOf;
  }

  convert(): YamlDocument {
    const value = this.#value(this.#document.contents, 0);
    const strictErrors = this.#duplicates.length === 0 ? [] : [`yaml: unmarshal errors:\n${this.#duplicates.join('\n')}`];
    return { value, strictErrors };
  }

  #value(node: unknown, depth: number): unknown {
    if (depth > maxDepth) throw new YamlError(tooDeep);
    if (this.#aliasDepth > 0 && ++this.#aliased > maxAliasedValues) throw new YamlError('yaml: document contains excessive aliasing');
    if (this.#yaml.isAlias(node)) return this.#alias(node, depth);
    if (this.#aliasDepth === 0 && this.#yaml.isNode(node) && node.anchor !== undefined) this.#anchored.set(node.anchor, node);
    if (this.#yaml.isMap(node)) return this.#map(node, depth);
    if (this.#yaml.isSeq(node)) return node.items.map((item) => this.#value(item, depth + 1));
    return this.#yaml.isScalar(node) ? scalarValue(node) : null;
  }

  #alias(node: Alias, depth: number): unknown {
    // The library's own search goes through the whole document for each alias.
    const target = this.#targets.get(node) ?? this.#anchored.get(node.source);
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${node.source}' referenced`);
    this.#targets.set(node, target);
    this.#aliasDepth++;
    const value = this.#value(target, depth + 1);
    this.#aliasDepth--;
    return value;
  }

  #map(node: YAMLMap, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const merged: Record<string, unknown> = {};
    for (const pair of node.items) {
      if (isMergeKey(pair)) this.#merge(merged, this.#value(pair.value, depth + 1));
      else this.#member(object, pair, depth);
    }
    for (const [key, value] of Object.entries(merged)) if (!Object.hasOwn(object, key)) setOwn(object, key, value);
    return object;
  }

  #member(object: Record<string, unknown>, pair: Pair, depth: number): void {
    const key = keyText(this.#value(pair.key, depth + 1));
    if (Object.hasOwn(object, key)) this.#duplicates.push(`  line ${this.#lineOf(pair.key as Node)}: key ${quoteGo(key)} already set in map`);
    setOwn(object, key, this.#value(pair.value, depth + 1));
  }

  #merge(into: Record<string, unknown>, from: unknown): void {
    const sources: unknown[] = Array.isArray(from) ? from : [from];
    for (const source of sources) {
      if (typeof source !== 'object' || source === null || Array.isArray(source))
        throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
      for (const [key, value] of Object.entries(source)) if (!Object.hasOwn(into, key)) setOwn(into, key, value);
    }
  }
}

function isMergeKey(pair: Pair): boolean {
  const key = pair.key as Scalar | null;
  return key?.type === 'PLAIN' && key.value === '<<' && key.tag === undefined;
}

function keyText(key: unknown): string {
  if (key instanceof JsonNumber) return key.text;
  if (typeof key === 'object') throw new YamlError(`yaml: unsupported map key: ${JSON.stringify(key)}`);
  return typeof key === 'string' ? key : JSON.stringify(key);
}

const words: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, boolean] => [word, true]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, boolean] => [word, false]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, null] => [word, null]),
]);

const tagPrefix = 'tag:yaml.org,2002:';

function scalarValue(node: Scalar): unknown {
  // With the failsafe schema every scalar is the text that it was written as.
  const text = typeof node.value === 'string' ? node.value : '';
  const tag = node.tag?.startsWith(tagPrefix) === true ? node.tag.slice(tagPrefix.length) : node.tag;
  // Only what is neither quoted nor tagged as a string may be something else; a tag like !!int says that it is.
  const resolves = tag === undefined ? node.type === 'PLAIN' || node.type === undefined : ['int', 'float', 'bool', 'null', 'timestamp'].includes(tag);
  if (!resolves) return text;
  if (/^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/.test(text)) throw new YamlError(`json: unsupported value: ${text}`);
  const word = words.get(text);
  return word === undefined ? (readNumber(text) ?? text) : word;
}

/** Undefined: it is a string, dates and times of day included. */
function readNumber(text: string): number | JsonNumber | undefined {
  if (!/^[-+.0-9]/.test(text) || /^[0-9]{4}-/.test(text)) return undefined;
  const plain = text.replaceAll('_', '');
  const integer = readInteger(plain);
  if (integer !== undefined) return Number.isSafeInteger(Number(integer)) ? Number(integer) : new JsonNumber(String(integer));
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(plain)) return undefined;
  return Number.isFinite(Number(plain)) ? Number(plain) : undefined;
}

function readInteger(text: string): bigint | undefined {
  const parts = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text);
  const digits = parts?.[2];
  // No number of 64 bits is longer, in any notation.
  if (digits === undefined || digits.length > 66) return undefined;
  const value = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const integer = parts?.[1] === '-' ? -value : value;
  return integer >= -(2n ** 63n) && integer < 2n ** 64n ? integer : undefined;
}
