import type { Api } from '../api.ts';
import { type Authorizer, forbiddenError } from './authorizer.ts';

/** The same API for callers that do not come through HTTP, who are authorised there: a request that its user may not make is a 403. */
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
