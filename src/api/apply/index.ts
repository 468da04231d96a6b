/**
 * Server-side apply and managedFields, on plain JSON (upstream: structured-merge-diff).
 *
 *     apply(context, { live, applied, manager, force })   the object and its managedFields after an apply
 *     trackWrite(context, write)                          managedFields after any other write
 *     shapeOfKind(kind)                                   the shape of a kind's objects, also of custom resources
 *
 * How it works: shape.ts (types), field-set.ts (sets of paths), merge.ts, compare.ts and remove.ts (typed values), and
 * ownership.ts (the managers of fields).
 */
import type { Kind } from '../kind.ts';
import type { Shape } from './shape.ts';
import { shapeOfCustomResource } from './structural-shape.ts';
import { shapeOfType } from './type-shape.ts';

export { apply, type ApplyContext, withoutManagedFields } from './apply.ts';
export { atomicsIn } from './atomics.ts';
export { emptySet } from './field-set.ts';
export { lastAppliedAnnotation } from './last-applied.ts';
export { merge } from './merge.ts';
export type { Typing } from './ownership.ts';
export { fieldElement } from './path-element.ts';
export { resetFields } from './reset-fields.ts';
export { ownersInObject, ownersInScale, type ScaleMapping, scaleVersion } from './scale-owners.ts';
export type { JsonMap, Shape } from './shape.ts';
export { trackWrite } from './track-write.ts';

const ofDefinitions = new WeakMap<object, Shape>();

export function shapeOfKind({ type, custom }: Pick<Kind, 'type' | 'custom'>): Shape {
  if (custom === undefined) return shapeOfType(type);
  let shape = ofDefinitions.get(custom);
  if (shape === undefined) {
    shape = shapeOfCustomResource(custom.schema);
    ofDefinitions.set(custom, shape);
  }
  return shape;
}
