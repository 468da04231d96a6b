import { type FieldError, invalid, required } from '../../field-error.ts';
import type { PolicyRule } from '../../generated/types.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** All that is wrong with the rules of a role. `namespaced`: of one that lives in a namespace, where there are no paths. */
export function validateRules(rules: readonly PolicyRule[] | null, namespaced: boolean): FieldError[] {
  return (rules ?? []).flatMap((rule, i) => validateRule(rule, namespaced, `rules[${i}]`));
}

function validateRule(rule: PolicyRule, namespaced: boolean, field: string): FieldError[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors: FieldError[] = [];
  if ((rule.verbs ?? []).length === 0) errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'));
  if (nonResourceURLs.length > 0) {
    const at = `${field}.nonResourceURLs`;
    if (namespaced) errors.push(invalid(at, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      errors.push(invalid(at, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs'));
    }
    return errors;
  }
  if (apiGroups.length === 0) errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  if (resources.length === 0) errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  return errors;
}
