import { ApiError, statusErrors } from '../../api/status.ts';
import type { Log } from '../../world/world.ts';
import { wantsPretty } from '../render/pretty.ts';
import { renderStatus } from '../render/status.ts';
import type { Exchange } from '../exchange.ts';
import { type Reply, standardHeaders } from './reply.ts';

const noQuery = new URLSearchParams();

/** The cause goes to the log alone: it may show more than the client may see. */
const ownFault = statusErrors.internal('the request failed; the log of the server says why');

export async function failureReply(failure: { exchange: Exchange; auditId: string; error: unknown; log: Log }): Promise<Reply> {
  const { exchange, auditId, error, log } = failure;
  const known = error instanceof ApiError ? error : ownFault;
  if (known === ownFault) {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error('request failed', { auditId, method: exchange.method, target: exchange.target, cause });
  }
  const question = exchange.target.indexOf('?');
  const query = question < 0 ? noQuery : new URLSearchParams(exchange.target.slice(question + 1));
  const rendered = await renderStatus(known.toStatus(), exchange.header('accept'), wantsPretty(query, exchange.header('user-agent') ?? ''));
  const headers = standardHeaders(auditId, rendered.contentType, known.warnings);
  const wait = known.details?.retryAfterSeconds ?? 0;
  if (wait > 0) headers.push('retry-after', String(wait));
  if (known.code === 403) headers.push('x-content-type-options', 'nosniff');
  return { code: known.code, headers, body: rendered.body };
}
