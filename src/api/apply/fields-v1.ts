/** A field set on the wire: `{"f:spec":{"f:replicas":{},"f:template":{".":{},"f:spec":{…}}}}`. */
import { isJsonObject, setOwn } from '../json.ts';
import { emptySet, type FieldSet, leaf, node, ordered, union } from './field-set.ts';
import { type PathElement, readElement } from './path-element.ts';

export type FieldsV1 = Record<string, unknown>;

/** @throws SyntaxError for an invalid field set */
export function readFields(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return emptySet;
  const read = readNode(fields);
  return node(false, read.children);
}

function readNode(fields: unknown): FieldSet {
  if (!isJsonObject(fields)) throw new SyntaxError('a field set is an object');
  let member = false;
  const children = new Map<PathElement, FieldSet>();
  for (const [text, below] of Object.entries(fields)) {
    if (text === '.') {
      member = true;
      continue;
    }
    const element = readElement(text);
    // An element of a later version: it is ignored.
    if (element === undefined) continue;
    const child = readNode(below);
    const known = children.get(element);
    children.set(element, known === undefined ? child : union(known, child));
  }
  return children.size === 0 ? leaf : { member, children };
}

export function writeFields(set: FieldSet): FieldsV1 {
  const fields: FieldsV1 = {};
  for (const [element, child] of ordered(set)) {
    const below = writeFields(child);
    setOwn(fields, element, child.member && child.children.size > 0 ? { '.': {}, ...below } : below);
  }
  return fields;
}
