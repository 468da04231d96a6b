import { forbidden } from '../../../api/field-error.ts';
import type { ParamKind, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../api/generated/types.ts';
import { apiVersionOf } from '../../../api/kind.ts';
import { admissionGroup } from '../../../api/kinds/admissionregistration/admission-kind.ts';
import { statusErrors } from '../../../api/status.ts';
import { semanticallyEqual } from '../../../api/validation/equality.ts';
import type { User } from '../../api.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { superusers } from '../../user.ts';
import type { Resources } from '../../objects/resources.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../chain.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';

export interface ParamAccess {
  readonly authorizer: Authorizer;
  readonly resources: Resources;
  readonly reader: ClusterReader;
}

/** The author of a policy or binding must be allowed to read its params, since the policy's messages may show them. */
export function paramAccess(access: ParamAccess): AdmissionPlugin {
  return {
    name: 'PolicyParamAccess',
    handles: (operation, { kind }, subresource) => operation !== 'delete' && subresource === '' && kind.group === admissionGroup && /polic/.test(kind.plural),
    validate: (request) => {
      // system:masters may read everything.
      if (request.user.groups.includes(superusers)) return undefined;
      return request.resource.kind.plural.endsWith('bindings') ? checkBinding(request, access) : checkPolicy(request, access);
    },
  };
}

async function checkPolicy(request: AdmissionRequest, access: ParamAccess): Promise<void> {
  const { paramKind } = (request.object as ValidatingAdmissionPolicy).spec;
  const before = (request.old as ValidatingAdmissionPolicy | undefined)?.spec.paramKind;
  if (paramKind === undefined || semanticallyEqual(paramKind, before)) return;
  const attributes = { ...targetOf(paramKind, access.resources), verb: 'get', name: '*', namespace: '*' };
  if (await may(request.user, attributes, access)) return;
  const { apiVersion = '', kind = '' } = paramKind;
  const why = `must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  refuse(request, 'spec.paramKind', `user ${shown(request.user)} ${why}`);
}

async function checkBinding(request: AdmissionRequest, access: ParamAccess): Promise<void> {
  const { spec } = request.object as ValidatingAdmissionPolicyBinding;
  const before = (request.old as ValidatingAdmissionPolicyBinding | undefined)?.spec;
  const { paramRef, policyName = '' } = spec;
  if (paramRef === undefined || (semanticallyEqual(paramRef, before?.paramRef) && policyName === before?.policyName)) return;
  const policies = access.resources.require(apiVersionOf(request.resource.kind), request.resource.kind.plural.replace(/ybindings$/, 'ies'));
  const policy = await access.reader.get<ValidatingAdmissionPolicy>(policies, '', policyName);
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  const target = policy?.spec.paramKind === undefined ? everything : targetOf(policy.spec.paramKind, access.resources);
  if (await may(request.user, { ...target, verb, name, namespace }, access)) return;
  const user = shown(request.user);
  const everywhere = `user ${user} does not have "${verb}" permission for all groups, versions and resources`;
  if (policy === undefined) refuse(request, 'spec.paramRef', `unable to get policy ${policyName} to determine minimum required permissions and ${everywhere}`);
  refuse(request, 'spec.paramRef', `user ${user} does not have "${verb}" permission on the object referenced by paramRef`);
}

interface Target {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

const everything: Target = { group: '*', version: '*', resource: '*' };

/** An unknown kind stands for all resources of its version. */
function targetOf({ apiVersion = '', kind = '' }: ParamKind, resources: Resources): Target {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return { group, version, resource: resources.findKind(apiVersion, kind)?.kind.plural ?? '*' };
}

async function may(user: User, attributes: Target & { verb: string; name: string; namespace: string }, { authorizer }: ParamAccess): Promise<boolean> {
  return (await authorizer.authorize(user, { type: 'resource', subresource: '', ...attributes })).allowed;
}

/** As Go prints it. */
const shown = ({ name, uid = '', groups, extra = {} }: User): string =>
  `&{${name} ${uid} [${groups.join(' ')}] map[${Object.entries(extra)
    .map(([key, values]) => `${key}:[${values.join(' ')}]`)
    .join(' ')}]}`;

function refuse({ resource, object }: AdmissionRequest, field: string, why: string): never {
  throw statusErrors.invalid(resource.kind, object.metadata.name ?? '', [forbidden(field, why)]);
}
