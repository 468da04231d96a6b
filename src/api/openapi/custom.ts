import type { Kind } from '../kind.ts';
import { isJsonObject } from '../json.ts';
import type { Schema } from './definitions.ts';

type CustomKind = Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'custom'>;

/** 'com.example.v1.Widget' */
const nameOf = ({ group, version, kind }: CustomKind): string => [...group.split('.').reverse(), version, kind].join('.');

const objectMeta = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const listMeta = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';

const documents: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string', description: 'The version of the schema that this object is written in.' },
  kind: { type: 'string', description: 'What this object is.' },
};

/** The schemas of kinds that were defined at run time, and of their lists, by name. */
export function customDefinitions(kinds: readonly CustomKind[]): Record<string, Schema> {
  return Object.fromEntries(kinds.flatMap((kind) => [objectDefinition(kind), listDefinition(kind)]));
}

const identity = ({ group, version, kind }: CustomKind, suffix = ''): Schema => ({
  'x-kubernetes-group-version-kind': [{ group, kind: `${kind}${suffix}`, version }],
});

function objectDefinition(kind: CustomKind): [string, Schema] {
  const { properties = {}, ...schema } = kind.custom?.schema ?? {};
  const { metadata: _metadata, ...own } = properties;
  return [
    nameOf(kind),
    { ...schema, type: 'object', properties: { ...documents, metadata: { allOf: [{ $ref: objectMeta }], default: {} }, ...own }, ...identity(kind) },
  ];
}

function listDefinition(kind: CustomKind): [string, Schema] {
  const items = { type: 'array', items: { $ref: `#/components/schemas/${nameOf(kind)}` } };
  const properties = { ...documents, metadata: { allOf: [{ $ref: listMeta }], default: {} }, items };
  return [`${nameOf(kind)}List`, { type: 'object', required: ['items'], properties, ...identity(kind, 'List') }];
}

const strategic = 'application/strategic-merge-patch+json';
const protobuf = /^application\/vnd\.kubernetes\.protobuf/;

/** Removes, in place, what such kinds cannot do from the operations that speak of them, and says what these answer. */
export function describeCustomOperations(paths: Record<string, Schema>, kinds: readonly CustomKind[]): void {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  for (const path of Object.values(paths)) {
    for (const operation of Object.values(path)) {
      if (!isJsonObject(operation)) continue;
      const { kind: name } = (operation['x-kubernetes-group-version-kind'] ?? {}) as { kind?: string };
      const kind = byName.get(name ?? '');
      if (kind !== undefined) describeOperation(operation, kind);
    }
  }
}

function describeOperation(operation: Schema, kind: CustomKind): void {
  const action = operation['x-kubernetes-action'];
  const ref = { $ref: `#/components/schemas/${nameOf(kind)}${action === 'list' ? 'List' : ''}` };
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
  for (const type of Object.keys(content)) if (type === strategic || protobuf.test(type)) delete content[type];
}
