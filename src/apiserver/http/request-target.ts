import { parseGoDuration } from '../../api/go-duration.ts';
import { statusErrors } from '../../api/status.ts';

/** The two halves of a request's target. The path is still percent-encoded. */
export interface RequestTarget {
  readonly path: string;
  readonly query: URLSearchParams;
}

const noQuery = new URLSearchParams();

/** @throws ApiError 400 for a target that is no path. */
export function parseTarget(target: string): RequestTarget {
  if (!target.startsWith('/')) return parseAbsolute(target);
  const question = target.indexOf('?');
  if (question < 0) return { path: target, query: noQuery };
  return { path: target.slice(0, question), query: new URLSearchParams(target.slice(question + 1)) };
}

/** Proxies send absolute URLs. */
function parseAbsolute(target: string): RequestTarget {
  if (target === '*') return { path: '*', query: noQuery };
  if (!URL.canParse(target)) throw statusErrors.badRequest('the request target is not a path');
  const url = new URL(target);
  return { path: url.pathname, query: url.searchParams };
}

/** Milliseconds of `?timeout=1m30s`; 0: none. @throws ApiError 400 */
export function requestedTimeout(query: URLSearchParams): number {
  const value = query.get('timeout') ?? '';
  if (value === '') return 0;
  const duration = parseGoDuration(value);
  if (duration.problem !== undefined) throw statusErrors.badRequest(`invalid timeout specified in the request URL - ${duration.problem}`);
  return Math.max(0, duration.seconds * 1000);
}
