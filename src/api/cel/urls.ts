/** url(), as Kubernetes adds it to the language (v1.36.4: apiserver/pkg/cel/library/urls.go), with the rules of Go's net/url. */
import type { Environment } from '@marcbachmann/cel-js';
import { quoteGo } from '../json.ts';

class CelUrl {
  readonly parts: UrlParts;
  constructor(parts: UrlParts) {
    this.parts = parts;
  }
}

interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  /** As it was written. */
  readonly text: string;
}

export function registerUrls(environment: Environment): void {
  environment
    .registerType('kubernetes.URL', { ctor: CelUrl, fields: {} })
    .registerFunction('url(string): kubernetes.URL', (text: string) => {
      const parts = parseUrl(text);
      if (typeof parts === 'string') throw new Error(`URL parse error during conversion from string: parse ${quoteGo(text)}: ${parts}`);
      return new CelUrl(parts);
    })
    .registerFunction('isURL(string): bool', (text: string) => typeof parseUrl(text) !== 'string')
    .registerFunction('kubernetes.URL.getScheme(): string', ({ parts }: CelUrl) => parts.scheme)
    .registerFunction('kubernetes.URL.getHost(): string', ({ parts }: CelUrl) => parts.host)
    .registerFunction('kubernetes.URL.getHostname(): string', ({ parts }: CelUrl) => splitHost(parts.host).name)
    .registerFunction('kubernetes.URL.getPort(): string', ({ parts }: CelUrl) => splitHost(parts.host).port)
    .registerFunction('kubernetes.URL.getEscapedPath(): string', ({ parts }: CelUrl) => escaped(parts.path))
    .registerFunction('kubernetes.URL.getQuery(): map<string, list<string>>', ({ parts }: CelUrl) => queryOf(parts.query))
    .registerOperator('kubernetes.URL == kubernetes.URL', (a: CelUrl, b: CelUrl) => a.parts.text === b.parts.text);
}

/** An absolute URL or path; or why the text is none. */
export function parseUrl(text: string): UrlParts | string {
  if (text === '') return 'empty url';
  // oxlint-disable-next-line no-control-regex -- Go refuses exactly these
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'net/url: invalid control character in URL';
  const [whole, query] = cut(cut(text, '#')[0], '?');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(whole)?.[1] ?? '';
  if (scheme === '' && whole.startsWith(':')) return 'missing protocol scheme';
  const rest = scheme === '' ? whole : whole.slice(scheme.length + 1);
  const parts = { scheme: scheme.toLowerCase(), host: '', path: '', query, text };
  if (!rest.startsWith('/')) return scheme === '' ? 'invalid URI for request' : parts;
  if (scheme === '' || !rest.startsWith('//')) return badEscape(rest) ?? { ...parts, path: rest };
  const slash = rest.indexOf('/', 2);
  const authority = rest.slice(2, slash < 0 ? undefined : slash);
  const path = slash < 0 ? '' : rest.slice(slash);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return hostProblem(host) ?? badEscape(path) ?? { ...parts, host, path };
}

function cut(text: string, at: string): [string, string] {
  const place = text.indexOf(at);
  return place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place + 1)];
}

function badEscape(text: string): string | undefined {
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text);
  return bad === null ? undefined : `invalid URL escape ${quoteGo(bad[0])}`;
}

function hostProblem(host: string): string | undefined {
  const bad = /[\s"<>\\^`{|}]/.exec(host.replace(/%25/g, ''));
  if (bad !== null) return `invalid character ${quoteGo(bad[0])} in host name`;
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host";
  const port = host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : host.includes(':') ? host.slice(host.lastIndexOf(':')) : '';
  return port === '' || /^:[0-9]*$/.test(port) ? undefined : `invalid port ${quoteGo(port)} after host`;
}

function splitHost(host: string): { name: string; port: string } {
  const port = /:([0-9]*)$/.exec(host)?.[1];
  const name = port === undefined ? host : host.slice(0, -port.length - 1);
  return { name: name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name, port: port ?? '' };
}

/** The path as written, with forbidden characters escaped. */
const escaped = (path: string): string => path.replace(/[^A-Za-z0-9\-._~$&+,/:;=@!'()*[\]%]/gu, (character) => encodeURIComponent(character));

function queryOf(query: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(query)) found.set(key, [...(found.get(key) ?? []), value]);
  return found;
}
