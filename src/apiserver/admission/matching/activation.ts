/** What expressions get to see of a request. */
import { type AuthorizerDecision, type CheckAccess, CelAuthorizer } from '../../../api/admission/authorizer.ts';
import { celValue } from '../../../api/admission/expressions.ts';
import type { Namespace } from '../../../api/generated/types.ts';
import type { User } from '../../api.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { AdmissionRequest } from '../chain.ts';
import { requestAttributes, nameOf, type VersionedObjects } from './attributes.ts';

export type Activation = Readonly<Record<string, unknown>>;

/** `namespace`: undefined if the object is in none, or nobody asks. */
export function activationOf(request: AdmissionRequest, { resource, object, old }: VersionedObjects, namespace: Namespace | undefined): Activation {
  return {
    object: object === undefined ? null : celValue(object),
    oldObject: old === undefined ? null : celValue(old),
    request: celValue(requestAttributes(request, resource)),
    namespaceObject: namespace === undefined ? null : celValue(shownNamespace(namespace)),
  };
}

/** Not all of its metadata are anybody's business. */
function shownNamespace({ metadata, spec, status }: Namespace): Partial<Namespace> {
  const { managedFields: _fields, ownerReferences: _owners, selfLink: _link, ...shown } = metadata;
  return { metadata: shown, spec, status };
}

/** `authorizer`: absent where everybody may do everything. */
export function authorizerValue(request: AdmissionRequest, authorizer: Authorizer | undefined): CelAuthorizer {
  const { kind } = request.resource;
  const ask: CheckAccess = (question, as) => {
    const user = as === undefined ? request.user : serviceAccount(as.namespace, as.name);
    return authorizer === undefined ? { allowed: true, reason: '' } : answered(authorizer, user, question);
  };
  const requested = { group: kind.group, resource: kind.plural, subresource: request.subresource, namespace: request.namespace, name: nameOf(request) };
  return new CelAuthorizer(ask, requested);
}

const serviceAccount = (namespace: string, name: string): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});

function answered(authorizer: Authorizer, user: User, question: Parameters<CheckAccess>[0]): AuthorizerDecision {
  const decision = authorizer.authorize(user, question.type === 'path' ? question : { ...question, version: '*' });
  // Roles are at hand. Whoever has to ask elsewhere cannot be asked in the middle of an expression.
  if (decision instanceof Promise) throw new Error('the authorizer has no answer at hand');
  return { allowed: decision.allowed, reason: decision.reason ?? '' };
}
