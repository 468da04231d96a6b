import type { User } from '../api.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from './reply.ts';

/** Pages for browsers beside the API, and the sessions that their requests have. `dashboard/server` implements it. */
export interface Pages {
  /** Whether a path is one of the pages. */
  has(path: string): boolean;
  /** `credentials`: the user of the certificate or token that came with the request. @throws ApiError */
  answer(exchange: Exchange, path: string, credentials: () => Promise<User>): Promise<Reply>;
  /** The user of a request that a page sent; undefined: the request has no session. @throws ApiError 401 or 403 if it has one that does not count */
  userOf(exchange: Exchange): User | undefined;
}
