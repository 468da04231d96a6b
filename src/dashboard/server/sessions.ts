import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { User } from '../../apiserver/api.ts';
import type { Clock } from '../../world/world.ts';

/** What a browser gets for a code. Both parts are needed: the cookie is out of reach of scripts, the token out of reach of other sites and ports. */
export interface Session {
  readonly cookie: string;
  readonly token: string;
  readonly user: User;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface SessionsOptions {
  /** Sessions outlive the process that has the same secret. */
  readonly secret: string;
  readonly clock: Clock;
}

const codeMs = 60_000;
const sessionMs = 12 * 60 * 60 * 1000;
/** Codes that wait for their browser; further ones replace the oldest. */
const maxCodes = 1000;
/** Ended sessions that are remembered; the oldest are forgotten first. */
const maxEnded = 10_000;
/** A browser keeps no cookie above 4096 bytes. */
const maxCookie = 3800;

interface Content {
  readonly id: string;
  readonly user: User;
  readonly expiresAt: number;
}

/**
 * One-time codes, and the sessions that browsers get for them. A session is signed and not stored: it survives a restart of the server, and every
 * server of a cluster knows it.
 */
export class Sessions {
  readonly #clock: Clock;
  readonly #key: Buffer;
  readonly #codes = new Map<string, { readonly user: User; readonly expiresAt: number }>();
  readonly #ended = new Set<string>();

  constructor({ secret, clock }: SessionsOptions) {
    this.#clock = clock;
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'mooring dashboard sessions', 32));
  }

  /** For a user that has shown its credentials. */
  issueCode(user: User): { readonly code: string; readonly expiresAt: number } {
    const code = randomBytes(32).toString('base64url');
    const expiresAt = this.#clock.now() + codeMs;
    this.#codes.set(code, { user, expiresAt });
    deleteOldest(this.#codes, maxCodes);
    return { code, expiresAt };
  }

  /** Once. Undefined: there is no such code, or not any more. */
  redeem(code: string): Session | undefined {
    const issued = this.#codes.get(code);
    this.#codes.delete(code);
    if (issued === undefined || issued.expiresAt < this.#clock.now()) return undefined;
    const content: Content = { id: randomBytes(32).toString('base64url'), user: issued.user, expiresAt: this.#clock.now() + sessionMs };
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    const cookie = `${payload}.${this.#sign('cookie', payload)}`;
    if (cookie.length > maxCookie) return undefined;
    return { cookie, token: this.#sign('token', payload), user: issued.user, expiresAt: content.expiresAt };
  }

  /** Undefined: one of the two is wrong, or the session is over. */
  userOf(cookie: string, token: string): User | undefined {
    const content = this.#contentOf(cookie, token);
    return content === undefined || content.expiresAt < this.#clock.now() || this.#ended.has(content.id) ? undefined : content.user;
  }

  end(cookie: string, token: string): void {
    const content = this.#contentOf(cookie, token);
    if (content === undefined) return;
    this.#ended.add(content.id);
    deleteOldest(this.#ended, maxEnded);
  }

  #contentOf(cookie: string, token: string): Content | undefined {
    const [payload = '', signature = ''] = cookie.split('.');
    // Both are compared in any case: the time must not say which one is wrong.
    const signed = [equal(signature, this.#sign('cookie', payload)), equal(token, this.#sign('token', payload))];
    if (signed.includes(false)) return undefined;
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Content;
  }

  #sign(purpose: 'cookie' | 'token', payload: string): string {
    return createHmac('sha256', this.#key).update(`${purpose}:${payload}`).digest('base64url');
  }
}

function equal(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function deleteOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}
