/** The conditions NamesAccepted and Established (upstream: apiextensions-apiserver, controller/status/naming_controller.go). */
import { approvalOf, isProtectedGroup } from '../../api/apiextensions/approval.ts';
import {
  type CustomResourceDefinition,
  type DefinitionCondition,
  type DefinitionNames,
  type DefinitionStatus,
  isTrue,
  withCondition,
} from '../../api/apiextensions/definition.ts';
import { deepEqual } from '../../api/schema/index.ts';

/** The status that a definition should have beside the others; undefined: it has it. `now`: a timestamp. */
export function namingStatus(definition: CustomResourceDefinition, others: Iterable<CustomResourceDefinition>, now: string): DefinitionStatus | undefined {
  const { names, accepted } = acceptNames(definition, others);
  let status: DefinitionStatus = { ...definition.status, acceptedNames: names };
  status = withCondition(status, accepted, now);
  if (!isTrue(definition, 'Established')) status = withCondition(status, establishment(accepted), now);
  const approval = approvalCondition(definition);
  if (approval !== undefined) status = withCondition(status, approval, now);
  return deepEqual(status, definition.status) ? undefined : status;
}

function acceptNames(
  definition: CustomResourceDefinition,
  others: Iterable<CustomResourceDefinition>,
): { names: DefinitionNames; accepted: DefinitionCondition } {
  const wanted = definition.spec.names;
  const had = definition.status.acceptedNames;
  const taken = takenNames(definition, others);
  let conflict: { reason: string; message: string } | undefined;
  const accept = <T>(value: T, { old, names, reason, conflicts }: { old: T; names: readonly string[]; reason: string; conflicts: ReadonlySet<string> }): T => {
    const used = names.filter((name) => conflicts.has(name)).map((name) => `${JSON.stringify(name)} is already in use`);
    if (used.length === 0) return value;
    conflict = { reason, message: used.length === 1 ? (used[0] ?? '') : `[${used.join(', ')}]` };
    return old;
  };
  const ask = (name: string | undefined, old: string | undefined): string[] => (name === undefined || name === old ? [] : [name]);
  const { resources, kinds } = taken;
  const plural = accept(wanted.plural, { old: had.plural, names: ask(wanted.plural, had.plural), reason: 'PluralConflict', conflicts: resources });
  const singular = accept(wanted.singular, { old: had.singular, names: ask(wanted.singular, had.singular), reason: 'SingularConflict', conflicts: resources });
  const fresh = (wanted.shortNames ?? []).filter((name) => !(had.shortNames ?? []).includes(name));
  const shortNames = accept(wanted.shortNames, { old: had.shortNames, names: fresh, reason: 'ShortNamesConflict', conflicts: resources });
  const kind = accept(wanted.kind, { old: had.kind, names: ask(wanted.kind, had.kind), reason: 'KindConflict', conflicts: kinds });
  const listKind = accept(wanted.listKind, { old: had.listKind, names: ask(wanted.listKind, had.listKind), reason: 'ListKindConflict', conflicts: kinds });
  const accepted: DefinitionCondition =
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict };
  return { names: present({ plural, singular, shortNames, kind, listKind, categories: wanted.categories }), accepted };
}

const present = (names: Record<keyof DefinitionNames, unknown>): DefinitionNames =>
  Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined)) as unknown as DefinitionNames;

function takenNames(definition: CustomResourceDefinition, others: Iterable<CustomResourceDefinition>): { resources: Set<string>; kinds: Set<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { metadata, spec, status } of others) {
    if (spec.group !== definition.spec.group || metadata.name === definition.metadata.name) continue;
    const { plural, singular = '', shortNames = [], kind, listKind = '' } = status.acceptedNames;
    for (const name of [plural, singular, ...shortNames]) if (name !== '') resources.add(name);
    for (const name of [kind, listKind]) if (name !== '') kinds.add(name);
  }
  return { resources, kinds };
}

const establishment = (accepted: DefinitionCondition): DefinitionCondition =>
  accepted.status === 'True'
    ? { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
    : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };

const approvalReasons = { approved: 'ApprovedAnnotation', bypassed: 'UnapprovedAnnotation', missing: 'MissingAnnotation', invalid: 'InvalidAnnotation' };

/** Groups that belong to Kubernetes need the annotation api-approved.kubernetes.io. */
function approvalCondition({ metadata, spec }: CustomResourceDefinition): DefinitionCondition | undefined {
  if (!isProtectedGroup(spec.group)) return undefined;
  const { state, reason } = approvalOf(metadata.annotations ?? {});
  return { type: 'KubernetesAPIApprovalPolicyConformant', status: state === 'approved' ? 'True' : 'False', reason: approvalReasons[state], message: reason };
}
