/** `invalid character 'x' looking for beginning of value`, `unexpected end of JSON input`. */
export class JsonError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonError';
  }
}

/** ['spec', 'containers', 0, 'name'] */
export type JsonPath = readonly (string | number)[];

export interface JsonDocument {
  readonly value: unknown;
  /** Keys that an object has more than once, in the order of the document. Of such keys the last value counts; objects are merged. */
  readonly duplicates: readonly JsonPath[];
}

export interface ReadJsonOptions {
  /** Numbers that JavaScript would not print as they were written ("1.0", "1e3", 20 digits) become a JsonNumber. */
  readonly exactNumbers?: boolean;
  /** Called with the path of every key, in the order of the document, repetitions included. */
  readonly onKey?: (path: JsonPath) => void;
}

/** A number as it was written. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toNumber(): number {
    return Number(this.text);
  }
  toJSON(): number {
    return this.toNumber();
  }
}

/** Kubernetes' limit is 10,000; nothing that it stores comes near this one, and recursion stays far from the stack's end. */
export const maxDepth = 1000;

const endOfInput = 'unexpected end of JSON input';
const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Reads JSON character by character and says what is wrong with it as Go does. */
export class JsonReader {
  readonly #text: string;
  readonly #options: ReadJsonOptions;
  readonly #path: (string | number)[] = [];
  readonly #duplicates: JsonPath[] = [];
  #at = 0;

  constructor(text: string, options: ReadJsonOptions = {}) {
    this.#text = text;
    this.#options = options;
  }

  /** @throws JsonError */
  read(): JsonDocument {
    this.#skipSpace();
    const value = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
    return { value, duplicates: this.#duplicates };
  }

  #value(depth: number): unknown {
    const char = this.#peek();
    switch (char) {
      case '{':
        if (depth >= maxDepth) throw this.#unexpected('exceeded max depth');
        return this.#object(depth + 1);
      case '[':
        if (depth >= maxDepth) throw this.#unexpected('exceeded max depth');
        return this.#array(depth + 1);
      case '"':
        return this.#string();
      case 't':
        return this.#literal('true', true);
      case 'f':
        return this.#literal('false', false);
      case 'n':
        return this.#literal('null', null);
      default:
        if (char === '-' || isDigit(char)) return this.#number();
        throw this.#unexpected('looking for beginning of value');
    }
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at++;
    this.#skipSpace();
    if (this.#peek() === '}') {
      this.#at++;
      return object;
    }
    for (;;) {
      if (this.#peek() !== '"') throw this.#unexpected('looking for beginning of object key string');
      const key = this.#string();
      this.#skipSpace();
      if (this.#peek() !== ':') throw this.#unexpected('after object key');
      this.#at++;
      this.#skipSpace();
      this.#path.push(key);
      this.#member(object, key, depth);
      this.#path.pop();
      this.#skipSpace();
      const next = this.#peek();
      if (next !== ',' && next !== '}') throw this.#unexpected('after object key:value pair');
      this.#at++;
      if (next === '}') return object;
      this.#skipSpace();
    }
  }

  #member(object: Record<string, unknown>, key: string, depth: number): void {
    const isDuplicate = Object.hasOwn(object, key);
    this.#options.onKey?.(this.#path);
    if (isDuplicate) this.#duplicates.push([...this.#path]);
    const value = this.#value(depth);
    setOwn(object, key, isDuplicate ? merged(object[key], value) : value);
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = [];
    this.#at++;
    this.#skipSpace();
    if (this.#peek() === ']') {
      this.#at++;
      return array;
    }
    for (;;) {
      this.#path.push(array.length);
      array.push(this.#value(depth));
      this.#path.pop();
      this.#skipSpace();
      const next = this.#peek();
      if (next !== ',' && next !== ']') throw this.#unexpected('after array element');
      this.#at++;
      if (next === ']') return array;
      this.#skipSpace();
    }
  }

  #string(): string {
    let result = '';
    let start = ++this.#at;
    for (;;) {
      const char = this.#peek();
      if (char === '"') {
        result += this.#text.slice(start, this.#at++);
        return withoutLoneSurrogates(result);
      }
      if (char === '\\') {
        result += this.#text.slice(start, this.#at++) + this.#escape();
        start = this.#at;
      } else if (char < ' ') throw this.#unexpected('in string literal');
      else this.#at++;
    }
  }

  #escape(): string {
    const char = this.#peek();
    if (char !== 'u') {
      const meaning = escapes[char];
      if (meaning === undefined) throw this.#unexpected('in string escape code');
      this.#at++;
      return meaning;
    }
    const start = ++this.#at;
    for (; this.#at < start + 4; this.#at++) {
      if (!/[0-9a-fA-F]/.test(this.#peek())) throw this.#unexpected('in \\u hexadecimal character escape');
    }
    return String.fromCharCode(Number.parseInt(this.#text.slice(start, this.#at), 16));
  }

  #number(): number | JsonNumber {
    const start = this.#at;
    if (this.#peek() === '-') {
      this.#at++;
      if (!isDigit(this.#peek())) throw this.#unexpected('in numeric literal');
    }
    if (this.#peek() === '0') this.#at++;
    else this.#digits();
    if (this.#text[this.#at] === '.') {
      this.#at++;
      if (!isDigit(this.#peek())) throw this.#unexpected('after decimal point in numeric literal');
      this.#digits();
    }
    if (/[eE]/.test(this.#text[this.#at] ?? '')) {
      this.#at++;
      if (/[-+]/.test(this.#peek())) this.#at++;
      if (!isDigit(this.#peek())) throw this.#unexpected('in exponent of numeric literal');
      this.#digits();
    }
    return this.#numberValue(this.#text.slice(start, this.#at));
  }

  #numberValue(text: string): number | JsonNumber {
    const number = Number(text);
    if (this.#options.exactNumbers === true) return String(number) === text ? number : new JsonNumber(text);
    if (!Number.isFinite(number)) throw new JsonError(`json: cannot unmarshal number ${text} into Go value of type float64`);
    return number;
  }

  #digits(): void {
    while (isDigit(this.#text[this.#at] ?? '')) this.#at++;
  }

  #literal<T>(word: string, value: T): T {
    for (let i = 0; i < word.length; i++, this.#at++) {
      if (this.#peek() !== word[i]) throw this.#unexpected(`in literal ${word} (expecting '${word[i]}')`);
    }
    return value;
  }

  #peek(): string {
    const char = this.#text[this.#at];
    if (char === undefined) throw new JsonError(endOfInput);
    return char;
  }

  #skipSpace(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) this.#at++;
  }

  #unexpected(context: string): JsonError {
    return new JsonError(`invalid character ${quoteFirstByte(this.#text, this.#at)} ${context}`);
  }
}

const isDigit = (char: string): boolean => char >= '0' && char <= '9' && char.length === 1;

/** Go decodes the second value on top of the first: two objects become one. */
function merged(first: unknown, second: unknown): unknown {
  if (!isJsonObject(first) || !isJsonObject(second)) return second;
  for (const [key, value] of Object.entries(second)) setOwn(first, key, Object.hasOwn(first, key) ? merged(first[key], value) : value);
  return first;
}

function withoutLoneSurrogates(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

/** Go looks at bytes: of a character outside ASCII it shows the first one. */
function quoteFirstByte(text: string, at: number): string {
  const byte = new TextEncoder().encode(String.fromCodePoint(text.codePointAt(at) ?? 0))[0] ?? 0;
  if (byte === 0x27) return "'\\''";
  if (byte === 0x22) return `'"'`;
  const quoted = quoteGo(String.fromCharCode(byte));
  return `'${quoted.slice(1, -1)}'`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** A string as Go's %q prints it. */
export function quoteGo(text: string): string {
  const body = text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (char) => {
    const short = shortEscapes[char];
    if (short !== undefined) return short;
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `"${body}"`;
}

/** Sets a key that a client chose: `__proto__` becomes a plain property, too. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}

/** An object of JSON: not null, not a list. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a message calls a value: 'object', 'array', 'string', 'number', 'bool', 'null'. */
export function jsonTypeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof JsonNumber) return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
