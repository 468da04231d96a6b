import { duplicate, type FieldError, required } from '../../field-error.ts';
import type { RuntimeClass, Toleration } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateLabels } from '../../validation/labels.ts';
import { immutable } from '../../validation/metadata.ts';
import { dnsLabelProblems, nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { validateContainerResources } from '../pod/containers/container-resources.ts';
import { invalidEach } from '../../validation/field-rules.ts';
import { validateTolerations } from '../pod/pod-scheduling.ts';

function validate({ handler, overhead, scheduling }: RuntimeClass): FieldError[] {
  const tolerations = scheduling?.tolerations ?? [];
  return [
    ...(handler === '' ? [required('handler')] : invalidEach('handler', handler, dnsLabelProblems(handler))),
    ...(overhead?.podFixed === undefined ? [] : validateContainerResources({ limits: overhead.podFixed }, 'overhead', { claimNames: new Set() })),
    ...(scheduling === undefined ? [] : validateLabels(scheduling.nodeSelector, 'scheduling.nodeSelector')),
    ...validateTolerations(tolerations, 'scheduling.tolerations'),
    ...repeated(tolerations),
  ];
}

/** However long they last, two of the same are one too many. */
function repeated(tolerations: readonly Toleration[]): FieldError[] {
  const keyOf = ({ key, operator, value, effect }: Toleration): string => JSON.stringify([key, operator, value, effect]);
  const seen = new Set<string>();
  return tolerations.flatMap((toleration, i) => {
    const key = keyOf(toleration);
    if (seen.has(key)) return [duplicate(`scheduling.tolerations[${i}]`, toleration)];
    seen.add(key);
    return [];
  });
}

export const runtimeClassKind: Kind<RuntimeClass> = {
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  singular: 'runtimeclass',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'RuntimeClass',
  storage: { resource: 'node.k8s.io/runtimeclasses' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  validate,
  validateUpdate: ({ handler }, old) => immutable(handler, old.handler, 'handler'),
  checks: { update: ['metadataChange', 'change'] },
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [nameColumn, textColumn('Handler', ({ handler }) => handler), ageColumn],
};
