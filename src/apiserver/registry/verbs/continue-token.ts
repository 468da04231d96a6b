/** The continue token of a list: the revision it is read at, and the next key. Opaque to clients. */
import { statusErrors } from '../../../api/status.ts';

export interface Position {
  /** -1: the current one, since the revision at which the list began is compacted. */
  readonly revision: number;
  readonly key: string;
}

const FORMAT = 'meta.k8s.io/v1';

export function encodeContinue({ revision, key }: Position, prefix: string): string {
  return Buffer.from(JSON.stringify({ v: FORMAT, rv: revision, start: key.slice(prefix.length) })).toString('base64url');
}

/** @throws ApiError 400 */
export function decodeContinue(token: string, prefix: string): Position {
  const { v, rv, start } = parse(token);
  if (v !== FORMAT) throw invalidToken(`continue key is not valid: server does not recognize this encoded version ${String(v)}`);
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw invalidToken('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw invalidToken('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  // The key must lie below the prefix: '..' and empty segments are refused.
  const path = start.startsWith('/') ? start.slice(1) : start;
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) throw invalidToken(`continue key is not valid: ${start}`);
  return { revision: rv < 0 ? -1 : rv, key: prefix + path };
}

function parse(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  if (!/^[A-Za-z0-9_-]+$/.test(token)) throw invalidToken('continue key is not valid: illegal base64 data');
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    throw invalidToken('continue key is not valid: not a token of this server');
  }
}

const invalidToken = (why: string): Error => statusErrors.badRequest(`invalid continue token: ${why}`);
