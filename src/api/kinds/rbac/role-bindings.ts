import { type FieldError, invalid, notOneOf, required } from '../../field-error.ts';
import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../../generated/types.ts';
import type { Column, Kind } from '../../kind.ts';
import { nameIsDnsSubdomain, pathSegmentProblems } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { rbacGroup } from './policy-rules.ts';

type Binding = RoleBinding | ClusterRoleBinding;

function fillGroups({ roleRef, subjects = [] }: Binding): void {
  if (roleRef.apiGroup === '') roleRef.apiGroup = rbacGroup;
  for (const subject of subjects) {
    if ((subject.apiGroup ?? '') === '' && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = rbacGroup;
  }
}

const validator =
  (namespaced: boolean) =>
  ({ roleRef, subjects = [] }: Binding): FieldError[] => [
    ...validateRoleRef(roleRef, namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']),
    ...subjects.flatMap((subject, i) => validateSubject(subject, namespaced, `subjects[${i}]`)),
  ];

function validateRoleRef({ apiGroup, kind, name }: RoleRef, kinds: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (apiGroup !== rbacGroup) errors.push(notOneOf('roleRef.apiGroup', apiGroup, [rbacGroup]));
  if (!kinds.includes(kind)) errors.push(notOneOf('roleRef.kind', kind, kinds));
  if (name === '') errors.push(required('roleRef.name'));
  else for (const problem of pathSegmentProblems(name, false)) errors.push(invalid('roleRef.name', name, problem));
  return errors;
}

function validateSubject({ kind, name, apiGroup = '', namespace = '' }: Subject, namespaced: boolean, field: string): FieldError[] {
  const errors: FieldError[] = name === '' ? [required(`${field}.name`)] : [];
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') for (const problem of nameIsDnsSubdomain(name, false)) errors.push(invalid(`${field}.name`, name, problem));
      if (apiGroup !== '') errors.push(notOneOf(`${field}.apiGroup`, apiGroup, ['']));
      if (!namespaced && namespace === '') errors.push(required(`${field}.namespace`));
      return errors;
    case 'User':
    case 'Group':
      if (apiGroup !== rbacGroup) errors.push(notOneOf(`${field}.apiGroup`, apiGroup, [rbacGroup]));
      return errors;
    default:
      return [...errors, notOneOf(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
  }
}

/** What a binding grants is what its maker was allowed to grant: another role needs another binding. */
function validateUpdate({ roleRef }: Binding, { roleRef: old }: Binding): FieldError[] {
  const same = roleRef.apiGroup === old.apiGroup && roleRef.kind === old.kind && roleRef.name === old.name;
  return same ? [] : [invalid('roleRef', { APIGroup: roleRef.apiGroup, Kind: roleRef.kind, Name: roleRef.name }, 'cannot change roleRef')];
}

const subjectsOf = (binding: Binding, kind: string, show: (subject: Subject) => string): string =>
  (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(show)
    .join(', ');

const columns = <T extends Binding>(): readonly Column<T>[] => [
  nameColumn,
  textColumn('Role', ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
  ageColumn,
  wideColumn('Users', (binding) => subjectsOf(binding, 'User', ({ name }) => name)),
  wideColumn('Groups', (binding) => subjectsOf(binding, 'Group', ({ name }) => name)),
  wideColumn('ServiceAccounts', (binding) => subjectsOf(binding, 'ServiceAccount', ({ namespace = '', name }) => `${namespace}/${name}`)),
];

const validateName = (name: string): string[] => pathSegmentProblems(name, false);

export const roleBindingKind: Kind<RoleBinding> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  singular: 'rolebinding',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'RoleBinding',
  storage: { resource: `${rbacGroup}/rolebindings` },
  verbs: everyVerb,
  validateName,
  defaults: fillGroups,
  validate: validator(true),
  validateUpdate,
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: columns(),
};

export const clusterRoleBindingKind: Kind<ClusterRoleBinding> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'ClusterRoleBinding',
  storage: { resource: `${rbacGroup}/clusterrolebindings` },
  verbs: everyVerb,
  validateName,
  defaults: fillGroups,
  validate: validator(false),
  validateUpdate,
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: columns(),
};
