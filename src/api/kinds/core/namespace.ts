import { type FieldError, invalid } from '../../field-error.ts';
import type { Namespace } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateFinalizerName, validateQualifiedFinalizerName } from '../../validation/metadata.ts';
import { nameIsDnsLabel } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
/** Kubernetes' own finalizer: until it is gone, the namespace is not empty yet. */
const KUBERNETES_FINALIZER = 'kubernetes';

/** Every namespace can be selected by its name; a generated one is not known when defaults are set. */
function labelWithName({ metadata }: Namespace): void {
  if (metadata.name !== undefined && metadata.name !== '') metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
}

function defaults(namespace: Namespace): void {
  labelWithName(namespace);
  namespace.status.phase ??= 'Active';
}

function prepareForCreate(namespace: Namespace): void {
  labelWithName(namespace);
  namespace.status = { phase: 'Active' };
  const finalizers = namespace.spec.finalizers ?? [];
  if (!finalizers.includes(KUBERNETES_FINALIZER)) namespace.spec.finalizers = [...finalizers, KUBERNETES_FINALIZER];
}

function prepareForUpdate(namespace: Namespace, old: Namespace): void {
  // The finalize subresource alone changes spec.finalizers.
  if (old.spec.finalizers === undefined) delete namespace.spec.finalizers;
  else namespace.spec.finalizers = [...old.spec.finalizers];
}

function validate(namespace: Namespace): FieldError[] {
  return (namespace.spec.finalizers ?? []).flatMap((finalizer) => [
    ...validateFinalizerName(finalizer, 'spec.finalizers'),
    ...validateQualifiedFinalizerName(finalizer, 'spec.finalizers'),
  ]);
}

function validateStatusUpdate({ metadata, status }: Namespace): FieldError[] {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const expected = isDeleted ? 'Terminating' : 'Active';
  if (status.phase === expected) return [];
  return [invalid('status.Phase', status.phase ?? '', `may only be '${expected}' if \`deletionTimestamp\` is ${isDeleted ? 'not empty' : 'empty'}`)];
}

export const namespaceKind: Kind<Namespace> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  categories: [],
  namespaced: false,
  type: 'Namespace',
  storage: { resource: 'namespaces' },
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  validateName: nameIsDnsLabel,
  defaults,
  prepareForCreate,
  prepareForUpdate,
  validate,
  status: { validateUpdate: validateStatusUpdate },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: { 'status.phase': (namespace) => namespace.status.phase ?? '' },
  columns: [nameColumn, textColumn('Status', (namespace) => namespace.status.phase ?? ''), ageColumn],
};
