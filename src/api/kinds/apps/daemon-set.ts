import { type FieldError, invalid, notOneOf, required } from '../../field-error.ts';
import type { DaemonSet, DaemonSetSpec, DaemonSetStatus } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { immutable, nonNegative } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, integerColumn, nameColumn, textColumn, wideColumn, labelsCell } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { entry } from '../../validation/field-rules.ts';
import { isEmptySelector, selectorCell } from '../../validation/label-selector.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { dropDisabledFields } from '../pod/pod-disabled-fields.ts';
import { podTemplateWarnings } from '../pod/pod-warnings.ts';
import { collisionCountKept, nonNegativeCounts } from './replica-counts.ts';
import { amountOf, atMostAll, intOrPercent } from './rolling-update.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { containerColumns, validateServingTemplate, validateTemplateLabels } from './workload-template.ts';

/** A field of old that lives on as an annotation: it counts the changes of the template. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
const REVISION_HISTORY_LIMIT = 10;

function defaults({ spec }: DaemonSet): void {
  const { updateStrategy } = spec;
  updateStrategy.type ??= 'RollingUpdate';
  if (updateStrategy.type === 'RollingUpdate') {
    const rollingUpdate = (updateStrategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= 1;
    rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= REVISION_HISTORY_LIMIT;
  defaultPodTemplate(spec.template);
}

const templateGeneration = ({ metadata }: DaemonSet): number => Number(entry(metadata.annotations, TEMPLATE_GENERATION) ?? 0) || 0;

function setTemplateGeneration({ metadata }: DaemonSet, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

function validateSpec(spec: DaemonSetSpec): FieldError[] {
  const { selector, template } = spec;
  const empty = selector !== null && isEmptySelector(selector) ? [invalid('spec.selector', selector, 'empty selector is invalid for daemonset')] : [];
  return [
    ...validateLabelSelector(selector ?? undefined, 'spec.selector'),
    ...validateTemplateLabels(template, selector, 'spec.template'),
    ...empty,
    ...validateServingTemplate(template, 'spec.template', 'DaemonSet'),
    ...nonNegative(spec.minReadySeconds ?? 0, 'spec.minReadySeconds'),
    ...validateStrategy(spec, 'spec.updateStrategy'),
    ...nonNegative(spec.revisionHistoryLimit ?? 0, 'spec.revisionHistoryLimit'),
  ];
}

function validateStrategy({ updateStrategy }: DaemonSetSpec, field: string): FieldError[] {
  const { type = '', rollingUpdate } = updateStrategy;
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
    const shown = { Type: type, RollingUpdate: rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge } };
    return [notOneOf(field, shown, ['RollingUpdate', 'OnDelete'])];
  }
  return rollingUpdate === undefined ? [required(`${field}.rollingUpdate`)] : validateRollingUpdate(rollingUpdate, `${field}.rollingUpdate`);
}

type RollingUpdate = NonNullable<DaemonSetSpec['updateStrategy']['rollingUpdate']>;

/** A node gets the new pod before the old one goes, or after: one of the two. */
function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdate, field: string): FieldError[] {
  const [unavailable, surge] = [`${field}.maxUnavailable`, `${field}.maxSurge`];
  const errors = [
    ...intOrPercent(maxUnavailable, unavailable),
    ...intOrPercent(maxSurge, surge),
    ...atMostAll(maxUnavailable, unavailable),
    ...atMostAll(maxSurge, surge),
  ];
  const [hasUnavailable, hasSurge] = [amountOf(maxUnavailable) !== 0, amountOf(maxSurge) !== 0];
  if (hasUnavailable && hasSurge) errors.push(invalid(surge, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  if (!hasUnavailable && !hasSurge) errors.push(required(unavailable, 'cannot be 0 when maxSurge is 0'));
  return errors;
}

function validateStatus(status: DaemonSetStatus): FieldError[] {
  const { currentNumberScheduled, numberMisscheduled, desiredNumberScheduled, numberReady, observedGeneration = 0 } = status;
  const { updatedNumberScheduled = 0, numberAvailable = 0, numberUnavailable = 0, collisionCount = 0 } = status;
  return [
    ...nonNegativeCounts({ currentNumberScheduled, numberMisscheduled, desiredNumberScheduled, numberReady, observedGeneration }),
    ...nonNegativeCounts({ updatedNumberScheduled, numberAvailable, numberUnavailable, collisionCount }),
  ];
}

export const daemonSetKind: Kind<DaemonSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  type: 'DaemonSet',
  storage: { resource: 'apps/daemonsets' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate: (set) => {
    set.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
    setTemplateGeneration(set, Math.max(templateGeneration(set), 1));
    dropDisabledFields(set.spec.template.spec);
  },
  prepareForUpdate: (set, old) => {
    dropDisabledFields(set.spec.template.spec);
    setTemplateGeneration(set, templateGeneration(old) + (sameMeaning(set.spec.template, old.spec.template) ? 0 : 1));
  },
  validate: ({ spec }) => validateSpec(spec),
  validateUpdate: ({ spec }, old) => immutable(spec.selector, old.spec.selector, 'spec.selector'),
  checks: { update: ['metadataChange', 'change', 'object'] },
  warnings: ({ spec }, old) => (old !== undefined && sameMeaning(spec.template, old.spec.template) ? [] : podTemplateWarnings(spec.template, 'spec.template')),
  status: {
    prepareForUpdate: (set, old) => setTemplateGeneration(set, templateGeneration(old)),
    validateUpdate: ({ status }, old) => [...validateStatus(status), ...collisionCountKept(status, old.status)],
  },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    integerColumn('Desired', ({ status }) => status.desiredNumberScheduled),
    integerColumn('Current', ({ status }) => status.currentNumberScheduled),
    integerColumn('Ready', ({ status }) => status.numberReady),
    integerColumn('Up-to-date', ({ status }) => status.updatedNumberScheduled ?? 0),
    integerColumn('Available', ({ status }) => status.numberAvailable ?? 0),
    textColumn('Node Selector', ({ spec }) => labelsCell(spec.template.spec.nodeSelector)),
    ageColumn,
    ...containerColumns<DaemonSet>(({ spec }) => spec.template),
    wideColumn('Selector', ({ spec }) => selectorCell(spec.selector)),
  ],
};
