import { type CustomResourceDefinition, isTrue, withCondition } from '../../apiextensions/definition.ts';
import { validateDefinition } from '../../apiextensions/definition-rules.ts';
import { isKnownFormat } from '../../validation/openapi-formats.ts';
import { schemasWithin } from '../../apiextensions/schemas-within.ts';
import { type FieldError, invalid } from '../../field-error.ts';
import type { Kind } from '../../kind.ts';
import { immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { nameColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

/** Its objects go before it does. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

function defaults({ spec }: CustomResourceDefinition): void {
  const { names } = spec;
  if ((names.singular ?? '') === '') names.singular = names.kind.toLowerCase();
  if ((names.listKind ?? '') === '' && names.kind !== '') names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
}

/** The version that objects are stored in is one that objects may be found in. */
function rememberStoredVersion({ spec, status }: CustomResourceDefinition): void {
  const stored = (spec.versions ?? []).find(({ storage }) => storage)?.name;
  const known = status.storedVersions ?? [];
  if (stored !== undefined && !known.includes(stored)) status.storedVersions = [...known, stored];
}

function prepareForCreate(definition: CustomResourceDefinition): void {
  definition.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
  rememberStoredVersion(definition);
}

/** Deleting a CustomResourceDefinition deletes all of its objects, before the definition itself is removed. */
function beginDeletion(definition: CustomResourceDefinition, now: string): void {
  const { metadata } = definition;
  if (!(metadata.finalizers ?? []).includes(cleanupFinalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), cleanupFinalizer];
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  definition.status = withCondition(definition.status, { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending', message }, now);
}

function prepareForUpdate(definition: CustomResourceDefinition): void {
  // The status is the old object's, which is not to be changed.
  definition.status = { ...definition.status };
  rememberStoredVersion(definition);
}

function validate(definition: CustomResourceDefinition): FieldError[] {
  const { metadata, spec } = definition;
  const named = metadata.name === `${spec.names.plural}.${spec.group}`;
  const misnamed = named ? [] : [invalid('metadata.name', metadata.name ?? '', 'must be spec.names.plural+"."+spec.group')];
  return [...misnamed, ...validateDefinition(definition)];
}

function validateUpdate(definition: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const { spec } = definition;
  const established = isTrue(old, 'Established')
    ? [...immutable(spec.scope, old.spec.scope, 'spec.scope'), ...immutable(spec.names.kind, old.spec.names.kind, 'spec.names.kind')]
    : [];
  return [
    ...validateDefinition(definition, old),
    ...established,
    ...immutable(spec.group, old.spec.group, 'spec.group'),
    ...immutable(spec.names.plural, old.spec.names.plural, 'spec.names.plural'),
  ];
}

const unknownFormats = (definition: CustomResourceDefinition | undefined): string[] =>
  (definition?.spec.versions ?? []).flatMap(({ schema }) =>
    [...schemasWithin(schema?.openAPIV3Schema)].flatMap(({ format = '', type }) => (format === '' || isKnownFormat(format, type) ? [] : [format])),
  );

function warnings(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined): string[] {
  const known = new Set(unknownFormats(old));
  return unknownFormats(definition)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

export const customResourceDefinitionKind: Kind<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  type: 'CustomResourceDefinition',
  storage: { resource: 'apiextensions.k8s.io/customresourcedefinitions' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate,
  prepareForUpdate,
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'change'] },
  warnings,
  status: {},
  beginDeletion,
  looseFinalizers: true,
  hasGeneration: true,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [nameColumn, { name: 'Created At', type: 'date', format: '', priority: 0, cell: ({ metadata }) => metadata.creationTimestamp ?? null }],
};
