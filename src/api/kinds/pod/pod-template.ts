import type { PodTemplate } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { labelsCell, nameColumn, textColumn } from '../../printer-columns.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { everyVerb } from '../../verbs.ts';
import { defaultPodTemplate } from './pod-defaults.ts';
import { dropDisabledFields } from './pod-disabled-fields.ts';
import { validatePodTemplate } from './pod-validation.ts';
import { podTemplateWarnings } from './pod-warnings.ts';

const containersCell = (part: 'name' | 'image') => (object: PodTemplate) =>
  (object.template.spec.containers ?? []).map((container) => container[part] ?? '').join(',');

export const podTemplateKind: Kind<PodTemplate> = {
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  singular: 'podtemplate',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'PodTemplate',
  storage: { resource: 'podtemplates' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ template }) => defaultPodTemplate(template),
  prepareForCreate: ({ template }) => dropDisabledFields(template.spec),
  prepareForUpdate: ({ template }) => dropDisabledFields(template.spec),
  validate: ({ template }) => validatePodTemplate(template, 'template'),
  warnings: ({ template }, old) => (old !== undefined && sameMeaning(template, old.template) ? [] : podTemplateWarnings(template, 'template')),
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Containers', containersCell('name')),
    textColumn('Images', containersCell('image')),
    textColumn('Pod Labels', ({ template }) => labelsCell(template.metadata.labels)),
  ],
};
