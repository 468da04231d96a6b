import { namedTypes, typeLines } from '../generated/schema.ts';

/** A struct of Kubernetes' API. */
export interface TypeSchema {
  /** The name in `generated/types.ts`. */
  readonly name: string;
  /** 'PodSpec': the name in Go, without a prefix. */
  readonly goName: string;
  /** 'k8s.io/api/core/v1' */
  readonly package: string;
  /** Always replaced as a whole by an apply. */
  readonly atomic: boolean;
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
  readonly default: unknown;
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey: string | undefined;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: 'atomic' | 'granular' | undefined;
  /** The number in protobuf; 0: not encoded. */
  readonly number: number;
}

export type Scalar =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'bytes'
  | 'any'
  | 'Quantity'
  | 'Time'
  | 'MicroTime'
  | 'Duration'
  | 'IntOrString'
  | 'RawExtension'
  | 'FieldsV1';

/** `go`: the type's name in Go's messages: 'v1.PersistentVolumeAccessMode', '[]string'. `pointer`: absent differs from zero. */
export type TypeExpression =
  | { readonly type: Scalar; readonly pointer: boolean; readonly go: string; readonly values?: readonly string[] }
  | { readonly type: 'list'; readonly pointer: boolean; readonly go: string; readonly of: TypeExpression; readonly named: boolean }
  | { readonly type: 'map'; readonly pointer: boolean; readonly go: string; readonly key: TypeExpression; readonly of: TypeExpression }
  | { readonly type: 'struct'; readonly pointer: boolean; readonly go: string; readonly name: string };

const parsed = new Map<string, TypeSchema>();

export function hasType(name: string): boolean {
  return Object.hasOwn(typeLines, name);
}

/** @throws if there is no such type: names come from code, not from clients */
export function typeSchema(name: string): TypeSchema {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  void namedTypes;
  throw new Error('not written yet');
}

/** 'Pod' for ('v1', 'Pod'), 'EventsEvent' for ('events.k8s.io/v1', 'Event'); undefined: no such kind. */
export function typeNameOf(apiVersion: string, kind: string): string | undefined {
  void apiVersion;
  void kind;
  throw new Error('not written yet');
}
