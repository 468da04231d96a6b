import { isValidHost } from './host-header.ts';
import { impersonationPrefix } from '../authentication/impersonation.ts';

/** A complete request without anything unusual. */
export interface FastPathRequest {
  readonly method: string;
  readonly target: string;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** Headers that change the framing or the meaning of a request. */
const unsupportedHeaders: ReadonlySet<string> = new Set(['transfer-encoding', 'expect', 'upgrade', 'te', 'trailer', 'proxy-connection', 'http2-settings']);
const maxLines = 64;

/** Undefined: not exactly one simple request. Node's parser has to read the bytes. */
export function parseFastPathRequest(bytes: Buffer, maxHeaderBytes: number): FastPathRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0 || end > maxHeaderBytes) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const lineEnd = head.indexOf('\r\n');
  if (lineEnd < 0) return undefined;
  const line = /^([A-Z]+) (\/[!-~]*) HTTP\/1\.1$/.exec(head.slice(0, lineEnd));
  const [, method = '', target = ''] = line ?? [];
  if (!methods.has(method)) return undefined;
  const headers = readHeaders(head, lineEnd + 2);
  if (headers === undefined || !isPlainRequest(headers)) return undefined;
  const length = headers.get('content-length') ?? '0';
  const start = end + 4;
  if (!/^\d{1,9}$/.test(length) || bytes.length !== start + Number(length)) return undefined;
  return { method, target, headers, body: bytes.subarray(start) };
}

function isPlainRequest(headers: ReadonlyMap<string, string>): boolean {
  const connection = headers.get('connection');
  const host = headers.get('host');
  return host !== undefined && isValidHost(host) && (connection === undefined || connection.toLowerCase() === 'keep-alive');
}

function readHeaders(head: string, from: number): Map<string, string> | undefined {
  const headers = new Map<string, string>();
  for (let at = from; at < head.length; ) {
    const next = head.indexOf('\r\n', at);
    const end = next < 0 ? head.length : next;
    const colon = head.indexOf(':', at);
    if (colon < at || colon >= end) return undefined;
    const name = headerName(head.slice(at, colon));
    const value = head.slice(colon + 1, end);
    // Parsers disagree on duplicate headers.
    if (name === undefined || headers.has(name) || headers.size >= maxLines || !/^[\t -~]*$/.test(value)) return undefined;
    headers.set(name, value.trim());
    at = end + 2;
  }
  return headers;
}

/** Clients send the same few names again and again. Bounded: a client could make up others. */
const knownNames = new Map<string, string>();
const maxKnownNames = 256;

/** In lower case; undefined: not supported here. */
function headerName(text: string): string | undefined {
  const known = knownNames.get(text);
  if (known !== undefined) return known;
  const lower = text.toLowerCase();
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(lower) || unsupportedHeaders.has(lower) || lower.startsWith(impersonationPrefix)) return undefined;
  if (knownNames.size < maxKnownNames) knownNames.set(text, lower);
  return lower;
}
