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

const startTag = /<([a-z][^\s/>]*)(?:"[^"]*"|'[^']*'|[^'">])*>/iy;
const attribute = /([\s/"'])([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g;

/** A tag that is longer is passed on as it is. */
const maxTagLength = 16 * 1024;

/** Rewrites the links of HTML. The bytes in between are passed on unchanged, whatever their encoding: tags are ASCII in all that browsers send. */
export class HtmlLinks extends Transform {
  readonly #page: ProxiedPage;
  #waiting = '';
  /** Text until this end has no tags; '': there may be some. */
  #textUntil = '';

  constructor(page: ProxiedPage) {
    super();
    this.#page = page;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#waiting += chunk.toString('latin1');
    this.#process(false);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#process(true);
    done();
  }

  #process(isLast: boolean): void {
    const text = this.#waiting;
    const lowerCase = text.toLowerCase();
    let at = 0;
    let output = '';
    while (at < text.length) {
      const end = this.#textUntil === '' ? this.#endOfPart(text, at) : this.#endOfText(lowerCase, at);
      // A part without its end waits for the next chunk; what is too long, or the last, is passed on. It is not looked at again, so that the work stays linear.
      if (end === undefined && !isLast && text.length - at <= maxTagLength) break;
      const part = text.slice(at, end ?? (isLast ? text.length : at + maxTagLength));
      output += this.#rewritten(part);
      at += part.length;
    }
    this.#waiting = text.slice(at);
    if (output !== '') this.push(Buffer.from(output, 'latin1'));
  }

  /** Where the text up to the next tag ends, or the tag that is here; undefined: further on. */
  #endOfPart(text: string, at: number): number | undefined {
    if (text[at] !== '<') {
      const tag = text.indexOf('<', at);
      return tag < 0 ? text.length : tag;
    }
    if (text.startsWith('<!--', at)) {
      this.#textUntil = '-->';
      return at + 4;
    }
    const next = text[at + 1];
    if (next === undefined || (next === '!' && text.length - at < 4)) return undefined;
    if (!/[a-z]/i.test(next)) return at + 1;
    startTag.lastIndex = at;
    const tag = startTag.exec(text);
    if (tag === null) return undefined;
    const name = (tag[1] ?? '').toLowerCase();
    if (rawText.has(name)) this.#textUntil = `</${name}`;
    return at + tag[0].length;
  }

  /** Where text without tags ends, its end included; all but what may be the beginning of its end, if that is further on. */
  #endOfText(lowerCase: string, at: number): number | undefined {
    const end = this.#textUntil;
    const found = lowerCase.indexOf(end, at);
    if (found >= 0) {
      this.#textUntil = '';
      return found + end.length;
    }
    const certain = lowerCase.length - end.length + 1;
    return certain > at ? certain : undefined;
  }

  #rewritten(part: string): string {
    startTag.lastIndex = 0;
    const tag = startTag.exec(part);
    const names = attributesOf.get((tag?.[1] ?? '').toLowerCase());
    if (tag === null || names === undefined) return part;
    return part.replace(attribute, (all: string, before: string, name: string, equals: string, value: string) => {
      if (!names.has(name.toLowerCase())) return all;
      const quote = /^["']/.exec(value)?.[0] ?? '';
      const link = quote === '' ? value : value.slice(1, -1);
      return `${before}${name}${equals}${quote}${rewriteLink(link, this.#page)}${quote}`;
    });
  }
}
