import { type FieldError, invalid } from '../../field-error.ts';
import type { CSIStorageCapacity } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { nonNegativeQuantity } from '../../validation/resources.ts';
import { plainColumns } from '../../printer-columns.ts';
import { nodeLabelSelectorWarnings } from '../deprecated-node-labels.ts';
import { everyVerb } from '../../verbs.ts';

function validate({ nodeTopology, storageClassName, capacity }: CSIStorageCapacity): FieldError[] {
  return [
    ...validateLabelSelector(nodeTopology, 'nodeTopology'),
    ...nameIsDnsSubdomain(storageClassName, false).map((wrong) => invalid('storageClassName', storageClassName, wrong)),
    ...(capacity === undefined ? [] : nonNegativeQuantity(capacity, 'capacity')),
  ];
}

export const csiStorageCapacityKind: Kind<CSIStorageCapacity> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  singular: 'csistoragecapacity',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'CSIStorageCapacity',
  storage: { resource: 'storage.k8s.io/csistoragecapacities' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  validate,
  validateUpdate: (capacity, old) => [
    ...immutable(capacity.nodeTopology, old.nodeTopology, 'nodeTopology'),
    ...immutable(capacity.storageClassName, old.storageClassName, 'storageClassName'),
  ],
  warnings: (capacity) => nodeLabelSelectorWarnings(capacity.nodeTopology, 'nodeTopology'),
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: plainColumns,
};
