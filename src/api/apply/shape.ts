/**
 * What an apply must know of a value: whether it is taken apart or is one thing, and what tells the items of a list apart.
 * A shape says what each form of a value would mean; most types have one form only. Shapes come from the schema of the
 * built-in types (type-shape.ts) or of a custom resource (structural-shape.ts).
 */
export interface Shape {
  readonly scalar?: 'string' | 'numeric' | 'boolean' | 'untyped';
  readonly list?: ListShape;
  readonly map?: MapShape;
}

export interface ListShape {
  /** Owned and replaced as a whole. Otherwise items are told apart by `keys`, or by their value if there are none (a set). */
  readonly atomic: boolean;
  readonly keys: readonly string[];
  readonly element: () => Shape;
}

export interface MapShape {
  readonly atomic: boolean;
  /** A declared field, that is: a field of a struct. */
  readonly field: (name: string) => FieldShape | undefined;
  /** Everything else; undefined: there is nothing else. */
  readonly element: () => Shape | undefined;
  /** Nothing is known of what is inside: its form is deduced from the value. */
  readonly deduced?: boolean;
}

export interface FieldShape {
  readonly shape: Shape;
  readonly default?: unknown;
}

/** Anything, as one thing. */
export const untypedAtomic: Shape = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], element: () => untypedAtomic },
  map: { atomic: true, field: () => undefined, element: () => untypedAtomic },
};

/** Anything: lists as one thing, maps key by key. */
export const untypedDeduced: Shape = {
  scalar: 'untyped',
  list: { atomic: true, keys: [], element: () => untypedAtomic },
  map: { atomic: false, field: () => undefined, element: () => untypedDeduced, deduced: true },
};

export type JsonMap = Readonly<Record<string, unknown>>;

export type Form = { readonly type: 'map'; readonly map: MapShape } | { readonly type: 'list'; readonly list: ListShape } | { readonly type: 'scalar' };

const scalarForm: Form = { type: 'scalar' };

/** The form in which a shape takes a value. A value that does not say (null), or does not fit, is taken in the first that there is. */
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
