import type { ClusterRole, PolicyRule, Role, RoleBinding } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { rbacGroup } from '../../../api/kinds/rbac/policy-rules.ts';
import type { RequestInfo } from '../../../api/request-info.ts';
import { statusErrors } from '../../../api/status.ts';
import { semanticallyEqual } from '../../../api/validation/equality.ts';
import type { User } from '../../api.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { aggregate, type RbacAuthorizer } from '../../authorization/rbac/authorizer.ts';
import { describeRules, goList, missingRules } from '../../authorization/rbac/rule.ts';
import { rule, urls } from '../../authorization/rbac/rule-text.ts';
import { superusers } from '../../user.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../chain.ts';

/** The authorizer, and the rules of the stored roles. */
export interface AccessRules {
  readonly authorizer: Authorizer;
  readonly rbac: Pick<RbacAuthorizer, 'rulesFor' | 'resolve'>;
}

const everything: readonly PolicyRule[] = [rule('*', '*', '*'), urls('*', '*')];

/**
 * A user can grant, by a role or a binding, only the rights that the user has, unless the user may `escalate` roles or
 * `bind` that role (upstream: rbac/validation, policybased). Runs after all mutations.
 */
export function roleEscalation({ authorizer, rbac }: AccessRules): AdmissionPlugin {
  const may = async (user: User, attributes: Extract<RequestInfo, { type: 'resource' }>): Promise<boolean> =>
    (await authorizer.authorize(user, attributes)).allowed;

  const confirm = ({ user, namespace }: AdmissionRequest, rules: readonly PolicyRule[]): string | undefined => {
    const { rules: owned, errors } = rbac.rulesFor(user, namespace);
    const missing = missingRules(owned, rules);
    if (missing.length === 0) return undefined;
    const text = `user ${JSON.stringify(user.name)} (groups=${goList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRules(missing).join('\n')}`;
    return errors.length === 0 ? text : `${text}; resolution errors: [${aggregate(errors)}]`;
  };

  const checkRole = async (request: AdmissionRequest): Promise<void> => {
    const { resource, namespace, name, user } = request;
    const attributes = {
      type: 'resource',
      verb: 'escalate',
      group: rbacGroup,
      version: '*',
      resource: resource.kind.plural,
      subresource: '',
      namespace,
    } as const;
    // The name of a created role is not in the URL: a right to escalate certain names does not cover it.
    if (await may(user, { ...attributes, name: request.operation === 'create' ? '' : name })) return;
    const role = request.object as Role | ClusterRole;
    const escalation = confirm(request, role.rules ?? []);
    if (escalation !== undefined) throw statusErrors.forbidden(resource.kind, role.metadata.name ?? '', escalation);
    if ((aggregates(role) || aggregates(request.old)) && confirm(request, everything) !== undefined) {
      throw statusErrors.forbidden(resource.kind, role.metadata.name ?? '', 'must have cluster-admin privileges to use the aggregationRule');
    }
  };

  const checkBinding = async (request: AdmissionRequest): Promise<void> => {
    const { resource, namespace, user } = request;
    const { roleRef, metadata } = request.object as RoleBinding;
    if (roleRef.kind !== 'Role' && roleRef.kind !== 'ClusterRole') return;
    const attributes = { type: 'resource', verb: 'bind', group: roleRef.apiGroup, version: '*', subresource: '', namespace, name: roleRef.name } as const;
    if (await may(user, { ...attributes, resource: `${roleRef.kind.toLowerCase()}s` })) return;
    const role = rbac.resolve(roleRef, namespace);
    if (!role.found) throw statusErrors.notFound({ group: rbacGroup, kind: roleRef.kind, plural: `${roleRef.kind.toLowerCase()}s` }, roleRef.name);
    const escalation = confirm(request, role.rules);
    if (escalation !== undefined) throw statusErrors.forbidden(resource.kind, metadata.name ?? '', escalation);
  };

  return {
    name: 'RoleEscalation',
    handles: (operation, { kind }, subresource) => operation !== 'delete' && subresource === '' && kind.group === rbacGroup,
    mutate: async (request) => {
      if (request.user.groups.includes(superusers)) return;
      if (request.old !== undefined && changesOwnersOnly(request.object, request.old)) return;
      return request.resource.kind.plural.endsWith('bindings') ? checkBinding(request) : checkRole(request);
    },
  };
}

const aggregates = (role: KubeObject | undefined): boolean => ((role as ClusterRole | undefined)?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;

/** Such updates come from the garbage collector, which has no other rights on roles. */
function changesOwnersOnly(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields } = old.metadata;
  return semanticallyEqual({ ...object, metadata: { ...object.metadata, ownerReferences, finalizers, managedFields } }, old);
}
