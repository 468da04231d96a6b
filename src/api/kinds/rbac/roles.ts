import { type FieldError, required } from '../../field-error.ts';
import type { ClusterRole, Role } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { pathSegmentProblems } from '../../validation/names.ts';
import { plainColumns } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { rbacGroup, validateRules } from './policy-rules.ts';

/** Names such as 'system:node' are no DNS names: anything that can stand in a path will do. */
const validateName = (name: string): string[] => pathSegmentProblems(name, false);

export const roleKind: Kind<Role> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  singular: 'role',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'Role',
  storage: { resource: `${rbacGroup}/roles` },
  verbs: everyVerb,
  validateName,
  validate: (role) => validateRules(role.rules, true),
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: plainColumns,
};

function validateClusterRole({ rules, aggregationRule }: ClusterRole): FieldError[] {
  const errors = validateRules(rules, false);
  if (aggregationRule === undefined) return errors;
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) errors.push(required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  return [...errors, ...selectors.flatMap((selector, i) => validateLabelSelector(selector, `${field}[${i}]`))];
}

export const clusterRoleKind: Kind<ClusterRole> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  singular: 'clusterrole',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'ClusterRole',
  storage: { resource: `${rbacGroup}/clusterroles` },
  verbs: everyVerb,
  validateName,
  validate: validateClusterRole,
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: plainColumns,
};
