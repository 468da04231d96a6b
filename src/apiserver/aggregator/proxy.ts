import type { APIService } from '../../api/generated/types.ts';
import { availableCondition } from '../../api/kinds/apiregistration/api-service.ts';
import { statusErrors } from '../../api/status.ts';
import type { Timers } from '../../world/world.ts';
import type { ServiceResolver } from '../admission/webhooks/service-resolver.ts';
import type { User } from '../api.ts';
import type { Exchange } from '../exchange.ts';
import { pipeToClient } from '../streams/pipe-to-client.ts';
import { forwardedHeaders, forwardedRequestHeaders } from '../streams/pod-proxy.ts';
import type { RemoteServers } from './remote-server.ts';

/** A request that was authenticated and authorized here. */
export interface ProxiedRequest {
  readonly exchange: Exchange;
  readonly user: User;
  readonly auditId: string;
  readonly isWatch: boolean;
  readonly limits: { readonly bodyBytes: number; readonly requestMs: number };
}

export interface ProxyContext {
  readonly service: APIService;
  readonly services: Pick<ServiceResolver, 'resolve'>;
  readonly servers: RemoteServers;
  readonly timers: Timers;
}

/** Passes a request on to the server behind an APIService. Resolves with the code of the answer once it flows. @throws ApiError */
export async function passOn(
  { exchange, user, auditId, isWatch, limits }: ProxiedRequest,
  { service, services, servers, timers }: ProxyContext,
): Promise<number> {
  if (exchange.upgrade !== undefined) throw statusErrors.badRequest('no other protocol than HTTP is passed on to aggregated API servers');
  const refuse = (message: string): number => {
    const headers = ['audit-id', auditId, 'content-type', 'text/plain; charset=utf-8', 'x-content-type-options', 'nosniff'];
    exchange.respond({ code: 503, headers }, Buffer.from(`${message}\n`));
    return 503;
  };
  if (availableCondition(service)?.status !== 'True') return refuse('service unavailable');
  const { namespace = '', name = '', port = 443 } = service.spec.service ?? {};
  const address = await services.resolve({ namespace, name, port }).catch(() => undefined);
  if (address === undefined) return refuse('service unavailable');
  const controller = new AbortController();
  exchange.onClose(() => controller.abort());
  const { method } = exchange;
  const path = pathOf(exchange.target);
  const body = method === 'GET' || method === 'HEAD' ? new Uint8Array() : await exchange.body(limits.bodyBytes);
  // A watch lasts as long as its client and the server like; another request is answered whole in time, or not at all.
  const cancel = isWatch ? () => undefined : timers.after(limits.requestMs, () => controller.abort());
  try {
    const answer = await servers.send({ service, address, user, method, path, headers: requestHeaders(exchange), body, signal: controller.signal });
    answer.body.once('close', cancel);
    const headers = ['audit-id', auditId, ...withoutAuditId(forwardedHeaders(answer))];
    if (method === 'HEAD') exchange.respond({ code: answer.code, headers }, new Uint8Array());
    if (method === 'HEAD') answer.body.resume();
    else pipeToClient(answer.body, exchange, { code: answer.code, headers });
    return answer.code;
  } catch (error) {
    cancel();
    return refuse(`error trying to reach service: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A client of a proxy sends a whole URL. Its path was authorized, which is not always what stands there: '/a/../b' is '/b'. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const { pathname, search } = new URL(target);
  return `${pathname}${search}`;
}

/** Headers by which a client could pose as another user to a server that trusts this one. */
function requestHeaders(exchange: Exchange): Record<string, string[]> {
  return Object.fromEntries(Object.entries(forwardedRequestHeaders(exchange)).filter(([name]) => !name.startsWith('x-remote-')));
}

function withoutAuditId(headers: readonly string[]): string[] {
  return headers.filter((_, i) => headers[i - (i % 2)] !== 'audit-id');
}
