import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../generated/types.ts';
import { labelSelectorOf, matchesLabels } from '../selectors/label-selector.ts';

/** The scopes that an object must match to count against a quota. */
export function scopesOf({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] {
  const named = (spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...named, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

/** Whether a value ('': none) matches the requirement. */
export function matchesScopeValue({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement, value: string): boolean {
  const selector = labelSelectorOf({ matchExpressions: [{ key: scopeName, operator, values }] });
  return matchesLabels(selector, value === '' ? {} : { [scopeName]: value });
}
