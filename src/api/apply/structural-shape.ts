/** Shapes of custom resources, from the structural schema of their definition. */
import type { JsonSchema } from '../json-schema.ts';
import { type FieldShape, type ListShape, type MapShape, type Shape, untypedAtomic, untypedDeduced } from './shape.ts';
import { shapeOfType } from './type-shape.ts';

/** The whole object: kind, apiVersion and metadata have their usual types. Without a schema all is deduced. */
export function shapeOfCustomResource(schema: JsonSchema | undefined): Shape {
  const described = schema === undefined ? untypedDeduced : shapeOfSchema(schema);
  return { map: withObjectFields(described.map ?? untypedDeduced.map) };
}

function withObjectFields(map: MapShape | undefined): MapShape {
  const field = (name: string): FieldShape | undefined => objectFields[name] ?? map?.field(name);
  return { atomic: false, field, element: () => map?.element() };
}

const text: FieldShape = { shape: { scalar: 'string' } };
const objectFields: Readonly<Record<string, FieldShape>> = Object.assign(Object.create(null) as Record<string, FieldShape>, {
  apiVersion: text,
  kind: text,
  metadata: {
    get shape() {
      return shapeOfType('ObjectMeta');
    },
  },
});

/** `preserve`: a schema above has x-kubernetes-preserve-unknown-fields. */
export function shapeOfSchema(schema: JsonSchema, preserve = false): Shape {
  const keeps = preserve || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-int-or-string'] === true) return { scalar: 'untyped' };
  switch (schema.type) {
    case 'object':
      return { map: mapShape(schema, keeps) };
    case 'array':
      return { list: listShape(schema, keeps) };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'string':
      return { scalar: ['', 'byte'].includes(schema.format ?? '') ? 'string' : 'untyped' };
    default:
      return { scalar: 'untyped', list: listShape(schema, keeps), map: mapShape(schema, keeps) };
  }
}

function mapShape(schema: JsonSchema, keeps: boolean): MapShape {
  const { properties = {}, additionalProperties } = schema;
  const fields = new Map<string, FieldShape>();
  const field = (name: string): FieldShape | undefined => {
    const made = fields.get(name);
    if (made !== undefined || !Object.hasOwn(properties, name)) return made;
    const property = properties[name];
    if (property === undefined) return undefined;
    const shaped: FieldShape = { shape: shapeOfSchema(property, keeps), default: property.default };
    fields.set(name, shaped);
    return shaped;
  };
  const declares = Object.keys(properties).length > 0;
  const map: MapShape = {
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    field,
    element: elementOf(additionalProperties, { keeps, declares }),
    deduced: !declares && typeof additionalProperties !== 'object',
  };
  return schema['x-kubernetes-embedded-resource'] === true ? withObjectFields(map) : map;
}

function elementOf(additional: JsonSchema['additionalProperties'], { keeps, declares }: { keeps: boolean; declares: boolean }): () => Shape | undefined {
  if (typeof additional === 'object') {
    let made: Shape | undefined;
    return () => (made ??= shapeOfSchema(additional, keeps));
  }
  const open = additional ?? (keeps || !declares);
  return () => (open ? untypedDeduced : undefined);
}

function listShape(schema: JsonSchema, keeps: boolean): ListShape {
  const type = schema['x-kubernetes-list-type'] ?? 'atomic';
  const { items } = schema;
  let made: Shape | undefined;
  return {
    atomic: type === 'atomic',
    keys: type === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [],
    element: () => (made ??= items === undefined ? untypedAtomic : shapeOfSchema(items, keeps)),
  };
}
