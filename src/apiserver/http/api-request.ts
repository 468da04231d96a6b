import type { RequestInfo } from '../../api/request-info.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import type { Random } from '../../world/world.ts';
import type { ApiRequest, Fence, RequestBody, User } from '../api.ts';
import type { Exchange } from '../exchange.ts';

interface Received {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly bodyLimit: number;
  readonly extensions: boolean;
}

/** Reads the body of a request. @throws ApiError */
export async function apiRequest({ exchange, info, query, user, bodyLimit, extensions }: Received): Promise<ApiRequest> {
  const fence = extensions ? fenceOf(exchange.header(fenceHeader)) : undefined;
  return {
    info,
    query,
    user,
    body: exchange.method === 'GET' ? emptyBody : await bodyOf(exchange, bodyLimit),
    userAgent: exchange.header('user-agent') ?? '',
    ...(fence === undefined ? {} : { fence }),
  };
}

const emptyBody: RequestBody = { type: 'none' };

async function bodyOf(exchange: Exchange, limit: number): Promise<RequestBody> {
  const encoding = exchange.header('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new ApiError(415, 'UnsupportedMediaType', `the body of the request is compressed (${encoding}): send it without content-encoding`);
  }
  const bytes = await exchange.body(limit);
  if (bytes.length === 0 && exchange.method === 'DELETE') return emptyBody;
  const contentType = (exchange.header('content-type') ?? '').split(';')[0] ?? '';
  return { type: 'bytes', contentType: contentType.trim().toLowerCase(), bytes };
}

/** The lease and the epoch under which a leader writes: `kube-system/moor-controllers;epoch=42`. */
export const fenceHeader = 'mooring-fence';

function fenceOf(header: string | undefined): Fence | undefined {
  if (header === undefined) return undefined;
  const match = /^([^/;\s]+\/[^/;\s]+);epoch=(\d{1,15})$/.exec(header);
  if (match === null) throw statusErrors.badRequest(`invalid ${fenceHeader} header: must be <namespace>/<lease>;epoch=<number>`);
  return { lease: match[1] ?? '', epoch: Number(match[2]) };
}

/** The client's own id if it sends one. */
export function auditIdOf(exchange: Exchange, random: Random): string {
  const given = exchange.header('audit-id');
  return given === undefined || given === '' || given.length > 256 ? random.uuid() : given;
}
