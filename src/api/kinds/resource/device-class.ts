import { type FieldError, invalid } from '../../field-error.ts';
import type { DeviceClass } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { isExtendedResource } from '../../validation/resources.ts';
import { ageColumn, nameColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { validateList } from './lists.ts';
import { validateConfiguration, validateSelectors } from './selectors.ts';

const MAX_CONFIGURATIONS = 32;

function validate({ spec: { selectors = [], config = [], extendedResourceName: extended } }: DeviceClass): FieldError[] {
  return [
    ...validateSelectors(selectors, 'spec.selectors'),
    ...validateList(config, { field: 'spec.config', max: MAX_CONFIGURATIONS, validate: validateConfiguration }),
    ...(extended === undefined || isExtendedResource(extended)
      ? []
      : [invalid('spec.extendedResourceName', extended, 'must be a valid extended resource name')]),
  ];
}

export const deviceClassKind: Kind<DeviceClass> = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  singular: 'deviceclass',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'DeviceClass',
  storage: { resource: 'resource.k8s.io/deviceclasses' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  validate,
  checks: { update: ['metadata', 'metadataChange', 'object'] },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, ageColumn],
};
