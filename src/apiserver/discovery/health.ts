import { textBody } from '../render/body.ts';
import type { PathAnswer, PathRequest } from './path-request.ts';

/** Something that must be so for the server to be well. */
export interface HealthCheck {
  readonly name: string;
  /** undefined: all is well; otherwise what is not. */
  check(): string | undefined;
}

/** /healthz, /livez, /readyz, each by its own checks; also `…/<check>`, `?verbose` and `?exclude=<check>`. */
export interface Health {
  readonly live: readonly HealthCheck[];
  readonly ready: readonly HealthCheck[];
}

const endpoints: Readonly<Record<string, keyof Health>> = { healthz: 'live', livez: 'live', readyz: 'ready' };

const ping: HealthCheck = { name: 'ping', check: () => undefined };

export function answerHealth(request: PathRequest, health: Health): PathAnswer | undefined {
  const [endpoint = '', only, ...rest] = request.path.slice(1).split('/');
  const kind = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
  if (kind === undefined || rest.length > 0) return undefined;
  const checks = [ping, ...health[kind]];
  if (only === undefined || only === '') return allChecks(endpoint, checks, request.query);
  const check = checks.find(({ name }) => name === only);
  return check === undefined ? undefined : oneCheck(check);
}

function oneCheck(check: HealthCheck): PathAnswer {
  const problem = check.check();
  return problem === undefined ? plain(200, 'ok') : plain(500, `internal server error: ${problem}\n`);
}

/** Lists all checks, but not the reason of a failure: anonymous clients may read it. */
function allChecks(endpoint: string, checks: readonly HealthCheck[], query: URLSearchParams): PathAnswer {
  const excluded = new Set(query.getAll('exclude'));
  let failed = false;
  const lines = checks.map((check) => {
    if (excluded.delete(check.name)) return `[+]${check.name} excluded: ok\n`;
    if (check.check() === undefined) return `[+]${check.name} ok\n`;
    failed = true;
    return `[-]${check.name} failed: reason withheld\n`;
  });
  if (excluded.size > 0) {
    const unknown = [...excluded].sort().map((name) => JSON.stringify(name));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.join(',')}\n`);
  }
  if (failed) return plain(500, `${lines.join('')}${endpoint} check failed\n`);
  return plain(200, query.has('verbose') ? `${lines.join('')}${endpoint} check passed\n` : 'ok');
}

const plain = (code: number, text: string): PathAnswer => ({
  code,
  headers: ['content-type', 'text/plain; charset=utf-8', 'x-content-type-options', 'nosniff'],
  body: textBody(text),
});
