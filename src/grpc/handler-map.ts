import type { CallHandler } from './channel.ts';
import { RpcError } from './status.ts';

/** The handlers of a server, by path: '/csi.v1.Identity/Probe'. */
export class HandlerMap {
  readonly #handlers: ReadonlyMap<string, CallHandler>;
  readonly #services: ReadonlySet<string>;

  constructor(maps: readonly ReadonlyMap<string, CallHandler>[]) {
    this.#handlers = new Map(maps.flatMap((map) => [...map]));
    this.#services = new Set(Array.from(this.#handlers.keys(), (path) => splitPath(path).service));
  }

  /** Unimplemented: there is none. */
  handlerOf(path: string): CallHandler | RpcError {
    const handler = this.#handlers.get(path);
    if (handler !== undefined) return handler;
    const { service, method } = splitPath(path);
    return new RpcError('Unimplemented', this.#services.has(service) ? `unknown method ${method} for service ${service}` : `unknown service ${service}`);
  }
}

function splitPath(path: string): { readonly service: string; readonly method: string } {
  const slash = path.lastIndexOf('/');
  return { service: path.slice(1, Math.max(slash, 1)), method: path.slice(slash + 1) };
}
