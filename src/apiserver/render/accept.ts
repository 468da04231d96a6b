import { LRUCache } from 'lru-cache';

/** How an answer is written: which encoding, and of what. */
export interface Rendition {
  readonly format: Format;
  /** Something else than the object itself, asked for with `;as=…;g=…;v=…`. */
  readonly as: Target | undefined;
  /** Asked for with `;pretty=1`. */
  readonly pretty: boolean;
}

export type Format = 'json' | 'yaml' | 'protobuf';

export interface Target {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

/** In the order of preference where a client does not care. */
const formats: readonly Format[] = ['json', 'yaml', 'protobuf'];

export const mediaTypes: Readonly<Record<Format, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/** Whether an endpoint can answer this way. */
export type Allows = (format: Format, as: Target | undefined) => boolean;

export const plainJson: Rendition = { format: 'json', as: undefined, pretty: false };

/** The first rendition that the client accepts and the endpoint allows, by Kubernetes' rules; undefined: there is none. */
export function negotiate(accept: string | undefined, allows: Allows): Rendition | undefined {
  if (accept === undefined || accept === '') return plainJson;
  for (const clause of parseAccept(accept)) {
    for (const format of formats) {
      if (!clauseCovers(clause, mediaTypes[format])) continue;
      const rendition = renditionOf(clause, format);
      if (rendition !== undefined && allows(format, rendition.as)) return rendition;
    }
  }
  return undefined;
}

/** Caches what was negotiated: clients send the same few headers again and again. */
export function rememberNegotiation(allows: Allows): (accept: string | undefined) => Rendition | undefined {
  const negotiated = new LRUCache<string, Rendition>({ max: 256 });
  return (accept = '') => {
    const before = negotiated.get(accept);
    if (before !== undefined) return before;
    const rendition = negotiate(accept, allows);
    negotiated.set(accept, rendition);
    return rendition;
  };
}

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

function clauseCovers(clause: Clause, mediaType: string): boolean {
  const [type, subtype] = mediaType.split('/');
  if (clause.type === '*') return clause.subtype === '*';
  return clause.type === type && (clause.subtype === subtype || clause.subtype === '*');
}

/** Parameters that Kubernetes does not know are ignored; known ones that are not supported exclude the clause. */
function renditionOf(clause: Clause, format: Format): Rendition | undefined {
  const { parameters } = clause;
  const stream = parameters.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || format === 'yaml')) return undefined;
  if ((parameters.get('sv') ?? '') !== '') return undefined;
  const [kind, group, version] = ['as', 'g', 'v'].map((key) => parameters.get(key));
  const as = kind === undefined && group === undefined && version === undefined ? undefined : { kind: kind ?? '', group: group ?? '', version: version ?? '' };
  return { format, as, pretty: parameters.get('pretty') === '1' };
}

function parseAccept(header: string): readonly Clause[] {
  const clauses: Clause[] = [];
  for (const part of header.split(',')) {
    const clause = parseClause(part);
    if (clause !== undefined) insert(clauses, clause);
  }
  return clauses;
}

function parseClause(text: string): Clause | undefined {
  const [range = '', ...rest] = text.split(';');
  const [type = '', subtype = type === '*' ? '*' : undefined, ...more] = range.split('/').map((part) => part.trim());
  if (subtype === undefined || more.length > 0) return undefined;
  const parameters = new Map<string, string>();
  let quality = 1;
  for (const parameter of rest) {
    const [key = '', value, ...extra] = parameter.split('=').map((part) => part.trim());
    if (value === undefined || extra.length > 0) continue;
    if (key === 'q') quality = Number.parseFloat(value) || 0;
    else parameters.set(key, value);
  }
  return { type, subtype, parameters, quality };
}

function insert(clauses: Clause[], clause: Clause): void {
  let at = clauses.length;
  while (at > 0 && goesBefore(clause, clauses[at - 1] ?? clause)) at -= 1;
  clauses.splice(at, 0, clause);
}

function goesBefore(a: Clause, b: Clause): boolean {
  return a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*');
}
