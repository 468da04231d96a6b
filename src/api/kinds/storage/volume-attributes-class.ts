import { type FieldError, forbidden } from '../../field-error.ts';
import type { VolumeAttributesClass } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateParameters, validateProvisioner } from '../../validation/class-parameters.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

function validate({ driverName, parameters = {} }: VolumeAttributesClass): FieldError[] {
  return [...validateProvisioner(driverName, 'driverName'), ...validateParameters(parameters, 'parameters', { mayBeEmpty: false })];
}

function validateUpdate(attributesClass: VolumeAttributesClass, old: VolumeAttributesClass): FieldError[] {
  const errors: FieldError[] = [];
  if (attributesClass.driverName !== old.driverName) errors.push(forbidden('driverName', 'updates to driverName are forbidden.'));
  if (!semanticallyEqual(attributesClass.parameters, old.parameters)) errors.push(forbidden('parameters', 'updates to parameters are forbidden.'));
  return errors;
}

export const volumeAttributesClassKind: Kind<VolumeAttributesClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  singular: 'volumeattributesclass',
  shortNames: ['vac'],
  categories: [],
  namespaced: false,
  type: 'VolumeAttributesClass',
  storage: { resource: 'storage.k8s.io/volumeattributesclasses' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'change', 'metadata', 'object'] },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, textColumn('DriverName', (attributesClass) => attributesClass.driverName), ageColumn],
};
