import { type FieldSchema, groupOf, hasType, type Scalar, type TypeExpression, type TypeSchema, typeSchema, versionOf } from '../schema/type-schema.ts';
import { textsOf } from './texts/index.ts';

/** A JSON Schema of either version of OpenAPI. */
export type Schema = Record<string, unknown>;

/** The differences of the two versions: references, defaults, and types with two forms. */
export interface Dialect {
  readonly version: 2 | 3;
  /** '#/definitions/' */
  readonly prefix: string;
}

export const swagger2: Dialect = { version: 2, prefix: '#/definitions/' };
export const openApi3: Dialect = { version: 3, prefix: '#/components/schemas/' };

const apimachinery = 'io.k8s.apimachinery.pkg';

const specialNames: Partial<Record<Scalar, string>> = {
  Quantity: `${apimachinery}.api.resource.Quantity`,
  IntOrString: `${apimachinery}.util.intstr.IntOrString`,
  RawExtension: `${apimachinery}.runtime.RawExtension`,
  Time: `${apimachinery}.apis.meta.v1.Time`,
  MicroTime: `${apimachinery}.apis.meta.v1.MicroTime`,
  FieldsV1: `${apimachinery}.apis.meta.v1.FieldsV1`,
};

/** 'io.k8s.api.core.v1.PodSpec', 'dev.mooring.v1.VolumeIntent': the reversed domain, then the path. */
export function definitionName(type: string): string {
  const { package: from, goName } = typeSchema(type);
  const [domain = '', ...path] = from.split('/');
  return [...domain.split('.').reverse(), ...path, goName].join('.');
}

/** The definitions of types and of all types that they refer to, by name. */
export function definitionsOf(types: Iterable<string>, dialect: Dialect): Record<string, Schema> {
  const found = new Map<string, Schema>();
  const visit = (type: string): void => {
    const name = hasType(type) ? definitionName(type) : (specialNames[type as Scalar] ?? type);
    if (found.has(name)) return;
    found.set(name, {});
    found.set(name, hasType(type) ? structSchema(typeSchema(type), { dialect, visit }) : specialSchema(type as Scalar, dialect));
  };
  for (const type of types) visit(type);
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Visiting {
  readonly dialect: Dialect;
  /** Called with every referenced type. */
  readonly visit: (type: string) => void;
}

function structSchema(type: TypeSchema, visiting: Visiting): Schema {
  const fields = [...type.byName.values()];
  const required = fields.filter((field) => !field.optional).map((field) => field.name);
  const texts = textsOf(type.name, isKind(type));
  return {
    ...(texts.type === undefined ? {} : { description: texts.type }),
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, visiting, texts.fields.get(field.name))])),
    ...(required.length === 0 ? {} : { required: required.sort() }),
    type: 'object',
    ...(type.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...(type.union ? { 'x-kubernetes-unions': [unionOf(type)] } : {}),
    ...groupVersionKinds(type),
  };
}

function unionOf({ fields }: TypeSchema): Schema {
  const discriminator = fields.find((field) => field.discriminator)?.name;
  const members = fields.filter((field) => !field.discriminator).map(({ name }) => [name, name.charAt(0).toUpperCase() + name.slice(1)]);
  return { ...(discriminator === undefined ? {} : { discriminator }), 'fields-to-discriminateBy': Object.fromEntries(members) };
}

const isKind = ({ fields }: TypeSchema): boolean => fields.some(({ inline, type }) => inline && type.type === 'struct' && type.name === 'TypeMeta');

function groupVersionKinds(type: TypeSchema): Schema {
  if (!isKind(type)) return {};
  const group = groupOf(type);
  return { 'x-kubernetes-group-version-kind': [{ group: group === 'meta.k8s.io' ? '' : group, kind: type.goName, version: versionOf(type) }] };
}

function fieldSchema(field: FieldSchema, visiting: Visiting, description: string | undefined): Schema {
  const extensions: Schema = {
    ...(description === undefined ? {} : { description }),
    ...(field.listMapKeys.length === 0 ? {} : { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...(field.listType === undefined ? {} : { 'x-kubernetes-list-type': field.listType }),
    ...(field.mapType === undefined ? {} : { 'x-kubernetes-map-type': field.mapType }),
    ...(field.patchMergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
    ...(field.patchStrategies.length === 0 ? {} : { 'x-kubernetes-patch-strategy': field.patchStrategies.join(',') }),
  };
  const value = field.default ?? zeroDefault(field.type, field.omitEmpty);
  return typeSchemaOf(field.type, visiting, { ...(visiting.dialect.version === 3 && value !== undefined ? { default: value } : {}), ...extensions });
}

/** The OpenAPI 3 default of a field that Go always prints. */
function zeroDefault(type: TypeExpression, omitEmpty: boolean): unknown {
  if (type.pointer) return undefined;
  switch (type.type) {
    case 'struct':
      return {};
    case 'string':
      return omitEmpty ? undefined : '';
    case 'bool':
      return omitEmpty ? undefined : false;
    case 'int32':
    case 'int64':
      return omitEmpty ? undefined : 0;
    default:
      return undefined;
  }
}

function typeSchemaOf(type: TypeExpression, visiting: Visiting, extra: Schema = {}): Schema {
  switch (type.type) {
    case 'struct':
      visiting.visit(type.name);
      return reference(definitionName(type.name), visiting.dialect, extra);
    case 'list':
      return { items: elementSchema(type.of, visiting), type: 'array', ...extra };
    case 'map':
      return { additionalProperties: elementSchema(type.of, visiting), type: 'object', ...extra };
    case 'string':
      return { ...(type.values === undefined ? {} : { enum: type.values }), type: 'string', ...extra };
    case 'bool':
      return { type: 'boolean', ...extra };
    case 'int32':
    case 'int64':
      return { format: type.type, type: 'integer', ...extra };
    case 'bytes':
      return { format: 'byte', type: 'string', ...extra };
    case 'any':
      return { type: 'object', ...extra };
    default:
      visiting.visit(type.type);
      return reference(specialNames[type.type] ?? '', visiting.dialect, extra);
  }
}

function elementSchema(type: TypeExpression, visiting: Visiting): Schema {
  const value = zeroDefault(type, false);
  return typeSchemaOf(type, visiting, visiting.dialect.version === 3 && value !== undefined ? { default: value } : {});
}

/** In OpenAPI 3 a reference stands alone. */
function reference(name: string, { version, prefix }: Dialect, extra: Schema): Schema {
  const ref = { $ref: prefix + name };
  return version === 2 || Object.keys(extra).length === 0 ? { ...ref, ...extra } : { allOf: [ref], ...extra };
}

function specialSchema(type: Scalar, { version }: Dialect): Schema {
  switch (type) {
    case 'Quantity':
      return version === 2 ? { type: 'string' } : { oneOf: [{ type: 'string' }, { type: 'number' }] };
    case 'IntOrString':
      return version === 2 ? { format: 'int-or-string', type: 'string' } : { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    case 'Time':
    case 'MicroTime':
      return { format: 'date-time', type: 'string' };
    default:
      return { type: 'object' };
  }
}
