import { type FieldError, forbidden, invalid, required } from '../../field-error.ts';
import type { Affinity, Container, NodeAffinity, NodeSelectorTerm, Pod, PodSchedulingGate, PodSpec, Toleration } from '../../generated/types.ts';
import { outOfRange } from '../../validation/text.ts';
import { imageWithoutPadding } from './container-image.ts';
import { entry } from '../../validation/field-rules.ts';
import { validateAnnotationChanges, validatePodAnnotations } from './pod-annotations.ts';
import { internalForm } from './internal-form.ts';
import { podSpecDiff } from './pod-diff.ts';
import { validateTolerations } from './pod-scheduling.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { without } from '../../validation/without.ts';

const MAX_DEADLINE_SECONDS = 2 ** 31 - 1;
const mutable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

/** A pod stays as it was made, but for a few fields, each with its own rule. */
export function validatePodUpdate(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[][] = [
    validateAnnotationChanges(pod.metadata.annotations, old.metadata.annotations),
    validatePodAnnotations(pod.metadata.annotations, pod.spec, 'metadata.annotations'),
  ];
  for (const list of ['containers', 'initContainers'] as const) {
    const [now, before] = [pod.spec[list] ?? [], old.spec[list] ?? []];
    if (now.length !== before.length) return [...errors.flat(), forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
    errors.push(validateImages(now, `spec.${list}`));
  }
  const deadline = validateDeadlineChange(pod.spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds);
  errors.push(deadline.errors);
  if (deadline.stop) return errors.flat();
  return [
    ...errors.flat(),
    ...validateTolerationChange(pod.spec.tolerations, old.spec.tolerations),
    ...validateGateChange(pod.spec.schedulingGates, old.spec.schedulingGates),
    ...validateRest(pod.spec, old.spec),
  ];
}

const validateImages = (containers: readonly Container[], field: string): FieldError[] =>
  containers.flatMap(({ image = '' }, i) => [
    ...(image === '' ? [required(`${field}[${i}].image`)] : []),
    ...imageWithoutPadding(image, `${field}[${i}].image`),
  ]);

/** A deadline may be set, and drawn nearer. `stop`: Kubernetes looks no further. */
function validateDeadlineChange(deadline: number | undefined, old: number | undefined): { errors: FieldError[]; stop: boolean } {
  const field = 'spec.activeDeadlineSeconds';
  if (deadline === undefined) {
    return { errors: old === undefined ? [] : [invalid(field, null, 'must not update from a positive integer to nil value')], stop: false };
  }
  if (deadline < 0 || deadline > MAX_DEADLINE_SECONDS) return { errors: [invalid(field, deadline, outOfRange(0, MAX_DEADLINE_SECONDS))], stop: true };
  if (old !== undefined && old < deadline) return { errors: [invalid(field, deadline, 'must be less than or equal to previous value')], stop: true };
  return { errors: [], stop: false };
}

/** Tolerations may be added; of those that are there only the seconds may change. */
function validateTolerationChange(tolerations: readonly Toleration[] = [], old: readonly Toleration[] = []): FieldError[] {
  const field = 'spec.tolerations';
  const fixed = ({ key, operator, value, effect }: Toleration): string => JSON.stringify([key, operator, value, effect]);
  const kept = new Set(tolerations.map(fixed));
  if (!old.every((toleration) => kept.has(fixed(toleration))))
    return [forbidden(field, 'existing toleration can not be modified except its tolerationSeconds')];
  return validateTolerations(tolerations, field);
}

function validateGateChange(gates: readonly PodSchedulingGate[] = [], old: readonly PodSchedulingGate[] = []): FieldError[] {
  const names = new Set(old.map((gate) => gate.name));
  return gates.flatMap(({ name }, i) =>
    names.has(name) ? [] : [forbidden(`spec.schedulingGates[${i}].name`, `only deletion is allowed, but found new scheduling gate '${name}'`)],
  );
}

/** Everything else: compared after what may change was set back. */
function validateRest(spec: PodSpec, old: PodSpec): FieldError[] {
  if (sameMeaning(spec, old)) return [];
  const reset: PodSpec = { ...spec };
  reset.containers = withImages(spec.containers ?? [], old.containers ?? []);
  if (spec.initContainers !== undefined) reset.initContainers = withImages(spec.initContainers, old.initContainers ?? []);
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'] as const) setBack(reset, old, field);
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) setBack(reset, old, 'terminationGracePeriodSeconds');
  const errors = (old.schedulingGates ?? []).length > 0 ? tightenPlacement(reset, old) : [];
  if (sameMeaning(reset, old)) return errors;
  return [...errors, forbidden('spec', `pod updates may not change fields other than ${mutable}\n${podSpecDiff(old, reset)}`)];
}

const withImages = (containers: readonly Container[], old: readonly Container[]): Container[] =>
  containers.map((container, i) => {
    const image = old[i]?.image;
    return image === undefined ? without(container, 'image') : { ...container, image };
  });

function setBack(spec: PodSpec, old: PodSpec, field: keyof PodSpec): void {
  if (old[field] === undefined) delete spec[field];
  else Object.assign(spec, { [field]: old[field] });
}

/** While the scheduler is held off by gates, where a pod may run can still be narrowed. Sets back what is allowed. */
function tightenPlacement(spec: PodSpec, old: PodSpec): FieldError[] {
  const selector = sameMeaning(spec.nodeSelector, old.nodeSelector) ? [] : validateNodeSelectorChange(spec.nodeSelector ?? {}, old.nodeSelector ?? {});
  setBack(spec, old, 'nodeSelector');
  const [nodes, oldNodes] = [spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity];
  if (sameMeaning(nodes, oldNodes)) return selector;
  const restored = restoreNodeAffinity(spec.affinity, old.affinity);
  if (restored === undefined) delete spec.affinity;
  else spec.affinity = restored;
  return [...selector, ...validateNodeAffinityChange(nodes, oldNodes)];
}

/** The new affinity with the old affinity to nodes. */
function restoreNodeAffinity(affinity: Affinity | undefined, old: Affinity | undefined): Affinity | undefined {
  const others: Affinity = without(affinity ?? {}, 'nodeAffinity');
  const isOnlyNodes = others.podAffinity === undefined && others.podAntiAffinity === undefined;
  if (old === undefined && isOnlyNodes) return undefined;
  return old?.nodeAffinity === undefined ? others : { ...others, nodeAffinity: old.nodeAffinity };
}

function validateNodeSelectorChange(selector: Record<string, string>, old: Record<string, string>): FieldError[] {
  const isKept = Object.entries(old).every(([key, value]) => entry(selector, key) === value);
  if (isKept) return [];
  return [invalid('spec.nodeSelector', selector, 'only additions to spec.nodeSelector are allowed (no mutations or deletions)')];
}

function validateNodeAffinityChange(affinity: NodeAffinity | undefined, old: NodeAffinity | undefined): FieldError[] {
  const field = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const before = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const now = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (before.length === 0) return [];
  // Terms are alternatives: another one would widen the choice.
  if (before.length !== now.length)
    return [invalid(field, now.length === 0 ? null : now.map(shown), 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  return now.flatMap((term, i) =>
    isNarrower(term, before[i] ?? {}) ? [] : [invalid(`${field}[${i}]`, shown(term), 'only additions are allowed (no mutations or deletions)')],
  );
}

const shown = (term: NodeSelectorTerm): object => internalForm('NodeSelectorTerm', term);

function isNarrower(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const;
  const isEmpty = (of: NodeSelectorTerm): boolean => lists.every((list) => (of[list] ?? []).length === 0);
  // A term without requirements matches no node at all.
  if (isEmpty(old)) return isEmpty(term);
  return lists.every((list) => sameMeaning((term[list] ?? []).slice(0, (old[list] ?? []).length), old[list] ?? []));
}
