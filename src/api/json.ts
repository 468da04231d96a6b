/**
 * JSON as Kubernetes' decoder reads it: syntax errors in its words, duplicate keys reported with their path, bad UTF-8
 * and lone surrogates replaced, nesting limited. Keys like `__proto__` are data.
 *
 * The common case is JSON.parse plus one cheap survey of the text. The careful reader (json-reader.ts) runs only when the
 * survey or the parser found something unusual: an error, a key given twice, a number that a double cannot hold as written.
 */
import { type JsonDocument, JsonReader, maxDepth, type ReadJsonOptions } from './json-reader.ts';

export {
  isJsonObject,
  type JsonDocument,
  JsonError,
  JsonNumber,
  type JsonPath,
  jsonTypeOf,
  maxDepth,
  quoteGo,
  type ReadJsonOptions,
  setOwn,
} from './json-reader.ts';

/** @throws JsonError */
export function readJson(source: Uint8Array | string, options: ReadJsonOptions = {}): JsonDocument {
  const text = typeof source === 'string' ? source : textOf(source);
  const survey = surveyJson(text);
  if (survey.plain && options.onKey === undefined) {
    const value = parseOrUndefined(text);
    if (value !== undefined && countFields(value) === survey.fields) return { value, duplicates: [] };
  }
  return new JsonReader(text, options).read();
}

/** As a TextDecoder reads them, several times as fast: bad UTF-8 is replaced, a byte order mark stays. */
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Survey {
  /** Keys in the text, duplicates included. */
  readonly fields: number;
  /** Nothing in the text needs the careful reader; the syntax is not checked. */
  readonly plain: boolean;
}

const unusual: Survey = { fields: 0, plain: false };
/** Up to this length every integer is exact in a double. */
const safeDigits = 15;

function surveyJson(text: string): Survey {
  // A surrogate given as an escape may lack its other half.
  if (text.includes('\\ud') || text.includes('\\uD')) return unusual;
  let fields = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      i = closingQuote(text, i);
      if (i === -1) return unusual;
    } else if (code === 0x3a) fields++;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return unusual;
    } else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = endOfDigits(text, i + 1);
      const next = text.charCodeAt(end);
      if (end - i > safeDigits || next === 0x2e || (next | 0x20) === 0x65) return unusual;
      i = end - 1;
    }
  }
  return { fields, plain: true };
}

function closingQuote(text: string, opening: number): number {
  for (let end = text.indexOf('"', opening + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

function endOfDigits(text: string, start: number): number {
  let end = start;
  for (let code = text.charCodeAt(end); code >= 0x30 && code <= 0x39; code = text.charCodeAt(end)) end++;
  return end;
}

function countFields(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countFields(item);
    return count;
  }
  for (const key in value) {
    count++;
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object') count += countFields(member);
  }
  return count;
}
