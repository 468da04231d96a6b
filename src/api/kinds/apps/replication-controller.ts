import { type FieldError, required } from '../../field-error.ts';
import type { LabelSelector, PodTemplateSpec, ReplicationController, ReplicationControllerSpec, ReplicationControllerStatus } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { nonNegative } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { everyVerb } from '../../verbs.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { dropDisabledFields } from '../pod/pod-disabled-fields.ts';
import { nameWarnings, podTemplateWarnings } from '../pod/pod-warnings.ts';
import { countsWithin, nonNegativeCounts } from './replica-counts.ts';
import { replicaColumns, replicaScale } from './replicated.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { validateServingTemplate, validateTemplateLabels } from './workload-template.ts';

const selectorOf = ({ selector }: ReplicationControllerSpec): LabelSelector => ({ matchLabels: selector ?? {} });
const noTemplate: PodTemplateSpec = { metadata: {}, spec: { containers: null } };

function defaults({ metadata, spec }: ReplicationController): void {
  const labels = spec.template?.metadata.labels;
  if (labels !== undefined) {
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  }
  spec.replicas ??= 1;
  if (spec.template !== undefined) defaultPodTemplate(spec.template);
}

function validate({ spec }: ReplicationController): FieldError[] {
  const { minReadySeconds = 0, selector = {}, replicas, template } = spec;
  return [
    ...nonNegative(minReadySeconds, 'spec.minReadySeconds'),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...(replicas === undefined ? [required('spec.replicas')] : nonNegative(replicas, 'spec.replicas')),
    ...(template === undefined ? [required('spec.template')] : validateTemplate(template, spec)),
  ];
}

function validateTemplate(template: PodTemplateSpec, spec: ReplicationControllerSpec): FieldError[] {
  const mismatched = Object.keys(spec.selector ?? {}).length === 0 ? [] : validateTemplateLabels(template, selectorOf(spec), 'spec.template');
  return [...mismatched, ...validateServingTemplate(template, 'spec.template', 'ReplicationController')];
}

function validateStatus(status: ReplicationControllerStatus): FieldError[] {
  const { replicas, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return [
    ...nonNegativeCounts({ replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, observedGeneration }),
    ...countsWithin({ fullyLabeledReplicas, readyReplicas, availableReplicas }, replicas, 'status.replicas'),
    ...countsWithin({ availableReplicas }, readyReplicas, 'readyReplicas'),
  ];
}

function warnings({ metadata, spec }: ReplicationController, old: ReplicationController | undefined): string[] {
  if (spec.template === undefined || (old !== undefined && sameMeaning(spec, old.spec))) return [];
  return [...(old === undefined ? nameWarnings(metadata.name) : []), ...podTemplateWarnings(spec.template, 'spec.template')];
}

export const replicationControllerKind: Kind<ReplicationController> = {
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  singular: 'replicationcontroller',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  type: 'ReplicationController',
  storage: { resource: 'controllers' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate: (controller) => {
    controller.status = { replicas: 0 };
    if (controller.spec.template !== undefined) dropDisabledFields(controller.spec.template.spec);
  },
  prepareForUpdate: ({ spec }) => {
    if (spec.template !== undefined) dropDisabledFields(spec.template.spec);
  },
  validate,
  warnings,
  status: { validateUpdate: ({ status }) => validateStatus(status) },
  hasGeneration: true,
  scale: replicaScale(({ spec }) => selectorOf(spec)),
  unconditionalUpdate: true,
  selectableFields: { 'status.replicas': ({ status }) => String(status.replicas) },
  columns: replicaColumns(
    ({ spec }) => spec.template ?? noTemplate,
    ({ spec }) => selectorOf(spec),
  ),
};
