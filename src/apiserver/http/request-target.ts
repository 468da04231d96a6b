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

const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1e3, m: 60e3, h: 3600e3 };

/** Milliseconds of `?timeout=1m30s`; 0: none. @throws ApiError 400 */
export function requestedTimeout(query: URLSearchParams): number {
  const value = query.get('timeout') ?? '';
  if (value === '' || value === '0') return 0;
  if (!/^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(value)) {
    throw statusErrors.badRequest(`invalid timeout specified in the request URL - time: ${durationProblem(value)}`);
  }
  let total = 0;
  for (const [, amount = '0', unit = 's'] of value.matchAll(/(\d+\.?\d*|\.\d+)([a-zµμ]+)/g)) total += Number(amount) * (unitMs[unit] ?? 0);
  return value.startsWith('-') ? 0 : total;
}

/** As Go's time.ParseDuration says it. */
function durationProblem(value: string): string {
  const quoted = JSON.stringify(value);
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(value)) return `missing unit in duration ${quoted}`;
  const unknown = /^[+-]?(?:\d+\.?\d*|\.\d+)([^\d.]+)/.exec(value);
  const unit = unknown?.[1];
  return unit !== undefined && unitMs[unit] === undefined ? `unknown unit ${JSON.stringify(unit)} in duration ${quoted}` : `invalid duration ${quoted}`;
}
