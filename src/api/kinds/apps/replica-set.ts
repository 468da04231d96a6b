import type { FieldError } from '../../field-error.ts';
import type { ReplicaSet, ReplicaSetStatus } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { immutable, nonNegative } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { everyVerb } from '../../verbs.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { dropDisabledFields } from '../pod/pod-disabled-fields.ts';
import { nameWarnings, podTemplateWarnings } from '../pod/pod-warnings.ts';
import { countsWithin, nonNegativeCounts } from './replica-counts.ts';
import { replicaColumns, replicaScale } from './replicated.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { validateReplicatedTemplate, validateSelector } from './workload-template.ts';

function validateStatus(status: ReplicaSetStatus): FieldError[] {
  const { replicas, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0, observedGeneration = 0, terminatingReplicas = 0 } = status;
  return [
    ...nonNegativeCounts({ replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, observedGeneration, terminatingReplicas }),
    ...countsWithin({ fullyLabeledReplicas, readyReplicas, availableReplicas }, replicas, 'status.replicas'),
    ...countsWithin({ availableReplicas }, readyReplicas, 'readyReplicas'),
  ];
}

function warnings(set: ReplicaSet, old: ReplicaSet | undefined): string[] {
  if (old !== undefined && sameMeaning(set.spec, old.spec)) return [];
  return [...(old === undefined ? nameWarnings(set.metadata.name) : []), ...podTemplateWarnings(set.spec.template, 'spec.template')];
}

export const replicaSetKind: Kind<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  type: 'ReplicaSet',
  storage: { resource: 'apps/replicasets' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ spec }) => {
    spec.replicas ??= 1;
    defaultPodTemplate(spec.template);
  },
  prepareForCreate: (set) => {
    set.status = { replicas: 0 };
    dropDisabledFields(set.spec.template.spec);
  },
  prepareForUpdate: ({ spec }) => dropDisabledFields(spec.template.spec),
  validate: ({ spec }) => [
    ...nonNegative(spec.replicas ?? 0, 'spec.replicas'),
    ...nonNegative(spec.minReadySeconds ?? 0, 'spec.minReadySeconds'),
    // Kubernetes says deployment here.
    ...validateSelector(spec.selector, 'spec.selector', 'deployment'),
    ...validateReplicatedTemplate(spec.template, spec.selector),
  ],
  validateUpdate: ({ spec }, old) => immutable(spec.selector, old.spec.selector, 'spec.selector'),
  checks: { update: ['metadataChange', 'object', 'change'] },
  warnings,
  status: { validateUpdate: ({ status }) => validateStatus(status) },
  hasGeneration: true,
  scale: replicaScale(({ spec }) => spec.selector),
  unconditionalUpdate: true,
  selectableFields: {},
  columns: replicaColumns(
    ({ spec }) => spec.template,
    ({ spec }) => spec.selector,
  ),
};
