import type { Kind } from '../kind.ts';
import { isJsonObject } from '../json.ts';
import { additionalOf, type JsonSchema } from '../json-schema.ts';
import type { Dialect, Schema } from './definitions.ts';

type CustomKind = Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'custom'>;

/** 'com.example.v1.Widget' */
const nameOf = ({ group, version, kind }: CustomKind): string => [...group.split('.').reverse(), version, kind].join('.');

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** A struct: in OpenAPI 3 a reference may have siblings only inside allOf. */
const metadataOf = (type: 'ObjectMeta' | 'ListMeta', { version, prefix }: Dialect): Schema => {
  const $ref = `${prefix}${meta}.${type}`;
  return version === 2 ? { $ref } : { allOf: [{ $ref }], default: {} };
};

const documents: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string', description: 'APIVersion defines the schema that this object is written in.' },
  kind: { type: 'string', description: 'Kind names what this object is.' },
};

/** The schemas of custom resources and their lists, by name. */
export function customDefinitions(kinds: readonly CustomKind[], dialect: Dialect): Record<string, Schema> {
  return Object.fromEntries(kinds.flatMap((kind) => [objectDefinition(kind, dialect), listDefinition(kind, dialect)]));
}

const identity = ({ group, version }: CustomKind, kind: string): Schema => ({ 'x-kubernetes-group-version-kind': [{ group, kind, version }] });

const listKindOf = ({ kind, custom }: CustomKind): string => (custom === undefined || custom.listKind === '' ? `${kind}List` : custom.listKind);

function objectDefinition(kind: CustomKind, dialect: Dialect): [string, Schema] {
  const given: JsonSchema = kind.custom?.schema ?? {};
  const { properties = {}, ...schema } = dialect.version === 2 ? inVersion2(given) : given;
  const { metadata: _metadata, ...own } = properties;
  // A kind that preserves unknown fields at the root is any object: with a property, even metadata, kubectl would refuse all others.
  if (dialect.version === 2 && given['x-kubernetes-preserve-unknown-fields'] === true) return [nameOf(kind), { type: 'object', ...identity(kind, kind.kind) }];
  const all = { ...documents, metadata: metadataOf('ObjectMeta', dialect), ...own };
  return [nameOf(kind), { ...schema, type: 'object', properties: all, ...identity(kind, kind.kind) }];
}

function listDefinition(kind: CustomKind, dialect: Dialect): [string, Schema] {
  const items = { type: 'array', items: { $ref: `${dialect.prefix}${nameOf(kind)}` } };
  const properties = { ...documents, metadata: metadataOf('ListMeta', dialect), items };
  return [listNameOf(kind), { type: 'object', required: ['items'], properties, ...identity(kind, listKindOf(kind)) }];
}

const listNameOf = (kind: CustomKind): string => nameOf({ ...kind, kind: listKindOf(kind) });

/** The part that Swagger 2 can express (v1.36.4: ToStructuralOpenAPIV2): no anyOf and the like, and no type, items or properties of nullable and untyped values. */
function inVersion2(schema: JsonSchema): JsonSchema {
  const { allOf: _all, oneOf: _one, anyOf: _any, not: _not, $schema: _dialect, nullable = false, required = [], ...rest } = schema;
  const untyped = nullable || rest['x-kubernetes-preserve-unknown-fields'] === true;
  const { items, properties, type, ...common } = rest;
  const additional = additionalOf(schema);
  const needed = additional?.nullable === true ? [] : required.filter((name) => properties?.[name]?.nullable !== true);
  return {
    ...common,
    ...(untyped || type === undefined || (type === 'array' && items === undefined) ? {} : { type }),
    ...(untyped || items === undefined ? {} : { items: inVersion2(items) }),
    ...(untyped || properties === undefined ? {} : { properties: mapped(properties, inVersion2) }),
    ...(additional === undefined ? {} : { additionalProperties: inVersion2(additional) }),
    ...(needed.length === 0 ? {} : { required: needed }),
  };
}

const mapped = <T>(values: Readonly<Record<string, T>>, change: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

const strategic = 'application/strategic-merge-patch+json';
const protobuf = /^application\/vnd\.kubernetes\.protobuf/;

/** Adapts, in place, the operations on custom resources: their content types and their response schemas. */
export function describeCustomOperations(paths: Record<string, Schema>, kinds: readonly CustomKind[], dialect: Dialect): void {
  const describe = dialect.version === 2 ? describeOperation2 : describeOperation;
  const keyOf = ({ group, version, kind }: { group?: string; version?: string; kind?: string }): string => `${group ?? ''}/${version ?? ''}/${kind ?? ''}`;
  const byName = new Map(kinds.map((kind) => [keyOf(kind), kind]));
  for (const path of Object.values(paths)) {
    for (const operation of Object.values(path)) {
      if (!isJsonObject(operation)) continue;
      const kind = byName.get(keyOf(operation['x-kubernetes-group-version-kind'] ?? {}));
      if (kind !== undefined) describe(operation, { kind, dialect });
    }
  }
}

interface Described {
  readonly kind: CustomKind;
  readonly dialect: Dialect;
}

const answered = ({ kind, dialect }: Described, action: unknown): Schema => ({
  $ref: `${dialect.prefix}${action === 'list' ? listNameOf(kind) : nameOf(kind)}`,
});

const isCommon = (type: string): boolean => type !== strategic && !protobuf.test(type);

function describeOperation2(operation: Schema, described: Described): void {
  const action = operation['x-kubernetes-action'];
  for (const name of ['consumes', 'produces']) operation[name] = ((operation[name] ?? []) as string[]).filter(isCommon);
  if (action === 'delete' || action === 'deletecollection') return;
  const schema = answered(described, action);
  for (const [code, response] of Object.entries((operation['responses'] ?? {}) as Record<string, Schema>)) if (code !== '401') response['schema'] = schema;
  const body = { in: 'body', name: 'body', required: true, schema };
  if (action === 'post' || action === 'put') operation['parameters'] = [body, ...((operation['parameters'] ?? []) as Schema[])];
}

function describeOperation(operation: Schema, described: Described): void {
  const action = operation['x-kubernetes-action'];
  const ref = answered(described, action);
  const { requestBody } = operation as { requestBody?: { content: Record<string, Schema> } };
  if (requestBody !== undefined) dropTypes(requestBody.content);
  else if (action === 'post' || action === 'put')
    operation['requestBody'] = { content: { 'application/json': { schema: ref }, 'application/yaml': { schema: ref } } };
  if (action === 'delete' || action === 'deletecollection') return;
  for (const response of Object.values((operation['responses'] ?? {}) as Record<string, { content?: Record<string, Schema> }>)) {
    if (response.content === undefined) continue;
    dropTypes(response.content);
    for (const type of Object.keys(response.content)) response.content[type] = { schema: ref };
  }
}

function dropTypes(content: Record<string, Schema>): void {
  for (const type of Object.keys(content)) if (!isCommon(type)) delete content[type];
}
