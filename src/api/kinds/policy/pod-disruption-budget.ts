import { type FieldError, invalid, notSupported } from '../../field-error.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateConditions } from '../../validation/conditions.ts';
import { notMoreThan100Percent, positiveIntOrPercent } from '../../validation/int-or-percent.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { nonNegative } from '../../validation/metadata.ts';
import { pathSegmentProblems } from '../../validation/names.ts';
import { ageColumn, integerColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget'];

function validate({ spec }: PodDisruptionBudget): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalid('spec', shown(spec), 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const [field, value] of Object.entries({ 'spec.minAvailable': minAvailable, 'spec.maxUnavailable': maxUnavailable })) {
    if (value !== undefined) errors.push(...positiveIntOrPercent(value, field), ...notMoreThan100Percent(value, field));
  }
  errors.push(...validateLabelSelector(selector, 'spec.selector'));
  if (policy !== undefined && !evictionPolicies.includes(policy)) errors.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, evictionPolicies));
  return errors;
}

/** As Kubernetes' message shows a budget. */
const shown = (spec: PodDisruptionBudgetSpec): Record<string, unknown> => ({
  MinAvailable: spec.minAvailable ?? null,
  Selector: spec.selector ?? null,
  MaxUnavailable: spec.maxUnavailable ?? null,
  UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
});

function validateStatusUpdate({ status }: PodDisruptionBudget): FieldError[] {
  return [
    ...validateConditions(status.conditions ?? [], 'status.conditions'),
    ...(['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const).flatMap((field) => nonNegative(status[field], `status.${field}`)),
  ];
}

export const podDisruptionBudgetKind: Kind<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  categories: [],
  namespaced: true,
  type: 'PodDisruptionBudget',
  storage: { resource: 'policy/poddisruptionbudgets' },
  verbs: everyVerb,
  // Kubernetes asks no more of a budget's name than that it fits into a path.
  validateName: pathSegmentProblems,
  prepareForCreate: (budget) => {
    budget.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate,
  checks: { create: ['object'], update: ['object'], status: ['change'] },
  status: { validateUpdate: validateStatusUpdate },
  hasGeneration: true,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Min Available', (budget) => String(budget.spec.minAvailable ?? 'N/A')),
    textColumn('Max Unavailable', (budget) => String(budget.spec.maxUnavailable ?? 'N/A')),
    integerColumn('Allowed Disruptions', (budget) => budget.status.disruptionsAllowed),
    ageColumn,
  ],
};
