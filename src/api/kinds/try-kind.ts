import { causeMessage, causeReason, type FieldError } from '../field-error.ts';
import { apiVersionOf, type Kind } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { cloneObject, decode, deepFreeze } from '../schema/index.ts';
import { createErrors, statusUpdateErrors, updateErrors } from '../validation/strategy.ts';

/**
 * What becomes of objects of a kind, for tests: the steps that a registry takes on a write, without server and store.
 */

export const NOW = Date.parse('2026-03-01T12:00:00Z');

/** An object as a client may send it. `spec` and all else replace what the sample has; undefined takes a field away. */
export type Raw = Readonly<Record<string, unknown>>;

/** The object as it would be stored. */
export function created<T extends KubeObject>(kind: Kind<T>, raw: Raw): T {
  const object = decoded(kind, raw);
  object.metadata = { ...object.metadata, uid: 'a-uid', creationTimestamp: '2026-03-01T11:00:00Z' };
  if (kind.namespaced) object.metadata.namespace ??= 'default';
  kind.prepareForCreate?.(object, NOW);
  return object;
}

/** What a client is told of a wrong object: 'FieldValueRequired spec.x: Required value', one line per cause. */
export const refusal = <T extends KubeObject>(kind: Kind<T>, raw: Raw): string[] => createErrors(kind, created(kind, raw)).map(line);

/** The same of a wrong change. `change` gets a copy of the stored object, as a client would edit it. */
export function updateRefusal<T extends KubeObject>(kind: Kind<T>, old: T, change: (object: T) => void): string[] {
  return updateErrors(kind, updated(kind, old, change), stored(old)).map(line);
}

export function updated<T extends KubeObject>(kind: Kind<T>, old: T, change: (object: T) => void): T {
  const before = stored(old);
  const edited = cloneObject(before);
  change(edited);
  const object = decoded(kind, edited as unknown as Raw);
  const { status } = before as { status?: unknown };
  if (kind.status !== undefined && status !== undefined) Object.assign(object, { status });
  kind.prepareForUpdate?.(object, before);
  return object;
}

export function statusRefusal<T extends KubeObject>(kind: Kind<T>, old: T, change: (object: T) => void): string[] {
  return statusUpdateErrors(kind, statusUpdated(kind, old, change), stored(old)).map(line);
}

export function statusUpdated<T extends KubeObject>(kind: Kind<T>, old: T, change: (object: T) => void): T {
  const edited = cloneObject(stored(old));
  change(edited);
  const object = decoded(kind, edited as unknown as Raw);
  kind.status?.prepareForUpdate?.(object, stored(old), NOW);
  return object;
}

/** The cells of a row, by the names of their columns. */
export function row<T extends KubeObject>(kind: Kind<T>, object: T): Record<string, unknown> {
  return Object.fromEntries(kind.columns.map((column) => [column.name, column.cell(object, NOW)]));
}

export function decoded<T extends KubeObject>(kind: Kind<T>, raw: Raw): T {
  const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...raw };
  // The schema of a custom kind describes objects of its type.
  const object = kind.custom === undefined ? decode<T>(kind.type, typed).object : (kind.custom.decode(typed).object as T);
  kind.defaults?.(object);
  return object;
}

/** Stored objects are frozen: a strategy that changes one fails the test. */
function stored<T extends KubeObject>(object: T): T {
  const copy = cloneObject(object);
  copy.metadata.resourceVersion ??= '7';
  return deepFreeze(copy);
}

const line = (error: FieldError): string => `${causeReason(error)} ${error.field}: ${causeMessage(error)}`;
