import type { Api } from '../api.ts';
import { type Authorizer, forbiddenError } from './authorizer.ts';

/** The same API, with authorization, for callers in the server's own process. @throws ApiError 403 */
export function authorizedApi(api: Api, authorizer: Authorizer): Api {
  return {
    handle: async (request) => {
      const { user, info } = request;
      const decision = await authorizer.authorize(user, info);
      if (!decision.allowed) throw forbiddenError(user, info, decision.reason);
      return api.handle(request);
    },
  };
}
