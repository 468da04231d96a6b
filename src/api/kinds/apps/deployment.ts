import { type FieldError, forbidden, invalid, notOneOf, required } from '../../field-error.ts';
import type { Deployment, DeploymentSpec, DeploymentStatus } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { immutable, nonNegative } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { showSelector } from '../../validation/label-selector.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { dropDisabledFields } from '../pod/pod-disabled-fields.ts';
import { nameWarnings, podTemplateWarnings } from '../pod/pod-warnings.ts';
import { collisionCountKept, countsWithin, nonNegativeCounts } from './replica-counts.ts';
import { replicaScale } from './replicated.ts';
import { amountOf, atMostAll, intOrPercent } from './rolling-update.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { containerColumns, validateReplicatedTemplate, validateSelector } from './workload-template.ts';

const SHARE = '25%';
const REVISION_HISTORY_LIMIT = 10;
const PROGRESS_DEADLINE_SECONDS = 600;

function defaults({ spec }: Deployment): void {
  spec.replicas ??= 1;
  const { strategy } = spec;
  strategy.type ??= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const rollingUpdate = (strategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= SHARE;
    rollingUpdate.maxSurge ??= SHARE;
  }
  spec.revisionHistoryLimit ??= REVISION_HISTORY_LIMIT;
  spec.progressDeadlineSeconds ??= PROGRESS_DEADLINE_SECONDS;
  defaultPodTemplate(spec.template);
}

function validateSpec(spec: DeploymentSpec): FieldError[] {
  const { minReadySeconds = 0, progressDeadlineSeconds: deadline } = spec;
  const tooEarly =
    deadline !== undefined && deadline <= minReadySeconds ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')] : [];
  return [
    ...nonNegative(spec.replicas ?? 0, 'spec.replicas'),
    ...validateSelector(spec.selector, 'spec.selector', 'deployment'),
    ...validateReplicatedTemplate(spec.template, spec.selector),
    ...validateStrategy(spec, 'spec.strategy'),
    ...nonNegative(minReadySeconds, 'spec.minReadySeconds'),
    ...nonNegative(spec.revisionHistoryLimit ?? 0, 'spec.revisionHistoryLimit'),
    ...nonNegative(deadline ?? 0, 'spec.progressDeadlineSeconds'),
    ...tooEarly,
  ];
}

function validateStrategy({ strategy }: DeploymentSpec, field: string): FieldError[] {
  const { type = '', rollingUpdate } = strategy;
  switch (type) {
    case 'Recreate':
      return rollingUpdate === undefined ? [] : [forbidden(`${field}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate':
      if (rollingUpdate === undefined) return [required(`${field}.rollingUpdate`, 'this should be defaulted and never be nil')];
      return validateRollingUpdate(rollingUpdate, `${field}.rollingUpdate`);
    default: {
      const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
      const shown = { Type: type, RollingUpdate: rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge } };
      return [notOneOf(field, shown, ['Recreate', 'RollingUpdate'])];
    }
  }
}

type RollingUpdate = NonNullable<DeploymentSpec['strategy']['rollingUpdate']>;

function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdate, field: string): FieldError[] {
  const unavailable = `${field}.maxUnavailable`;
  const isStuck = amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0;
  return [
    ...intOrPercent(maxUnavailable, unavailable),
    ...intOrPercent(maxSurge, `${field}.maxSurge`),
    ...(isStuck ? [invalid(unavailable, maxUnavailable, 'may not be 0 when `maxSurge` is 0')] : []),
    ...atMostAll(maxUnavailable, unavailable),
  ];
}

function validateStatus(status: DeploymentStatus): FieldError[] {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0, unavailableReplicas = 0 } = status;
  const { observedGeneration = 0, terminatingReplicas = 0, collisionCount = 0 } = status;
  return [
    ...nonNegativeCounts({ observedGeneration, replicas, updatedReplicas, readyReplicas, availableReplicas, unavailableReplicas }),
    ...nonNegativeCounts({ terminatingReplicas, collisionCount }),
    ...countsWithin({ updatedReplicas, readyReplicas, availableReplicas }, replicas, 'status.replicas'),
    ...countsWithin({ availableReplicas }, readyReplicas, 'readyReplicas'),
  ];
}

const annotationsChange = (deployment: Deployment, old: Deployment): boolean =>
  !sameMeaning(deployment.metadata.annotations ?? {}, old.metadata.annotations ?? {});

function warnings(deployment: Deployment, old: Deployment | undefined): string[] {
  const template = podTemplateWarnings(deployment.spec.template, 'spec.template');
  if (old === undefined) return [...nameWarnings(deployment.metadata.name), ...template];
  return sameMeaning(deployment.spec, old.spec) && !annotationsChange(deployment, old) ? [] : template;
}

export const deploymentKind: Kind<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  type: 'Deployment',
  storage: { resource: 'apps/deployments' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate: (deployment) => {
    deployment.status = {};
    dropDisabledFields(deployment.spec.template.spec);
  },
  prepareForUpdate: ({ spec }) => dropDisabledFields(spec.template.spec),
  validate: ({ spec }) => validateSpec(spec),
  validateUpdate: ({ spec }, old) => immutable(spec.selector, old.spec.selector, 'spec.selector'),
  checks: { update: ['metadataChange', 'object', 'change'] },
  warnings,
  status: {
    prepareForUpdate: ({ metadata }, old) => {
      if (old.metadata.labels === undefined) delete metadata.labels;
      else metadata.labels = old.metadata.labels;
    },
    validateUpdate: ({ status }, old) => [...validateStatus(status), ...collisionCountKept(status, old.status)],
  },
  hasGeneration: true,
  // Annotations are copied to the ReplicaSets: a client that waits for observedGeneration must see that change.
  generationAlsoGrows: annotationsChange,
  scale: replicaScale(({ spec }) => spec.selector),
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    textColumn('Up-to-date', ({ status }) => status.updatedReplicas ?? 0),
    textColumn('Available', ({ status }) => status.availableReplicas ?? 0),
    ageColumn,
    ...containerColumns<Deployment>(({ spec }) => spec.template),
    wideColumn('Selector', ({ spec }) => showSelector(spec.selector) ?? '<invalid>'),
  ],
};
