/** Links of pages that a pod or Service serves through the API server's proxy (v1.36.4: apimachinery/pkg/util/proxy/transport.go). */
import { Transform, type TransformCallback } from 'node:stream';

export interface ProxiedPage {
  /** The path of the proxy, without a slash at its end: '/api/v1/namespaces/default/pods/web/proxy'. */
  readonly prefix: string;
  /** Host and port that the pod was asked by. */
  readonly backend: string;
  /** Host and port that the client asked the API server by. */
  readonly host: string;
}

/** A path of the backend becomes one below the proxy; relative links, and links to other hosts, are left alone. */
export function rewriteLink(link: string, { prefix, backend, host }: ProxiedPage): string {
  const [, scheme = '', authority, path = ''] = /^\s*([a-z][a-z0-9+.-]*:)?(?:\/\/([^/?#]*))?([^]*)$/i.exec(link) ?? [];
  const isOther = authority !== undefined && authority !== '' && authority !== backend && authority !== host;
  if (isOther || !path.startsWith('/')) return link;
  const origin = authority === host ? `${scheme}//${authority}` : '';
  return path.startsWith(prefix) ? `${origin}${path}` : `${origin}${prefix}${path}`;
}

const linksOf: Readonly<Record<string, string>> = {
  a: 'href',
  applet: 'codebase',
  area: 'href',
  audio: 'src',
  base: 'href',
  blockquote: 'cite',
  body: 'background',
  button: 'formaction',
  command: 'icon',
  del: 'cite',
  embed: 'src',
  form: 'action',
  frame: 'longdesc src',
  head: 'profile',
  html: 'manifest',
  iframe: 'longdesc src',
  img: 'longdesc src usemap',
  input: 'src usemap formaction',
  ins: 'cite',
  link: 'href',
  object: 'classid codebase data usemap',
  q: 'cite',
  script: 'src',
  source: 'src',
  video: 'poster src',
};
const attributesOf = new Map(Object.entries(linksOf).map(([tag, names]) => [tag, new Set(names.split(' '))]));

/** Elements whose text has no tags. */
const rawText: ReadonlySet<string> = new Set(['iframe', 'noembed', 'noframes', 'noscript', 'script', 'style', 'textarea', 'title', 'xmp']);

const attribute = /([\s/"'])([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g;

/** A tag that is longer is passed on as it is. */
const maxTagLength = 16 * 1024;

/** Where in a page the text so far ends. A tag, or what may become one, is held back until its end. */
type Place =
  | { readonly type: 'text' }
  /** `held`: '<', '<!' or '<!-'. */
  | { readonly type: 'beforeTag'; readonly held: string }
  | TagPlace
  /** Text up to `end` has no tags. `held`: what may be the beginning of it. */
  | { readonly type: 'rawText'; readonly end: string; readonly held: string };

interface TagPlace {
  readonly type: 'tag';
  readonly held: string[];
  length: number;
  /** Of the value that is being read; '': none. */
  quote: string;
  /** Whether a quote would begin a value. */
  isBeforeValue: boolean;
}

const inText: Place = { type: 'text' };
const beginOfComment = '<!--';

/**
 * Rewrites the links of HTML. The bytes in between are passed on unchanged, whatever their encoding: tags are ASCII in all that browsers send. Each byte is
 * looked at once, however a page is divided into chunks: pages are made by pods, and the server's only thread reads them.
 */
export class HtmlLinks extends Transform {
  readonly #page: ProxiedPage;
  #place: Place = inText;

  constructor(page: ProxiedPage) {
    super();
    this.#page = page;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = `${this.#place.type === 'rawText' ? this.#place.held : ''}${chunk.toString('latin1')}`;
    const lowerCase = text.toLowerCase();
    const output: string[] = [];
    let at = 0;
    while (at < text.length) {
      const place = this.#place;
      if (place.type === 'text') at = this.#readText(text, at, output);
      else if (place.type === 'beforeTag') at = this.#readBeforeTag(text, at, output);
      else if (place.type === 'tag') at = this.#readTag(text, at, output);
      else {
        const end = lowerCase.indexOf(place.end, at);
        // All but what may be the beginning of the end.
        const until = end < 0 ? Math.max(at, text.length - place.end.length + 1) : end + place.end.length;
        output.push(text.slice(at, until));
        this.#place = end < 0 ? { ...place, held: text.slice(until) } : inText;
        at = end < 0 ? text.length : until;
      }
    }
    this.#pass(output);
    done();
  }

  override _flush(done: TransformCallback): void {
    const place = this.#place;
    if (place.type !== 'text') this.#pass([place.held].flat());
    done();
  }

  #pass(output: readonly string[]): void {
    const text = output.join('');
    if (text !== '') this.push(Buffer.from(text, 'latin1'));
  }

  #readText(text: string, at: number, output: string[]): number {
    const tag = text.indexOf('<', at);
    output.push(text.slice(at, tag < 0 ? text.length : tag));
    if (tag < 0) return text.length;
    this.#place = { type: 'beforeTag', held: '<' };
    return tag + 1;
  }

  #readBeforeTag(text: string, at: number, output: string[]): number {
    const before = this.#place.type === 'beforeTag' ? this.#place.held : '';
    const held = `${before}${text[at] ?? ''}`;
    if (/^<[a-z]$/i.test(held)) {
      this.#place = { type: 'tag', held: [before], length: before.length, quote: '', isBeforeValue: false };
      return at;
    }
    if (held === beginOfComment) {
      output.push(held);
      this.#place = { type: 'rawText', end: '-->', held: '' };
      return at + 1;
    }
    if (beginOfComment.startsWith(held)) {
      this.#place = { type: 'beforeTag', held };
      return at + 1;
    }
    output.push(before);
    this.#place = inText;
    return at;
  }

  #readTag(text: string, at: number, output: string[]): number {
    const place = this.#place as TagPlace;
    const limit = Math.min(text.length, at + maxTagLength - place.length);
    const end = endOfTag(place, text, { from: at, to: limit });
    const until = end ?? limit;
    place.held.push(text.slice(at, until));
    place.length += until - at;
    if (end === undefined && place.length < maxTagLength) return until;
    const tag = place.held.join('');
    this.#place = inText;
    if (end === undefined) output.push(tag);
    else output.push(this.#rewritten(tag));
    return until;
  }

  #rewritten(tag: string): string {
    const name = (/^<([^\s/>]*)/.exec(tag)?.[1] ?? '').toLowerCase();
    if (rawText.has(name)) this.#place = { type: 'rawText', end: `</${name}`, held: '' };
    const names = attributesOf.get(name);
    if (names === undefined) return tag;
    return tag.replace(attribute, (all: string, before: string, key: string, equals: string, value: string) => {
      if (!names.has(key.toLowerCase())) return all;
      const quote = /^["']/.exec(value)?.[0] ?? '';
      const link = quote === '' ? value : value.slice(1, -1);
      return `${before}${key}${equals}${quote}${rewriteLink(link, this.#page)}${quote}`;
    });
  }
}

/** Behind the bracket that ends the tag; undefined: further on. */
function endOfTag(place: TagPlace, text: string, { from, to }: { readonly from: number; readonly to: number }): number | undefined {
  for (let at = from; at < to; at++) {
    const character = text[at] ?? '';
    if (place.quote !== '') {
      if (character === place.quote) place.quote = '';
    } else if (character === '>') return at + 1;
    else if (place.isBeforeValue && (character === '"' || character === "'")) {
      place.quote = character;
      place.isBeforeValue = false;
    } else if (character === '=') place.isBeforeValue = true;
    else if (!/\s/.test(character)) place.isBeforeValue = false;
  }
  return undefined;
}
