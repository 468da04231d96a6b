import { type FieldError, invalid, required } from '../../../api/field-error.ts';
import type { RequestInfo } from '../../../api/request-info.ts';
import type {
  FieldSelectorAttributes,
  LocalSubjectAccessReview,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '../../../api/generated/types.ts';
import { formatFieldSelector } from '../../../api/selectors/field-selector.ts';
import type { User } from '../../api.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';

type Spec = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>;

/** Validation of the access reviews (upstream: pkg/apis/authorization/validation). */
export function selfAccessErrors({ spec, metadata }: SelfSubjectAccessReview): FieldError[] {
  return [...attributeErrors(spec), ...selectorErrors(spec.resourceAttributes), ...metadataErrors(metadata, 'must be empty')];
}

export function accessErrors({ spec, metadata }: SubjectAccessReview): FieldError[] {
  return [...subjectErrors(spec), ...metadataErrors(metadata, 'must be empty')];
}

export function localAccessErrors({ spec, metadata }: LocalSubjectAccessReview): FieldError[] {
  const { namespace = '', ...rest } = metadata;
  const { resourceAttributes, nonResourceAttributes } = spec;
  const errors = [...subjectErrors(spec), ...metadataErrors(rest, 'must be empty except for namespace')];
  if (resourceAttributes !== undefined && (resourceAttributes.namespace ?? '') !== namespace) {
    errors.push(invalid('spec.resourceAttributes.namespace', resourceAttributes.namespace ?? '', 'must match metadata.namespace'));
  }
  if (nonResourceAttributes !== undefined)
    errors.push(invalid('spec.nonResourceAttributes', goPath(nonResourceAttributes), 'disallowed on this kind of request'));
  return errors;
}

function subjectErrors(spec: SubjectAccessReviewSpec): FieldError[] {
  const lacksSubject = (spec.user ?? '') === '' && (spec.groups ?? []).length === 0;
  return [
    ...attributeErrors(spec),
    ...(lacksSubject ? [invalid('spec.user', '', 'at least one of user or group must be specified')] : []),
    ...selectorErrors(spec.resourceAttributes),
  ];
}

function attributeErrors({ resourceAttributes, nonResourceAttributes }: Spec): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    return [invalid('spec.nonResourceAttributes', goPath(nonResourceAttributes), 'cannot be specified in combination with resourceAttributes')];
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return [];
  return [invalid('spec.resourceAttributes', null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')];
}

function selectorErrors(attributes: ResourceAttributes | undefined): FieldError[] {
  return (['fieldSelector', 'labelSelector'] as const).flatMap((name) => {
    const selector = attributes?.[name];
    if (selector === undefined) return [];
    const field = `spec.resourceAttributes.${name}`;
    const raw = selector.rawSelector ?? '';
    const requirements = (selector.requirements ?? []).length;
    if (raw !== '' && requirements > 0) return [invalid(`${field}.rawSelector`, raw, 'may not specified at the same time as requirements')];
    if (raw !== '' || requirements > 0) return [];
    return [required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`)];
  });
}

function metadataErrors({ managedFields: _managed, ...metadata }: object & { managedFields?: unknown }, detail: string): FieldError[] {
  return Object.keys(metadata).length === 0 ? [] : [invalid('metadata', metadata, detail)];
}

/** As Go prints a struct without JSON tags. */
const goPath = ({ path = '', verb = '' }: { path?: string; verb?: string }) => ({ Path: path, Verb: verb });

export const subjectOf = ({ user = '', groups = [], uid, extra }: SubjectAccessReviewSpec): User => ({
  name: user,
  groups,
  ...(uid === undefined ? {} : { uid }),
  ...(extra === undefined ? {} : { extra }),
});

/** The authorizer's decision and its reason. */
export async function accessStatus(authorizer: Authorizer, user: User, spec: Spec): Promise<SubjectAccessReviewStatus> {
  const { allowed, reason = '' } = await authorizer.authorize(user, attributesOf(spec));
  return { allowed, ...(reason === '' ? {} : { reason }) };
}

/** The selector as a query would have it. Requirements that a query cannot express are ignored. */
function selectorText({ rawSelector = '', requirements = [] }: FieldSelectorAttributes = {}): string {
  const terms = requirements.flatMap(({ key, operator, values = [] }) => {
    const [value] = values;
    if (value === undefined || values.length > 1 || (operator !== 'In' && operator !== 'NotIn')) return [];
    return [{ field: key, equal: operator === 'In', value }];
  });
  return rawSelector === '' ? formatFieldSelector(terms) : rawSelector;
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: Spec): RequestInfo {
  if (resourceAttributes === undefined) return { type: 'path', verb: nonResourceAttributes?.verb ?? '', path: nonResourceAttributes?.path ?? '' };
  const { verb = '', group = '', version = '*', resource = '', subresource = '', namespace = '', name = '' } = resourceAttributes;
  const fieldSelector = selectorText(resourceAttributes.fieldSelector);
  return { type: 'resource', verb, group, version, resource, subresource, namespace, name, ...(fieldSelector === '' ? {} : { fieldSelector }) };
}
