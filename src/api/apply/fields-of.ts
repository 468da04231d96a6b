import { asMember, emptySet, type FieldSet, leaf, node } from './field-set.ts';
import { itemElementOrNone } from './list-item.ts';
import { fieldElement, fieldName, isKeyElement, type PathElement } from './path-element.ts';
import { asList, asMap, formOf, isEmptyMap, type JsonMap, type ListShape, type MapShape, memberShape, type Shape, untypedDeduced } from './shape.ts';

/** The fields of a value: leaves, items of lists, keys of maps; not the structs around them. */
export function fieldsOf(shape: Shape, value: unknown): FieldSet {
  const below = fieldsBelow(shape, value);
  return below.member ? node(false, below.children) : below;
}

function fieldsBelow(shape: Shape, value: unknown): FieldSet {
  const form = formOf(shape, value);
  switch (form.type) {
    case 'scalar':
      return leaf;
    case 'list': {
      const list = asList(value);
      if (form.list.atomic) return leaf;
      return list === undefined ? emptySet : fieldsOfItems(form.list, list);
    }
    case 'map': {
      const map = asMap(value);
      if (form.map.atomic) return leaf;
      return map === undefined ? emptySet : fieldsOfMembers(form.map, map);
    }
  }
}

function fieldsOfItems(list: ListShape, items: readonly unknown[]): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const item of items) {
    const element = itemElementOrNone(list, item);
    if (element === undefined) continue;
    // Items with the same key are owned as they are, without their fields.
    children.set(element, children.has(element) ? leaf : asMember(fieldsBelow(list.element(), item)));
  }
  return node(false, children);
}

function fieldsOfMembers(map: MapShape, members: JsonMap): FieldSet {
  const children: [PathElement, FieldSet][] = [];
  for (const [name, value] of Object.entries(members)) {
    const declared = map.field(name);
    const below = fieldsBelow(declared?.shape ?? map.element() ?? untypedDeduced, value);
    const asMapValue = asMap(value);
    const empty = value === null || (asMapValue !== undefined && isEmptyMap(asMapValue));
    children.push([fieldElement(name), empty || declared === undefined ? asMember(below) : below]);
  }
  return node(false, children);
}

/** Adds the structs above: {.spec.replicas} becomes {.spec, .spec.replicas}. Keys of maps and items of lists stay. */
export function withStructs(set: FieldSet, shape: Shape | undefined): FieldSet {
  if (set.children.size === 0) return set;
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children) {
    const name = fieldName(element);
    const declared = name === undefined ? undefined : shape?.map?.field(name);
    const below = withStructs(child, declared?.shape ?? shapeBelow(shape, element));
    children.set(element, declared !== undefined && child.children.size > 0 ? asMember(below) : below);
  }
  return { member: set.member, children };
}

function shapeBelow(shape: Shape | undefined, element: PathElement): Shape | undefined {
  const name = fieldName(element);
  if (name !== undefined) return shape?.map === undefined ? undefined : memberShape(shape.map, name);
  return isKeyElement(element) ? shape?.list?.element() : undefined;
}

/**
 * A set of an older schema in terms of the current one: fields of a value that has become
 * atomic become the value itself (upstream: typed.ReconcileFieldSetWithSchema).
 */
export function underSchema(set: FieldSet, shape: Shape | undefined): FieldSet {
  if (shape === undefined || set.children.size === 0) return set;
  const { map, list } = shape;
  if (map?.deduced === true) return set;
  const atomic = map !== undefined ? map.atomic : shape.scalar === undefined && list?.atomic === true;
  if (atomic) return leaf;
  let changed = false;
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children) {
    const fitting = underSchema(child, knownShapeBelow(shape, element));
    changed ||= fitting !== child;
    children.set(element, fitting);
  }
  return changed ? { member: set.member, children } : set;
}

function knownShapeBelow({ map, list }: Shape, element: PathElement): Shape | undefined {
  const name = fieldName(element);
  if (name !== undefined) return map?.field(name)?.shape ?? map?.element();
  return list?.element();
}
