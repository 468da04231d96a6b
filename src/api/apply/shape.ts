/**
 * The schema of a value as an apply needs it: whether it is atomic or granular, and the keys of list items.
 * A shape has up to three forms (map, list, scalar); most types have one. Shapes come from the schema of the
 * built-in types (type-shape.ts) or of a custom resource (structural-shape.ts).
 */
export interface Shape {
  readonly scalar?: 'string' | 'numeric' | 'boolean' | 'untyped';
  readonly list?: ListShape;
  readonly map?: MapShape;
}

export interface ListShape {
  /** Owned and replaced as a whole. Otherwise items are identified by `keys`, or by their value if there are none (a set). */
  readonly atomic: boolean;
  readonly keys: readonly string[];
  readonly element: () => Shape;
}

export interface MapShape {
  readonly atomic: boolean;
  /** A field of a struct. */
  readonly field: (name: string) => FieldShape | undefined;
  /** All other keys; undefined: none are allowed. */
  readonly element: () => Shape | undefined;
  /** Untyped: the form is deduced from the value. */
  readonly deduced?: boolean;
}

export interface FieldShape {
  readonly shape: Shape;
  readonly default?: unknown;
}

/** Any value, atomic. */
export const untypedAtomic: Shape = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], element: () => untypedAtomic },
  map: { atomic: true, field: () => undefined, element: () => untypedAtomic },
};

/** Any value: atomic lists, granular maps. */
export const untypedDeduced: Shape = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], element: () => untypedAtomic },
  map: { atomic: false, field: () => undefined, element: () => untypedDeduced, deduced: true },
};

export type JsonMap = Readonly<Record<string, unknown>>;

export type Form = { readonly type: 'map'; readonly map: MapShape } | { readonly type: 'list'; readonly list: ListShape } | { readonly type: 'scalar' };

const scalarForm: Form = { type: 'scalar' };

/** The form of a shape for a value. For null and values of the wrong type the first form is taken. */
export function formOf(shape: Shape, value: unknown): Form {
  const { scalar, list, map } = shape;
  if (Array.isArray(value)) {
    if (list !== undefined) return { type: 'list', list };
  } else if (typeof value === 'object' && value !== null) {
    if (map !== undefined) return { type: 'map', map };
  } else if (value !== null && value !== undefined && scalar !== undefined) return scalarForm;
  if (map !== undefined) return { type: 'map', map };
  if (scalar !== undefined || list === undefined) return scalarForm;
  return { type: 'list', list };
}

export const memberShape = (map: MapShape, name: string): Shape => map.field(name)?.shape ?? map.element() ?? untypedDeduced;

export const asMap = (value: unknown): JsonMap | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : undefined;
export const asList = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? (value as readonly unknown[]) : undefined);

export const isEmptyMap = (map: JsonMap | undefined): boolean => {
  for (const _ in map) return false;
  return true;
};

export const ownMember = (map: JsonMap | undefined, name: string): unknown => (map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined);
