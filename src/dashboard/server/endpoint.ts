import { ApiError, statusErrors } from '../../api/status.ts';
import type { User } from '../../apiserver/api.ts';
import type { Exchange } from '../../apiserver/exchange.ts';
import type { Pages } from '../../apiserver/http/pages.ts';
import type { Reply } from '../../apiserver/http/reply.ts';
import { type PageFile, securityHeaders } from './page-files.ts';
import { type BrowserRequest, crossSiteRefusal, type Reach, refusal } from './request-checks.ts';
import type { Session, Sessions } from './sessions.ts';

/** With a request of the page: the part of a session that other sites and ports do not have. */
export const sessionHeader = 'mooring-session';
export const pageRoot = '/ui/';
const codePath = `${pageRoot}code`;
const sessionPath = `${pageRoot}session`;
const maxBody = 4096;

export interface DashboardEndpointOptions {
  /** Called with the first request for one: most starts of a server see none. @throws if the page was not built */
  readonly files: () => ReadonlyMap<string, PageFile>;
  readonly sessions: Sessions;
  readonly reach: Reach;
  /** Shown by the page. */
  readonly about: DashboardFacts;
}

/** What the page cannot learn from the API. */
export interface DashboardFacts {
  /** 'https://127.0.0.1:6443' of another cluster; absent: the server of the page. */
  readonly cluster?: string;
  /** Writes are refused whatever the user may do. */
  readonly readOnly: boolean;
}

/**
 * The dashboard below /ui/.
 *
 *     POST   /ui/code      with a certificate or token: a code for its user, good for one session within a minute
 *     POST   /ui/session   with a code: the session, as a cookie and a token
 *     DELETE /ui/session   ends it
 *     GET    /ui/…         the files of the page; they are the same for all, and need no session
 *
 * The page has no rights of its own: its requests are those of the session's user.
 */
export class DashboardEndpoint implements Pages {
  readonly #options: DashboardEndpointOptions;
  #files: ReadonlyMap<string, PageFile> | undefined;

  constructor(options: DashboardEndpointOptions) {
    this.#options = options;
  }

  has(path: string): boolean {
    return path === '/ui' || path.startsWith(pageRoot);
  }

  async answer(exchange: Exchange, path: string, credentials: () => Promise<User>): Promise<Reply> {
    const request = browserRequest(exchange);
    const refused = refusal(request, this.#options.reach);
    if (refused !== undefined) throw forbidden(refused);
    if (path === '/ui') return { code: 301, headers: ['location', pageRoot, ...securityHeaders], body: whole('') };
    if (path === codePath) return this.#issueCode(request, credentials);
    if (path === sessionPath) return this.#answerSession(exchange, request);
    this.#files ??= this.#options.files();
    const file = this.#files.get(path === pageRoot ? 'index.html' : path.slice(pageRoot.length));
    if (file === undefined) throw statusErrors.noSuchPath();
    if (request.method !== 'GET' && request.method !== 'HEAD') throw statusErrors.methodNotAllowedHere();
    const caching = file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache';
    return { code: 200, headers: ['content-type', file.type, 'cache-control', caching, ...securityHeaders], body: { type: 'whole', bytes: file.bytes } };
  }

  userOf(exchange: Exchange): User | undefined {
    const token = exchange.header(sessionHeader);
    if (token === undefined) return undefined;
    const request = browserRequest(exchange);
    const refused = refusal(request, this.#options.reach) ?? crossSiteRefusal(request);
    if (refused !== undefined) throw forbidden(refused);
    const user = this.#options.sessions.userOf(cookieOf(request), token);
    if (user === undefined) throw statusErrors.unauthorized('the session is over: run "moor dashboard" again');
    return user;
  }

  /** A program asks for it, and never a page: a session could be made to last for ever. */
  async #issueCode(request: BrowserRequest, credentials: () => Promise<User>): Promise<Reply> {
    if (request.method !== 'POST') throw statusErrors.methodNotAllowedHere();
    if (request.header('sec-fetch-site') !== undefined || request.header(sessionHeader) !== undefined)
      throw forbidden('a code is for a program that has credentials of its own, not for a page');
    const user = await credentials();
    if (!user.groups.includes('system:authenticated')) throw statusErrors.unauthorized();
    const { code, expiresAt } = this.#options.sessions.issueCode(user);
    return json({ apiVersion: 'mooring.dev/v1', kind: 'DashboardCode', code, expiresAt: new Date(expiresAt).toISOString() });
  }

  async #answerSession(exchange: Exchange, request: BrowserRequest): Promise<Reply> {
    const refused = crossSiteRefusal(request);
    if (refused !== undefined) throw forbidden(refused);
    if (request.method === 'POST') return this.#openSession(exchange, request);
    if (request.method !== 'DELETE') throw statusErrors.methodNotAllowedHere();
    this.#options.sessions.end(cookieOf(request), request.header(sessionHeader) ?? '');
    return json({}, ['set-cookie', `${cookieName(request)}=; ${cookieAttributes}; Max-Age=0`]);
  }

  async #openSession(exchange: Exchange, request: BrowserRequest): Promise<Reply> {
    if (!/^application\/json(;|$)/.test(request.header('content-type') ?? '')) throw statusErrors.badRequest('content-type must be application/json');
    const code = codeIn(await exchange.body(maxBody));
    const session = code === undefined ? undefined : this.#options.sessions.redeem(code);
    if (session === undefined) throw statusErrors.unauthorized('the code is used, too old or wrong: run "moor dashboard" again');
    return json(this.#sessionAnswer(session), ['set-cookie', `${cookieName(request)}=${session.cookie}; ${cookieAttributes}`]);
  }

  #sessionAnswer({ token, user, expiresAt }: Session) {
    return { token, user: { name: user.name, groups: user.groups }, expiresAt: new Date(expiresAt).toISOString(), ...this.#options.about };
  }
}

const cookieAttributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** Cookies know no ports: the name keeps two clusters of one machine apart. */
const cookieName = (request: BrowserRequest): string => `__Host-mooring-${/:(\d+)$/.exec(request.header('host') ?? '')?.[1] ?? '443'}`;

function cookieOf(request: BrowserRequest): string {
  const wanted = `${cookieName(request)}=`;
  const found = (request.header('cookie') ?? '').split(';').find((each) => each.trim().startsWith(wanted));
  return found === undefined ? '' : found.trim().slice(wanted.length);
}

function browserRequest(exchange: Exchange): BrowserRequest {
  return {
    method: exchange.method,
    // Over HTTP/2 the authority takes the place of Host.
    header: (name) => exchange.header(name) ?? (name === 'host' && exchange.protocol === 'HTTP/2.0' ? exchange.header(':authority') : undefined),
    localAddress: exchange.socket.localAddress,
  };
}

function codeIn(body: Uint8Array): string | undefined {
  try {
    const { code } = JSON.parse(Buffer.from(body).toString()) as { readonly code?: unknown };
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}

const forbidden = (why: string): ApiError => new ApiError(403, 'Forbidden', why);
const whole = (text: string): Reply['body'] => ({ type: 'whole', bytes: Buffer.from(text) });

const json = (value: unknown, headers: readonly string[] = []): Reply => ({
  code: 200,
  headers: ['content-type', 'application/json', 'cache-control', 'no-store', ...headers, ...securityHeaders],
  body: whole(JSON.stringify(value)),
});
