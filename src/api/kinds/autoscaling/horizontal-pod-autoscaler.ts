import type { AutoscalingHorizontalPodAutoscaler, HorizontalPodAutoscaler, HPAScalingRules } from '../../generated/types.ts';
import type { FieldError } from '../../field-error.ts';
import type { Kind } from '../../kind.ts';
import { nonNegative } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { everyVerb } from '../../verbs.ts';
import { autoscalerColumns } from './autoscaler-columns.ts';
import { validateAutoscaler } from './autoscaler-rules.ts';
import { metricsAnnotation, oldAutoscalerOf, newAutoscalerOf } from './autoscaler-views.ts';

export const DEFAULT_UTILIZATION = 80;

/** By 100 percent or four pods in 15 seconds, whichever is more; and down by as much as is wanted. */
const scaleUpRules: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const scaleDownRules: HPAScalingRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

function defaults({ spec }: HorizontalPodAutoscaler): void {
  spec.minReplicas ??= 1;
  if ((spec.metrics ?? []).length === 0) {
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: DEFAULT_UTILIZATION } } }];
  }
  const { behavior } = spec;
  if (behavior === undefined) return;
  behavior.scaleUp = { ...structuredClone(scaleUpRules), ...behavior.scaleUp };
  behavior.scaleDown = { ...structuredClone(scaleDownRules), ...behavior.scaleDown };
}

const noStatus = (): HorizontalPodAutoscaler['status'] => ({ desiredReplicas: 0, currentMetrics: null });

const validateStatus = ({ currentReplicas = 0, desiredReplicas }: { currentReplicas?: number; desiredReplicas: number }): FieldError[] => [
  ...nonNegative(currentReplicas, 'status.currentReplicas'),
  ...nonNegative(desiredReplicas, 'status.desiredReplicas'),
];

const names = {
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  singular: 'horizontalpodautoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  checks: { update: ['metadataChange', 'change'] },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
} as const;

const storage = { resource: 'autoscaling/horizontalpodautoscalers' };

export const horizontalPodAutoscalerKind: Kind<HorizontalPodAutoscaler> = {
  ...names,
  version: 'v2',
  type: 'HorizontalPodAutoscaler',
  storage,
  defaults,
  prepareForCreate: (autoscaler) => {
    autoscaler.status = noStatus();
  },
  validate: (autoscaler) => validateAutoscaler(autoscaler),
  validateUpdate: validateAutoscaler,
  status: { validateUpdate: ({ status }) => validateStatus(status) },
  columns: autoscalerColumns,
};

/** The first version, which knows the processor only: whatever else there is stands in annotations. Judged as what it means in the second. */
export const oldHorizontalPodAutoscalerKind: Kind<AutoscalingHorizontalPodAutoscaler> = {
  ...names,
  version: 'v1',
  type: 'AutoscalingHorizontalPodAutoscaler',
  storage: {
    ...storage,
    convert: {
      fromStored: (stored) => oldAutoscalerOf(stored as HorizontalPodAutoscaler),
      toStored: (object) => newAutoscalerOf(object as AutoscalingHorizontalPodAutoscaler),
    },
  },
  defaults: ({ metadata, spec }) => {
    spec.minReplicas ??= 1;
    if (metadata.annotations?.[metricsAnnotation] === undefined) spec.targetCPUUtilizationPercentage ??= DEFAULT_UTILIZATION;
  },
  prepareForCreate: (autoscaler) => {
    autoscaler.status = { currentReplicas: 0, desiredReplicas: 0 };
  },
  validate: (autoscaler) => validateAutoscaler(newAutoscalerOf(autoscaler)),
  validateUpdate: (autoscaler, old) => validateAutoscaler(newAutoscalerOf(autoscaler), newAutoscalerOf(old)),
  status: { validateUpdate: ({ status }) => validateStatus(status) },
  columns: autoscalerColumns.map((column) => ({ ...column, cell: (autoscaler, now) => column.cell(newAutoscalerOf(autoscaler), now) })),
};
