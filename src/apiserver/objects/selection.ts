import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { statusErrors } from '../../api/status.ts';
import { type FieldSelector, matchesFields } from '../../api/selectors/field-selector.ts';
import { type LabelSelector, matchesLabels, selectsEverything } from '../../api/selectors/label-selector.ts';

/** Which objects of a kind a list or a watch shows. */
export interface Selection {
  /** Every object matches. */
  readonly everything: boolean;
  matches(object: KubeObject): boolean;
}

const all: Selection = { everything: true, matches: () => true };

export function selectionOf(kind: Kind, selectors: { readonly labelSelector: LabelSelector; readonly fieldSelector: FieldSelector }): Selection {
  const { labelSelector, fieldSelector } = selectors;
  if (selectsEverything(labelSelector) && fieldSelector.length === 0) return all;
  return {
    everything: false,
    matches: (object) => matchesLabels(labelSelector, object.metadata.labels) && matchesFields(fieldSelector, (field) => readField(kind, object, field)),
  };
}

function readField(kind: Kind, object: KubeObject, field: string): string {
  if (field === 'metadata.name') return object.metadata.name ?? '';
  if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
  return kind.selectableFields[field]?.(object) ?? '';
}

/** @throws ApiError 400 for a field that is not selectable */
export function checkFields(kind: Kind, selector: FieldSelector): void {
  for (const { field } of selector) {
    if (field === 'metadata.name' || field === 'metadata.namespace' || Object.hasOwn(kind.selectableFields, field)) continue;
    throw statusErrors.badRequest(unsupported(kind, field));
  }
}

function unsupported(kind: Kind, field: string): string {
  if (kind.group === 'batch' && kind.kind === 'Job') return `field label "${field}" not supported for Job`;
  if (Object.keys(kind.selectableFields).length > 0) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
