/** Shapes of the built-in types, from their schema. Made on first use: types refer to each other. */
import { type FieldSchema, type TypeExpression, typeSchema } from '../schema/type-schema.ts';
import { type FieldShape, type MapShape, type Shape, untypedAtomic, untypedDeduced } from './shape.ts';

const known = new Map<string, Shape>();

/** @throws if the type does not exist: names come from code, not from clients */
export function shapeOfType(name: string): Shape {
  let shape = known.get(name);
  if (shape === undefined) {
    const schema = typeSchema(name);
    const fields = new Map<string, FieldShape>();
    const field = (key: string): FieldShape | undefined => {
      const made = fields.get(key);
      if (made !== undefined) return made;
      const described = schema.byName.get(key);
      if (described === undefined) return undefined;
      const shaped = fieldShape(described);
      fields.set(key, shaped);
      return shaped;
    };
    // A struct without fields is untyped.
    const element = (): Shape | undefined => (schema.byName.size === 0 ? untypedDeduced : undefined);
    shape = { map: { atomic: schema.atomic, field, element } };
    known.set(name, shape);
  }
  return shape;
}

function fieldShape(field: FieldSchema): FieldShape {
  return { shape: shapeOf(field.type, field), default: field.default ?? zeroOf(field) };
}

/** The zero of a key that Kubernetes always prints: its own schema has it as the default, so that items without the key can be identified. */
function zeroOf({ omitEmpty, type }: FieldSchema): unknown {
  if (omitEmpty || type.pointer) return undefined;
  switch (type.type) {
    case 'string':
      return '';
    case 'int32':
    case 'int64':
      return 0;
    case 'bool':
      return false;
    default:
      return undefined;
  }
}

function shapeOf(type: TypeExpression, field: FieldSchema | undefined): Shape {
  switch (type.type) {
    case 'struct':
      return field?.mapType === undefined ? shapeOfType(type.name) : withRelation(shapeOfType(type.name), field.mapType === 'atomic');
    case 'list': {
      const { atomic, keys } = listRelation(field);
      const element = once(() => shapeOf(type.of, undefined));
      return { list: { atomic, keys, element } };
    }
    case 'map': {
      const element = once(() => shapeOf(type.of, undefined));
      return { map: { atomic: field?.mapType === 'atomic', field: () => undefined, element } };
    }
    case 'int32':
    case 'int64':
      return { scalar: 'numeric' };
    case 'bool':
      return { scalar: 'boolean' };
    case 'string':
    case 'bytes':
      return { scalar: 'string' };
    case 'RawExtension':
      return untypedAtomic;
    case 'any':
      return untypedDeduced;
    case 'FieldsV1': {
      const map: MapShape = { atomic: false, field: () => undefined, element: () => untypedDeduced, deduced: true };
      return { map };
    }
    case 'Quantity':
    case 'Time':
    case 'MicroTime':
    case 'IntOrString':
      return { scalar: 'untyped' };
  }
}

const withRelation = (shape: Shape, atomic: boolean): Shape => (shape.map === undefined ? shape : { ...shape, map: { ...shape.map, atomic } });

/** By x-kubernetes-list-type; without it, by the patch strategy. */
function listRelation(field: FieldSchema | undefined): { atomic: boolean; keys: readonly string[] } {
  switch (field?.listType) {
    case 'atomic':
      return { atomic: true, keys: [] };
    case 'set':
      return { atomic: false, keys: [] };
    case 'map':
      return { atomic: false, keys: field.listMapKeys };
    default: {
      if (field?.patchStrategies.includes('merge') !== true) return { atomic: true, keys: [] };
      return { atomic: false, keys: field.patchMergeKey === undefined ? [] : [field.patchMergeKey] };
    }
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
