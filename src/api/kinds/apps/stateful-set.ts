import { type FieldError, forbidden, invalid, notOneOf, required } from '../../field-error.ts';
import type { PersistentVolumeClaim, PodTemplateSpec, StatefulSet, StatefulSetSpec, StatefulSetStatus, Volume } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateClaimSpec } from '../../validation/claim-spec.ts';
import { validateLabels } from '../../validation/labels.ts';
import { nonNegative, validateAnnotations } from '../../validation/metadata.ts';
import { nameIsDnsLabel } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { claimSpecWarnings } from '../core/persistent-volume-claim.ts';
import { roundUpResourceList } from '../resource-list.ts';
import { everyVerb } from '../../verbs.ts';
import { mayGrowClaims, validateGrowth, withoutGrowth } from './claim-expansion.ts';
import { dnsLabel } from '../../validation/field-rules.ts';
import { isValidSelector } from '../../validation/label-selector.ts';
import { validatePodAnnotations } from '../pod/pod-annotations.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { dropDisabledFields } from '../pod/pod-disabled-fields.ts';
import { validatePodTemplate } from '../pod/pod-validation.ts';
import { defaultClaimSpec } from '../pod/volumes/pod-volume-defaults.ts';
import { podTemplateWarnings } from '../pod/pod-warnings.ts';
import { collisionCountKept, countsWithin, nonNegativeCounts } from './replica-counts.ts';
import { replicaScale } from './replicated.ts';
import { amountOf, atMostAll, intOrPercent } from './rolling-update.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { without } from '../../validation/without.ts';
import { containerColumns, runsForGood, validateSelector, validateTemplateLabels } from './workload-template.ts';

const REVISION_HISTORY_LIMIT = 10;

function defaults({ spec }: StatefulSet): void {
  spec.podManagementPolicy ??= 'OrderedReady';
  const { updateStrategy } = spec;
  if (updateStrategy.type === undefined) {
    updateStrategy.type = 'RollingUpdate';
    updateStrategy.rollingUpdate ??= {};
  }
  if (updateStrategy.type === 'RollingUpdate' && updateStrategy.rollingUpdate) updateStrategy.rollingUpdate.partition ??= 0;
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  retention.whenDeleted ??= 'Retain';
  retention.whenScaled ??= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= REVISION_HISTORY_LIMIT;
  defaultPodTemplate(spec.template);
  for (const template of spec.volumeClaimTemplates ?? []) defaultClaimTemplate(template);
}

/** Templates of claims are whole claims: kind, status and all. */
function defaultClaimTemplate(claim: PersistentVolumeClaim): void {
  Object.assign(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
  claim.status.phase ??= 'Pending';
  defaultClaimSpec(claim.spec);
  roundUpResourceList(claim.status.capacity);
  roundUpResourceList(claim.status.allocatedResources);
}

/** How many pods an update may take down at once is a feature that is off. */
function dropDisabled({ spec }: StatefulSet): void {
  if (spec.updateStrategy.rollingUpdate) delete spec.updateStrategy.rollingUpdate.maxUnavailable;
  dropDisabledFields(spec.template.spec);
}

function validateStatefulSetSpec(spec: StatefulSetSpec, field: string, isNew: boolean): FieldError[] {
  const templates = isNew ? (spec.volumeClaimTemplates ?? []) : [];
  return [
    ...validatePolicy(spec.podManagementPolicy ?? '', `${field}.podManagementPolicy`),
    ...validateStrategy(spec, `${field}.updateStrategy`),
    ...validateRetention(spec, `${field}.persistentVolumeClaimRetentionPolicy`),
    ...templates.flatMap((claim, i) => validateClaimSpec(claim.spec, `${field}.volumeClaimTemplates[${i}].spec`)),
    ...nonNegative(spec.replicas ?? 0, `${field}.replicas`),
    ...nonNegative(spec.minReadySeconds ?? 0, `${field}.minReadySeconds`),
    ...nonNegative(spec.ordinals?.start ?? 0, `${field}.ordinals.start`),
    ...(isNew && spec.serviceName !== '' ? dnsLabel(spec.serviceName, `${field}.serviceName`) : []),
    ...validateSelector(spec.selector, `${field}.selector`, 'statefulset'),
    ...validateTemplate(spec, `${field}.template`),
    ...runsForGood(spec.template, `${field}.template`, 'StatefulSet'),
  ];
}

function validatePolicy(policy: string, field: string): FieldError[] {
  if (policy === '') return [required(field)];
  return policy === 'OrderedReady' || policy === 'Parallel' ? [] : [invalid(field, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateStrategy({ updateStrategy }: StatefulSetSpec, field: string): FieldError[] {
  const { type = '', rollingUpdate } = updateStrategy;
  switch (type) {
    case '':
      return [required(field)];
    case 'OnDelete':
      if (rollingUpdate === undefined) return [];
      return [invalid(`${field}.rollingUpdate`, rollingUpdateForm(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'")];
    case 'RollingUpdate':
      return rollingUpdate === undefined ? [] : validateRollingUpdate(rollingUpdate, `${field}.rollingUpdate`);
    default: {
      const shown = { Type: type, RollingUpdate: rollingUpdate === undefined ? null : rollingUpdateForm(rollingUpdate) };
      return [invalid(field, shown, "must be 'RollingUpdate' or 'OnDelete'")];
    }
  }
}

type RollingUpdate = NonNullable<StatefulSetSpec['updateStrategy']['rollingUpdate']>;

const rollingUpdateForm = ({ partition = 0, maxUnavailable }: RollingUpdate): object => ({ Partition: partition, MaxUnavailable: maxUnavailable ?? null });

function validateRollingUpdate({ partition = 0, maxUnavailable }: RollingUpdate, field: string): FieldError[] {
  const errors = nonNegative(partition, `${field}.partition`);
  if (maxUnavailable === undefined) return errors;
  const at = `${field}.maxUnavailable`;
  const none = amountOf(maxUnavailable) === 0 ? [invalid(at, maxUnavailable, 'cannot be 0')] : [];
  return [...errors, ...intOrPercent(maxUnavailable, at), ...none, ...atMostAll(maxUnavailable, at)];
}

const retentionPolicies = ['Retain', 'Delete'];

function validateRetention({ persistentVolumeClaimRetentionPolicy: policy }: StatefulSetSpec, field: string): FieldError[] {
  if (policy === undefined) return [];
  return (['whenDeleted', 'whenScaled'] as const).flatMap((when) =>
    retentionPolicies.includes(policy[when] ?? '') ? [] : [notOneOf(`${field}.${when}`, policy[when] ?? '', retentionPolicies)],
  );
}

/** Pods are checked as they will be made: with their claims mounted, and under names that the controller gives. */
function validateTemplate(spec: StatefulSetSpec, field: string): FieldError[] {
  if (!isValidSelector(spec.selector)) return [invalid('spec.selector', spec.selector, '')];
  const template = asMade(spec);
  const { metadata } = template;
  return [
    ...validateTemplateLabels(template, spec.selector, field),
    ...validatePodTemplate(template, field),
    // Kubernetes looks at the metadata twice.
    ...validateLabels(metadata.labels, `${field}.labels`),
    ...validateAnnotations(metadata.annotations, `${field}.annotations`),
    ...validatePodAnnotations(metadata.annotations, template.spec, `${field}.annotations`),
  ];
}

function asMade({ template, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  const pod = without(template.spec, 'subdomain', 'hostname');
  if (volumeClaimTemplates.length === 0) return { ...template, spec: pod };
  const claims = new Map(
    volumeClaimTemplates.map(({ metadata: { name = '' } }): [string, Volume] => [name, { name, persistentVolumeClaim: { claimName: name } }]),
  );
  return { ...template, spec: { ...pod, volumes: [...claims.values(), ...(pod.volumes ?? []).filter((volume) => !claims.has(volume.name))] } };
}

const mutable = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
] as const;
const IMMUTABLE =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

function validateUpdate(set: StatefulSet, old: StatefulSet): FieldError[] {
  const errors = validateStatefulSetSpec(set.spec, 'spec', false);
  const [templates, before] = [set.spec.volumeClaimTemplates ?? [], old.spec.volumeClaimTemplates ?? []];
  if (!mayGrowClaims(set)) return sameMeaning(fixedFields(set.spec), fixedFields(old.spec)) ? errors : [...errors, forbidden('spec', IMMUTABLE)];
  const ungrown = { ...fixedFields(set.spec), volumeClaimTemplates: withoutGrowth(templates, before) };
  if (!sameMeaning(ungrown, { ...fixedFields(old.spec), volumeClaimTemplates: before })) return [...errors, forbidden('spec', IMMUTABLE)];
  return [...errors, ...validateGrowth(templates, before, 'spec.volumeClaimTemplates')];
}

const fixedFields = (spec: StatefulSetSpec): object => Object.fromEntries(Object.entries(spec).filter(([field]) => !mutable.some((name) => name === field)));

function validateStatus(status: StatefulSetStatus): FieldError[] {
  const { replicas, readyReplicas = 0, currentReplicas = 0, updatedReplicas = 0, availableReplicas, observedGeneration = 0, collisionCount = 0 } = status;
  return [
    ...nonNegativeCounts({ replicas, readyReplicas, currentReplicas, updatedReplicas, availableReplicas, observedGeneration, collisionCount }),
    ...countsWithin({ readyReplicas, currentReplicas, updatedReplicas, availableReplicas }, replicas, 'status.replicas'),
    ...countsWithin({ availableReplicas }, readyReplicas, 'status.readyReplicas'),
  ];
}

function warnings(set: StatefulSet, old: StatefulSet | undefined): string[] {
  const isChanged = old === undefined || !sameMeaning(set.spec, old.spec);
  const found = isChanged ? podTemplateWarnings(set.spec.template, 'spec.template') : [];
  for (const [i, claim] of (set.spec.volumeClaimTemplates ?? []).entries()) {
    found.push(...claimSpecWarnings(claim.spec, `spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}`));
  }
  if ((set.spec.revisionHistoryLimit ?? 0) < 0) {
    found.push('spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended');
  }
  return found;
}

export const statefulSetKind: Kind<StatefulSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  type: 'StatefulSet',
  storage: { resource: 'apps/statefulsets' },
  verbs: everyVerb,
  validateName: nameIsDnsLabel,
  defaults,
  prepareForCreate: (set) => {
    set.status = { replicas: 0, availableReplicas: 0 };
    dropDisabled(set);
  },
  prepareForUpdate: dropDisabled,
  validate: ({ spec }) => validateStatefulSetSpec(spec, 'spec', true),
  validateUpdate,
  // What cannot change need not be right again: sets from before a rule stay usable.
  checks: { update: ['metadataChange', 'change'], status: ['change', 'metadataChange'] },
  warnings,
  status: { validateUpdate: ({ status }, old) => [...validateStatus(status), ...collisionCountKept(status, old.status)] },
  hasGeneration: true,
  scale: replicaScale(({ spec }) => spec.selector),
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    ageColumn,
    ...containerColumns<StatefulSet>(({ spec }) => spec.template),
  ],
};
