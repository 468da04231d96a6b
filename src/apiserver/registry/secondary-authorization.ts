import type { RequestInfo } from '../../api/request-info.ts';
import { type Authorizer, forbiddenError } from '../authorization/authorizer.ts';
import type { Call } from './registry.ts';

/** Authorizes another verb or subresource on the object of a request, beside the request itself. @throws ApiError 403 */
export async function requireAuthorization(
  authorizer: Authorizer,
  { request: { user }, route }: Call,
  { verb, subresource }: Pick<RequestInfo & { type: 'resource' }, 'verb' | 'subresource'>,
): Promise<void> {
  const { kind } = route.resource;
  const { namespace, name } = route;
  const attributes: RequestInfo = { type: 'resource', verb, group: kind.group, version: kind.version, resource: kind.plural, subresource, namespace, name };
  const decision = await authorizer.authorize(user, attributes);
  if (!decision.allowed) throw forbiddenError(user, attributes, decision.reason);
}
