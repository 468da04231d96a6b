import { namedTypes, typeLines as kubernetesTypeLines } from '../generated/schema.ts';
import { definitionTypeLines } from './definition-types.ts';
import { mooringTypeLines } from './mooring-types.ts';

/** Kubernetes' types, those that describe custom resources, and those that it does not know. */
const typeLines: Readonly<Record<string, string>> = { ...kubernetesTypeLines, ...definitionTypeLines, ...mooringTypeLines };

/** A struct of the API. */
export interface TypeSchema {
  /** The name in `generated/types.ts`. */
  readonly name: string;
  /** 'PodSpec': the name in Go, without a prefix. */
  readonly goName: string;
  /** 'k8s.io/api/core/v1', 'mooring.dev/v1' */
  readonly package: string;
  /** Always replaced as a whole by an apply. */
  readonly atomic: boolean;
  /** At most one of its fields is set; a discriminator, if there is one, says which. */
  readonly union: boolean;
  /** In the order of printing; inlined structs appear as one field with an empty name. */
  readonly fields: readonly FieldSchema[];
  /** Every JSON field, those of inlined structs included. */
  readonly byName: ReadonlyMap<string, FieldSchema>;
}

export interface FieldSchema {
  /** The JSON name; '' for an inlined struct. */
  readonly name: string;
  readonly type: TypeExpression;
  readonly inline: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** Marked +optional, or omitempty without +required. */
  readonly optional: boolean;
  /** Says which other field of a union is set. */
  readonly discriminator: boolean;
  readonly default: unknown;
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey: string | undefined;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: 'atomic' | 'granular' | undefined;
  /** The number in protobuf; 0: not encoded. */
  readonly number: number;
  /** The form of its values in protobuf, where their type does not say it. */
  readonly wire: WireForm | undefined;
}

/** A number of JSON, or a message that has a field for each of the two forms that a value has in JSON. */
export type WireForm = 'double' | 'JSONSchemaPropsOrArray' | 'JSONSchemaPropsOrBool' | 'JSONSchemaPropsOrStringArray';

export type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'bytes' | 'any' | 'Quantity' | 'Time' | 'MicroTime' | 'IntOrString' | 'RawExtension' | 'FieldsV1';

/** `go`: the type's name in Go's messages: 'v1.PersistentVolumeAccessMode', '[]string'. `pointer`: absent differs from zero. `named`: 'ResourceList', 'ExtraValue'. */
export type TypeExpression =
  | { readonly type: Scalar; readonly pointer: boolean; readonly go: string; readonly values?: readonly string[] }
  | { readonly type: 'list'; readonly pointer: boolean; readonly go: string; readonly of: TypeExpression; readonly named: string | undefined }
  | {
      readonly type: 'map';
      readonly pointer: boolean;
      readonly go: string;
      readonly key: TypeExpression;
      readonly of: TypeExpression;
      readonly named: string | undefined;
    }
  | { readonly type: 'struct'; readonly pointer: boolean; readonly go: string; readonly name: string };

const parsed = new Map<string, TypeSchema>();

export function hasType(name: string): boolean {
  return Object.hasOwn(typeLines, name);
}

/** @throws if there is no such type: names come from code, not from clients */
export function typeSchema(name: string): TypeSchema {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const text = hasType(name) ? typeLines[name] : undefined;
  if (text === undefined) throw new Error(`the schema has no type ${name}`);
  const schema = parseType(name, text);
  parsed.set(name, schema);
  return schema;
}

function parseType(name: string, text: string): TypeSchema {
  const [head = '', ...lines] = text.split('\n');
  const [from = '', goName = '', ...flags] = head.split(' ');
  const fields = lines.map(parseField);
  const byName = new Map<string, FieldSchema>();
  for (const field of fields) {
    if (!field.inline) byName.set(field.name, field);
    else if (field.type.type === 'struct') for (const inner of typeSchema(field.type.name).byName.values()) byName.set(inner.name, inner);
  }
  return { name, goName, package: from, atomic: flags.includes('atomic'), union: flags.includes('union'), fields, byName };
}

function parseField(line: string): FieldSchema {
  const [name = '', type = '', number = '0', ...words] = line.split(' ');
  const flags = new Set(words);
  const value = (key: string): string | undefined => words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1);
  const list = (key: string): string[] => value(key)?.split(',') ?? [];
  const defaultText = value('default');
  return {
    name: name === '-' ? '' : name,
    type: parseTypeExpression(type),
    inline: flags.has('inline'),
    omitEmpty: flags.has('omitempty'),
    omitZero: flags.has('omitzero'),
    optional: flags.has('optional') || (flags.has('omitempty') && !flags.has('required')),
    discriminator: flags.has('discriminator'),
    default: defaultText === undefined ? undefined : JSON.parse(defaultText),
    patchStrategies: list('patch') as FieldSchema['patchStrategies'],
    patchMergeKey: value('mergeKey'),
    listType: value('list') as FieldSchema['listType'],
    listMapKeys: list('keys'),
    mapType: value('map') as FieldSchema['mapType'],
    number: Number(number),
    wire: value('wire') as FieldSchema['wire'],
  };
}

const goNames: Readonly<Record<string, string>> = {
  Quantity: 'resource.Quantity',
  Time: 'v1.Time',
  MicroTime: 'v1.MicroTime',
  IntOrString: 'intstr.IntOrString',
  RawExtension: 'runtime.RawExtension',
  FieldsV1: 'v1.FieldsV1',
  any: 'interface {}',
  UID: 'types.UID',
  NodeName: 'types.NodeName',
};

/** '[]Volume', 'map[string]string', '*int32', 'ResourceList' … */
function parseTypeExpression(text: string): TypeExpression {
  if (text.startsWith('*')) return { ...parseTypeExpression(text.slice(1)), pointer: true };
  if (text === '[]byte') return { type: 'bytes', pointer: false, go: '[]uint8' };
  if (text.startsWith('[]')) {
    const of = parseTypeExpression(text.slice(2));
    return { type: 'list', pointer: false, go: `[]${of.go}`, of, named: undefined };
  }
  const map = /^map\[(\w+)\](.*)$/.exec(text);
  if (map !== null) {
    const key = parseTypeExpression(map[1] ?? '');
    const of = parseTypeExpression(map[2] ?? '');
    return { type: 'map', pointer: false, go: `map[${key.go}]${of.go}`, key, of, named: undefined };
  }
  return parseTypeName(text);
}

function parseTypeName(name: string): TypeExpression {
  const named = Object.hasOwn(namedTypes, name) ? namedTypes[name] : undefined;
  if (named !== undefined) {
    const base = parseTypeExpression(named.type);
    const naming = base.type === 'list' || base.type === 'map' ? { named: name } : {};
    return { ...base, ...naming, go: named.go, ...(named.values === undefined ? {} : { values: named.values }) };
  }
  if (hasType(name)) return { type: 'struct', pointer: false, go: `v1.${typeLines[name]?.split(/[ \n]/, 2)[1]}`, name };
  const scalar = name === 'UID' || name === 'NodeName' ? 'string' : (name as Scalar);
  return { type: scalar, pointer: false, go: goNames[name] ?? name };
}

/** 'k8s.io/api/storage/v1' → 'storage.k8s.io/v1'. Every package of the schema holds version v1. */
const groups: Readonly<Record<string, string>> = {
  core: '',
  apps: 'apps',
  batch: 'batch',
  policy: 'policy',
  autoscaling: 'autoscaling',
  flowcontrol: 'flowcontrol.apiserver.k8s.io',
  rbac: 'rbac.authorization.k8s.io',
  meta: 'meta.k8s.io',
  'mooring.dev': 'mooring.dev',
};

/** The group of a type, from the package it lives in. */
export function groupOf(schema: Pick<TypeSchema, 'package'>): string {
  const name = schema.package.split('/').at(-2) ?? '';
  return groups[name] ?? `${name}.k8s.io`;
}

/** Types of meta/v1 that exist in every group and version. */
const inEveryGroup: ReadonlySet<string> = new Set(
  'Status DeleteOptions ListOptions GetOptions CreateOptions UpdateOptions PatchOptions WatchEvent APIVersions APIGroup APIGroupList APIResourceList List'.split(
    ' ',
  ),
);
const onlyInMeta: ReadonlySet<string> = new Set(['Table', 'TableOptions', 'PartialObjectMetadata', 'PartialObjectMetadataList']);

let kindTypes: ReadonlyMap<string, string> | undefined;

/** 'Pod' for ('v1', 'Pod'), 'EventsEvent' for ('events.k8s.io/v1', 'Event'); undefined: no such kind. */
export function typeNameOf(apiVersion: string, kind: string): string | undefined {
  kindTypes ??= indexKinds();
  const own = kindTypes.get(`${apiVersion}/${kind}`);
  if (own !== undefined) return own;
  if (inEveryGroup.has(kind)) return kind;
  return onlyInMeta.has(kind) && apiVersion === 'meta.k8s.io/v1' ? kind : undefined;
}

/** 'k8s.io/api/autoscaling/v2' is version v2. */
export const versionOf = ({ package: from }: { readonly package: string }): string => from.slice(from.lastIndexOf('/') + 1);

function indexKinds(): ReadonlyMap<string, string> {
  const index = new Map<string, string>();
  for (const [name, text] of Object.entries(typeLines)) {
    if (!text.includes('\n- TypeMeta ')) continue;
    const [from = '', goName = ''] = text.split(/[ \n]/, 2);
    const group = groupOf({ package: from });
    if (group !== 'meta.k8s.io') index.set(`${group === '' ? '' : `${group}/`}${versionOf({ package: from })}/${goName}`, name);
  }
  return index;
}
