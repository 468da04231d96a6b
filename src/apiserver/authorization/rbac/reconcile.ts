import type { ClusterRole, ClusterRoleBinding, ObjectMeta, Role, RoleBinding, Subject } from '../../../api/generated/types.ts';
import { semanticallyEqual } from '../../../api/validation/equality.ts';
import { autoUpdate } from './default-policy.ts';
import { missingRules } from './rule.ts';

/** What to do about a default role or binding, given the one that is there. */
export type Reconciliation<T> =
  | { readonly type: 'leave' }
  | { readonly type: 'update'; readonly object: T }
  /** A binding to another role cannot be changed into one to this role. */
  | { readonly type: 'replace'; readonly object: T };

const leave = { type: 'leave' } as const;

/** Adds what is missing, and takes nothing away: what an administrator added stays. */
export function reconcileRole<T extends Role | ClusterRole>(existing: T, expected: T): Reconciliation<T> {
  if (isProtected(existing.metadata)) return leave;
  const missing = missingRules(existing.rules ?? [], expected.rules ?? []);
  const rules = missing.length === 0 ? existing.rules : [...(existing.rules ?? []), ...missing];
  return changed(existing, withAggregation({ ...existing, metadata: mergedMetadata(existing.metadata, expected.metadata), rules }, expected));
}

function withAggregation<T extends Role | ClusterRole>(role: T, expected: T): T {
  const has = selectorsOf(role);
  const wants = selectorsOf(expected);
  if (wants.length === 0) return has.length === 0 ? role : without(role);
  const missing = wants.filter((selector) => !has.some((one) => semanticallyEqual(one, selector)));
  return missing.length === 0 ? role : { ...role, aggregationRule: { clusterRoleSelectors: [...has, ...missing] } };
}

const selectorsOf = (role: Role | ClusterRole) => ('aggregationRule' in role ? (role.aggregationRule?.clusterRoleSelectors ?? []) : []);

function without<T extends Role | ClusterRole>(role: T): T {
  const { aggregationRule: _, ...rest } = role as ClusterRole;
  return rest as T;
}

export function reconcileBinding<T extends RoleBinding | ClusterRoleBinding>(existing: T, expected: T): Reconciliation<T> {
  if (isProtected(existing.metadata)) return leave;
  if (!semanticallyEqual(existing.roleRef, expected.roleRef)) return { type: 'replace', object: expected };
  const subjects: readonly Subject[] = existing.subjects ?? [];
  const missing = (expected.subjects ?? []).filter((subject) => !subjects.some((one) => semanticallyEqual(one, subject)));
  const metadata = mergedMetadata(existing.metadata, expected.metadata);
  return changed(existing, { ...existing, metadata, ...(missing.length === 0 ? {} : { subjects: [...subjects, ...missing] }) });
}

const isProtected = ({ annotations }: ObjectMeta): boolean => annotations?.[autoUpdate] === 'false';

/** Values that were set to something else stay. */
const mergedMetadata = (existing: ObjectMeta, expected: ObjectMeta): ObjectMeta => ({
  ...existing,
  labels: { ...expected.labels, ...existing.labels },
  annotations: { ...expected.annotations, ...existing.annotations },
});

const changed = <T>(existing: T, object: T): Reconciliation<T> => (semanticallyEqual(existing, object) ? leave : { type: 'update', object });
