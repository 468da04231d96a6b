import type { Kind } from '../../api/kind.ts';
import { encodeEnvelope, encodeMessage } from '../../api/protobuf/index.ts';
import { statusErrors } from '../../api/status.ts';
import { sha512 } from './hash.ts';
import { processMetrics } from '../metrics/process-metrics.ts';
import { type Allows, mediaTypes, rememberNegotiation, type Rendition } from '../render/accept.ts';
import { type Body, jsonBody, textBody, yamlBody } from '../render/body.ts';
import { wantsPretty } from '../render/pretty.ts';
import { negotiatePlain } from '../render/targets.ts';
import { aggregated, apiGroup, apiGroupList, apiGroups, apiResourceList, apiVersions, type DiscoveryDocument } from './documents.ts';
import { answerHealth, type Health } from './health.ts';
import { type OpenApiDocuments, OpenApiPaths } from './openapi.ts';
import type { PathAnswer, PathRequest } from './path-request.ts';
import { type DiscoveredVersion, discover } from './resources.ts';
import { versionDocument } from './version.ts';

export interface PathOptions {
  readonly kinds: readonly Kind[];
  /** Those that were defined at run time: the same list until they change. */
  readonly customKinds?: () => readonly Kind[];
  /** What other servers serve behind APIServices: the same list until it changes. */
  readonly remoteVersions?: () => readonly DiscoveredVersion[];
  readonly health: Health;
  /** Mooring's own version. */
  readonly version: string;
  /** Host and port at which clients reach the server. */
  readonly serverAddress: () => string;
  /** What /metrics shows, besides what Node knows of its own process. */
  readonly metrics: () => Promise<string>;
  readonly openApi?: OpenApiDocuments;
  /** The issuer of service account tokens, and its public keys. */
  readonly tokens?: TokenDocuments;
}

export interface TokenDocuments {
  readonly issuer: string;
  /** A JSON Web Key Set. */
  keys(): Promise<object>;
}

type Answer = PathAnswer | undefined | Promise<PathAnswer | undefined>;

/** Answers non-resource paths. undefined: no such path within the API, answered with a Status. */
export function createPaths(options: PathOptions): (request: PathRequest) => Answer {
  const openApi = options.openApi === undefined ? undefined : new OpenApiPaths(options.openApi, sha512);
  const custom = options.customKinds ?? (() => noKinds);
  const remote = options.remoteVersions ?? (() => noVersions);
  const describe = () => {
    const [own, others] = [custom(), remote()];
    return { own, others, answer: describedPaths(options, openApi, { custom: own, remote: others }) };
  };
  let described = describe();
  return (request) => {
    if (custom() !== described.own || remote() !== described.others) {
      openApi?.forget();
      described = describe();
    }
    return described.answer(request);
  };
}

const noKinds: readonly Kind[] = [];
const noVersions: readonly DiscoveredVersion[] = [];

interface ServedBesides {
  readonly custom: readonly Kind[];
  readonly remote: readonly DiscoveredVersion[];
}

/** The paths as long as the kinds stay the same. */
function describedPaths(options: PathOptions, openApi: OpenApiPaths | undefined, { custom, remote }: ServedBesides): (request: PathRequest) => Answer {
  const versions = withRemote(discover([...options.kinds, ...custom]), remote);
  const core = new AggregatedDiscovery(versions.filter(({ group }) => group === ''));
  const named = new AggregatedDiscovery(versions.filter(({ group }) => group !== ''));
  const listed = rootPaths(versions, options);
  const fixed: Readonly<Record<string, (request: PathRequest) => Answer>> = {
    '/': () => rawJson({ paths: listed }),
    '/api': (request) => core.answer(request) ?? document(request, apiVersions(options.serverAddress())),
    '/apis': (request) => named.answer(request) ?? document(request, apiGroupList(versions)),
    '/version': () => rawJson(versionDocument(options.version)),
    '/metrics': async () => text('text/plain; version=0.0.4; charset=utf-8', `${await options.metrics()}${processMetrics()}`),
    '/.well-known/openid-configuration': () => (options.tokens === undefined ? undefined : openIdConfiguration(options.tokens)),
    '/openid/v1/jwks': async () => (options.tokens === undefined ? undefined : keySet(await options.tokens.keys())),
  };
  const answerOf = (request: PathRequest, path: string): Answer => {
    if (Object.hasOwn(fixed, path)) return fixed[path]?.(request);
    return answerHealth(request, options.health) ?? answerDiscovery(request, path, versions) ?? openApi?.answer(request);
  };
  return async (request) => {
    const path = request.path === '/' ? '/' : request.path.replace(/\/$/, '');
    return (await answerOf(request, path)) ?? (isWithinApi(path, versions) ? undefined : pageNotFound);
  };
}

/** A version that another server serves takes the place of this one's; a group is listed once, with all of its versions. */
function withRemote(own: readonly DiscoveredVersion[], remote: readonly DiscoveredVersion[]): readonly DiscoveredVersion[] {
  if (remote.length === 0) return own;
  const isRemote = ({ group, version }: DiscoveredVersion): boolean => remote.some((other) => other.group === group && other.version === version);
  return [...own.filter((version) => !isRemote(version)), ...remote];
}

/** Below a served group an unknown path is answered by the API. */
function isWithinApi(path: string, versions: readonly DiscoveredVersion[]): boolean {
  const [root, group] = path.slice(1).split('/');
  return root === 'api' || (root === 'apis' && versions.some((each) => each.group === group));
}

const pageNotFound: PathAnswer = {
  code: 404,
  headers: ['content-type', 'text/plain; charset=utf-8', 'x-content-type-options', 'nosniff'],
  body: textBody('404 page not found\n'),
};

/** /apis/GROUP and /…/GROUP/VERSION */
function answerDiscovery(request: PathRequest, path: string, versions: readonly DiscoveredVersion[]): Answer {
  const [root, ...rest] = path.slice(1).split('/');
  if (root !== 'api' && root !== 'apis') return undefined;
  if (root === 'apis' && rest.length === 1) {
    const group = apiGroup(versions, rest[0] ?? '');
    return group === undefined ? undefined : document(request, group);
  }
  const [group, version] = root === 'api' ? ['', rest[0]] : rest;
  if (rest.length !== (root === 'api' ? 1 : 2)) return undefined;
  const found = versions.find((each) => each.group === group && each.version === version);
  return found === undefined ? undefined : document(request, apiResourceList(found));
}

async function document(request: PathRequest, value: DiscoveryDocument): Promise<PathAnswer> {
  const rendition = negotiatePlain(request.header('accept'));
  if (rendition === undefined) throw statusErrors.notAcceptable(Object.values(mediaTypes));
  return { code: 200, headers: ['content-type', mediaTypes[rendition.format]], body: await write(request, rendition, value) };
}

async function write(request: PathRequest, { format, pretty }: Rendition, value: DiscoveryDocument): Promise<Body> {
  switch (format) {
    case 'json':
      return jsonBody(value, pretty || wantsPretty(request.query, request.header('user-agent') ?? ''));
    case 'yaml':
      return yamlBody(value);
    case 'protobuf':
      return { type: 'whole', bytes: encodeEnvelope({ apiVersion: '', ...value }, encodeMessage(value.kind, value)) };
  }
}

/** Not negotiated, and indented for people. */
const rawJson = (value: object): PathAnswer => ({
  code: 200,
  headers: ['content-type', 'application/json'],
  body: textBody(JSON.stringify(value, undefined, 2)),
});

const text = (contentType: string, content: string): PathAnswer => ({ code: 200, headers: ['content-type', contentType], body: textBody(content) });

const aggregatedVersions: ReadonlySet<string> = new Set(['v2', 'v2beta1']);

const aggregatedAllows: Allows = (format, as) =>
  format === 'json' && as?.group === 'apidiscovery.k8s.io' && aggregatedVersions.has(as.version) && as.kind === 'APIGroupDiscoveryList';

/** Aggregated discovery: all resources in one response, which clients cache by its ETag. */
class AggregatedDiscovery {
  readonly #versions: readonly DiscoveredVersion[];
  readonly #negotiate = rememberNegotiation(aggregatedAllows);
  readonly #written = new Map<string, { readonly text: string; readonly etag: string }>();

  constructor(versions: readonly DiscoveredVersion[]) {
    this.#versions = versions;
  }

  /** undefined: the client wants the plain form. */
  answer(request: PathRequest): PathAnswer | undefined {
    const accept = request.header('accept') ?? '';
    const as = accept === '' ? undefined : this.#negotiate(accept)?.as;
    if (as === undefined) return undefined;
    const { text: content, etag } = this.#write(as.version);
    const headers = ['etag', etag, 'vary', 'Accept', 'cache-control', 'public'];
    if (request.header('if-none-match') === etag) return { code: 304, headers, body: textBody('') };
    const contentType = `application/json;g=${as.group};v=${as.version};as=${as.kind}`;
    return { code: 200, headers: [...headers, 'content-type', contentType], body: textBody(content) };
  }

  #write(version: string): { readonly text: string; readonly etag: string } {
    const before = this.#written.get(version);
    if (before !== undefined) return before;
    const content = `${JSON.stringify(aggregated(this.#versions, `apidiscovery.k8s.io/${version}`))}\n`;
    const written = { text: content, etag: `"${sha512(content)}"` };
    this.#written.set(version, written);
    return written;
  }
}

const tokenCaching = ['cache-control', 'public, max-age=3600'];

function openIdConfiguration({ issuer }: TokenDocuments): PathAnswer {
  const configuration = {
    issuer,
    jwks_uri: `${issuer.replace(/\/$/, '')}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
  return { code: 200, headers: [...tokenCaching, 'content-type', 'application/json'], body: textBody(JSON.stringify(configuration)) };
}

const keySet = (keys: object): PathAnswer => ({
  code: 200,
  headers: [...tokenCaching, 'content-type', 'application/jwk-set+json'],
  body: textBody(JSON.stringify(keys)),
});

function rootPaths(versions: readonly DiscoveredVersion[], options: PathOptions): readonly string[] {
  const checks = (root: string, names: readonly string[]): string[] => [root, ...['ping', ...names].map((name) => `${root}/${name}`)];
  const live = options.health.live.map(({ name }) => name);
  const ready = options.health.ready.map(({ name }) => name);
  const groups = versions.map(({ group, version }) => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`));
  return [
    ...(options.tokens === undefined ? [] : ['/.well-known/openid-configuration', '/openid/v1/jwks']),
    '/api',
    '/apis',
    '/apis/',
    ...groups,
    ...apiGroups(versions).map(({ name }) => `/apis/${name}`),
    ...checks('/healthz', live),
    ...checks('/livez', live),
    ...checks('/readyz', ready),
    ...(options.openApi === undefined ? [] : ['/openapi/v2', '/openapi/v3', '/openapi/v3/']),
    '/metrics',
    '/version',
  ].sort();
}
