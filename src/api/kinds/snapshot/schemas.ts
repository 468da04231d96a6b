/** Parts of the schemas of snapshots, and how a definition is written down. */
import { customKinds } from '../../apiextensions/custom-kind.ts';
import type { CustomResourceDefinition, DefinitionNames, DefinitionVersion, PrinterColumn } from '../../apiextensions/definition.ts';
import type { JsonSchema, ValidationRule } from '../../json-schema.ts';
import type { Kind } from '../../kind.ts';
import type { KubeObject } from '../../object.ts';

export const text = (description: string, rules: readonly ValidationRule[] = []): JsonSchema => ({ type: 'string', description, ...withRules(rules) });
export const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
export const time = (description: string): JsonSchema => ({ type: 'string', format: 'date-time', description });
export const amount = (description: string, minimum?: number): JsonSchema => ({
  type: 'integer',
  format: 'int64',
  description,
  ...(minimum === undefined ? {} : { minimum }),
});
export const list = (items: JsonSchema, description: string, rules: readonly ValidationRule[] = []): JsonSchema => ({
  type: 'array',
  items,
  description,
  ...withRules(rules),
});

export interface ObjectSchema {
  readonly description?: string;
  readonly properties: Record<string, JsonSchema>;
  readonly required?: readonly string[];
  readonly rules?: readonly ValidationRule[];
  readonly atomic?: boolean;
}

export const object = ({ description, properties, required = [], rules = [], atomic = false }: ObjectSchema): JsonSchema => ({
  type: 'object',
  ...(description === undefined ? {} : { description }),
  properties,
  ...(required.length === 0 ? {} : { required: [...required] }),
  ...(atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
  ...withRules(rules),
});

const withRules = (rules: readonly ValidationRule[]): JsonSchema => (rules.length === 0 ? {} : { 'x-kubernetes-validations': [...rules] });

export const immutable = (name: string): readonly ValidationRule[] => [{ rule: 'self == oldSelf', message: `${name} is immutable` }];
export const immutableOnceSet = (name: string, verb = 'is'): readonly ValidationRule[] => [
  { rule: 'self == oldSelf', message: `${name} ${verb} immutable once set` },
];
export const notEmpty = (name: string): readonly ValidationRule[] => [{ rule: 'size(self) > 0', message: `${name} must not be the empty string when set` }];
export const keptOnceSet = (name: string): ValidationRule => ({ rule: `!has(oldSelf.${name}) || has(self.${name})`, message: `${name} is required once set` });
export const exactlyOneOf = (one: string, other: string): ValidationRule => ({
  rule: `(has(self.${one}) && !has(self.${other})) || (!has(self.${one}) && has(self.${other}))`,
  message: `exactly one of ${one} and ${other} must be set`,
});

/** The `status.error` of all snapshots. */
export const errorSchema: JsonSchema = object({
  description: 'The last error, if the snapshot could not be taken.',
  properties: { message: text('What went wrong.'), time: time('When it went wrong.') },
});

export const deletionPolicy = (rules: readonly ValidationRule[] = []): JsonSchema => ({
  ...text('What becomes of the snapshot in the storage system when its object is deleted: Delete or Retain.', rules),
  enum: ['Delete', 'Retain'],
});

/** A reference to the object that a content belongs to. */
export const referenceSchema = (rules: readonly ValidationRule[]): JsonSchema =>
  object({
    description: 'The snapshot that this content belongs to. It points back by its status.',
    properties: Object.fromEntries(
      ['apiVersion', 'fieldPath', 'kind', 'name', 'namespace', 'resourceVersion', 'uid'].map((field) => [field, { type: 'string' }]),
    ),
    atomic: true,
    rules,
  });

/** A class: its fields are at the top of the object. */
export const classSchema = (
  described: string,
  rules: { readonly driver?: readonly ValidationRule[]; readonly policy?: readonly ValidationRule[]; readonly parameters?: readonly ValidationRule[] } = {},
): JsonSchema =>
  topLevel(
    described,
    {
      driver: text('The name of the CSI driver.', rules.driver),
      deletionPolicy: deletionPolicy(rules.policy),
      parameters: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Parameters of the driver, and the names of the Secrets that calls to it carry.',
        ...withRules(rules.parameters ?? []),
      },
    },
    ['deletionPolicy', 'driver'],
  );

/** An object of the API: its type, its metadata, and the given fields. */
export const topLevel = (description: string, fields: Record<string, JsonSchema>, required: readonly string[]): JsonSchema =>
  object({ description, properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, ...fields }, required });

export const column = (name: string, type: PrinterColumn['type'], jsonPath: string): PrinterColumn => ({ name, type, jsonPath });
export const ageColumn = column('Age', 'date', '.metadata.creationTimestamp');
export const classColumns: readonly PrinterColumn[] = [column('Driver', 'string', '.driver'), column('DeletionPolicy', 'string', '.deletionPolicy'), ageColumn];

export interface PredefinedKind {
  readonly group: string;
  /** The first one is preferred; the last one is the stored one. */
  readonly versions: readonly string[];
  readonly names: Required<Pick<DefinitionNames, 'plural' | 'singular' | 'kind' | 'shortNames'>>;
  readonly namespaced: boolean;
  readonly schema: JsonSchema;
  readonly columns: readonly PrinterColumn[];
  readonly hasStatus: boolean;
}

/** The definition as it would be stored, with its names accepted. */
export function predefine({ group, versions, names, namespaced, schema, columns, hasStatus }: PredefinedKind): CustomResourceDefinition {
  const allNames: DefinitionNames = { ...names, listKind: `${names.kind}List` };
  const version = (name: string, i: number): DefinitionVersion => ({
    name,
    served: true,
    storage: i === versions.length - 1,
    schema: { openAPIV3Schema: schema },
    subresources: hasStatus ? { status: {} } : {},
    additionalPrinterColumns: [...columns],
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, names: allNames, scope: namespaced ? 'Namespaced' : 'Cluster', versions: versions.map(version), conversion: { strategy: 'None' } },
    status: { conditions: [{ type: 'Established', status: 'True' }], acceptedNames: allNames, storedVersions: [versions.at(-1) ?? ''] },
  };
}

/** The preferred version of a definition, with the type of its objects. */
export function preferredKind<T extends KubeObject>(definition: CustomResourceDefinition): Kind<T> {
  const [preferred] = customKinds(definition).served;
  if (preferred === undefined) throw new Error('a definition without served versions');
  // The schema of the definition describes objects of this type.
  return preferred;
}
