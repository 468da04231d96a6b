/** The variables of CEL expressions in one request. CEL calls this an activation. */
import { type AuthorizerDecision, type CheckAccess, CelAuthorizer } from '../../../api/admission/authorizer.ts';
import { celValue } from '../../../api/admission/expressions.ts';
import type { Namespace } from '../../../api/generated/types.ts';
import type { User } from '../../api.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { AdmissionRequest } from '../chain.ts';
import { requestAttributes, nameOf, type VersionedObjects } from './attributes.ts';

export type Activation = Readonly<Record<string, unknown>>;

/** `namespace`: undefined if the object has none, or the expressions have no `namespaceObject`. */
export function activationOf(request: AdmissionRequest, { resource, object, old }: VersionedObjects, namespace: Namespace | undefined): Activation {
  return {
    object: object === undefined ? null : celValue(object),
    oldObject: old === undefined ? null : celValue(old),
    request: celValue(requestAttributes(request, resource)),
    namespaceObject: namespace === undefined ? null : celValue(shownNamespace(namespace)),
  };
}

/** `namespaceObject` lacks some of the metadata, as in Kubernetes. */
function shownNamespace({ metadata, spec, status }: Namespace): Partial<Namespace> {
  const { managedFields: _fields, ownerReferences: _owners, selfLink: _link, ...shown } = metadata;
  return { metadata: shown, spec, status };
}

/** `authorizer`: absent if every user may do everything. */
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
  // CEL evaluates synchronously: an authorizer that needs I/O has no answer here.
  if (decision instanceof Promise) throw new Error('the authorizer cannot answer synchronously');
  return { allowed: decision.allowed, reason: decision.reason ?? '' };
}
