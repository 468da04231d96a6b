import { duplicate, type FieldError, notSupported, required } from '../../field-error.ts';
import type { StorageClass, TopologySelectorTerm } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateParameters, validateProvisioner } from '../../validation/class-parameters.ts';
import { immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { validateTopologySelectorTerm } from '../../validation/node-selector.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { deprecatedNodeLabel } from '../deprecated-node-labels.ts';
import { everyVerb } from '../../verbs.ts';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];
const defaultClassAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** Whether claims that name no class get this one. */
export function isDefaultClass(storageClass: Pick<StorageClass, 'metadata'>): boolean {
  return defaultClassAnnotations.some((annotation) => storageClass.metadata.annotations?.[annotation] === 'true');
}

function defaults(storageClass: StorageClass): void {
  storageClass.reclaimPolicy ??= 'Delete';
  storageClass.volumeBindingMode ??= 'Immediate';
}

function validate(storageClass: StorageClass): FieldError[] {
  const { provisioner, parameters = {}, reclaimPolicy = '', volumeBindingMode, allowedTopologies = [] } = storageClass;
  const errors = [...validateProvisioner(provisioner, 'provisioner'), ...validateParameters(parameters, 'parameters', { mayBeEmpty: true })];
  if (reclaimPolicy !== '' && !reclaimPolicies.includes(reclaimPolicy)) errors.push(notSupported('reclaimPolicy', reclaimPolicy, reclaimPolicies));
  if (volumeBindingMode === undefined) errors.push(required('volumeBindingMode'));
  else if (!bindingModes.includes(volumeBindingMode)) errors.push(notSupported('volumeBindingMode', volumeBindingMode, bindingModes));
  return [...errors, ...validateTopologies(allowedTopologies, 'allowedTopologies')];
}

/** The same term twice is an error once for each earlier one that it repeats; Kubernetes' list of these begins with an empty one per term. */
function validateTopologies(terms: readonly TopologySelectorTerm[], field: string): FieldError[] {
  const seen = terms.map(() => contentOf({}));
  return terms.flatMap((term, i) => {
    const errors = validateTopologySelectorTerm(term, `${field}[${i}]`);
    const content = contentOf(term);
    for (const earlier of seen) if (earlier === content) errors.push(duplicate(`${field}[${i}].matchLabelExpressions`, ''));
    seen.push(content);
    return errors;
  });
}

/** A term as what it means: keys with sets of values, in no order. Of a key that comes twice the last counts. */
function contentOf(term: TopologySelectorTerm): string {
  const values = new Map((term.matchLabelExpressions ?? []).map(({ key, values }) => [key, [...new Set(values ?? [])].sort()]));
  return JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function validateUpdate(storageClass: StorageClass, old: StorageClass): FieldError[] {
  return [
    ...immutable(storageClass.parameters, old.parameters, 'parameters'),
    ...immutable(storageClass.provisioner, old.provisioner, 'provisioner'),
    ...immutable(storageClass.reclaimPolicy, old.reclaimPolicy, 'reclaimPolicy'),
    ...immutable(storageClass.volumeBindingMode, old.volumeBindingMode, 'volumeBindingMode'),
  ];
}

function warnings(storageClass: StorageClass): string[] {
  return (storageClass.allowedTopologies ?? []).flatMap((term, i) =>
    (term.matchLabelExpressions ?? []).flatMap(({ key }, j) => {
      const message = deprecatedNodeLabel(key);
      return message === undefined ? [] : [`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${message}`];
    }),
  );
}

export const storageClassKind: Kind<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  singular: 'storageclass',
  shortNames: ['sc'],
  categories: [],
  namespaced: false,
  type: 'StorageClass',
  storage: { resource: 'storage.k8s.io/storageclasses' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  validate,
  validateUpdate,
  warnings,
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    { ...nameColumn, cell: (storageClass) => `${storageClass.metadata.name ?? ''}${isDefaultClass(storageClass) ? ' (default)' : ''}` },
    textColumn('Provisioner', (storageClass) => storageClass.provisioner),
    textColumn('ReclaimPolicy', (storageClass) => storageClass.reclaimPolicy ?? 'Delete'),
    textColumn('VolumeBindingMode', (storageClass) => storageClass.volumeBindingMode ?? 'Immediate'),
    textColumn('AllowVolumeExpansion', (storageClass) => storageClass.allowVolumeExpansion ?? false),
    ageColumn,
  ],
};
