import { type FieldError, required } from '../../field-error.ts';
import type { ControllerRevision } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { immutable, nonNegative } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

/** A revision without its state could not be gone back to. */
function validateData({ data }: ControllerRevision): FieldError[] {
  if (data === undefined || data === null) return [required('data', 'data is mandatory')];
  return typeof data === 'object' && !Array.isArray(data) ? [] : [required('data', 'data must be a valid JSON object')];
}

/** 'statefulset.apps/db' */
function controllerCell({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner === undefined) return '<none>';
  const [group] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : [''];
  return `${(group === '' ? owner.kind : `${owner.kind}.${group}`).toLowerCase()}/${owner.name}`;
}

export const controllerRevisionKind: Kind<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  singular: 'controllerrevision',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'ControllerRevision',
  storage: { resource: 'apps/controllerrevisions' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  validate: ({ revision }) => nonNegative(revision, 'revision'),
  validateCreate: validateData,
  validateUpdate: ({ data }, old) => immutable(data, old.data, 'data'),
  checks: { update: ['metadataChange', 'metadata', 'object', 'change'] },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, textColumn('Controller', controllerCell), textColumn('Revision', ({ revision }) => revision), ageColumn],
};
