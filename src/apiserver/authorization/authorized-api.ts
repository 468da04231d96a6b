import type { Api } from '../api.ts';
import { requestInfo } from '../request-info.ts';
import { type Authorizer, forbiddenError } from './authorizer.ts';

/** The same API for callers that do not come through HTTP, who are authorised there: a request that its user may not make is a 403. */
export function authorizedApi(api: Api, authorizer: Authorizer): Api {
  return {
    handle: async (request) => {
      const attributes = requestInfo(request.method, request);
      const decision = await authorizer.authorize(request.user, attributes);
      if (!decision.allowed) throw forbiddenError(request.user, attributes, decision.reason);
      return api.handle(request);
    },
  };
}
