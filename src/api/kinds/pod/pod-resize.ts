/** pods/resize: what containers, and a pod as a whole, may use is changed while they run. */
import { type FieldError, forbidden, invalid } from '../../field-error.ts';
import type { Container, Pod, PodSpec, ResourceRequirements } from '../../generated/types.ts';
import type { SpecPartRules } from '../../kind.ts';
import { entry } from '../../validation/field-rules.ts';
import { MIRROR_POD } from './pod-annotations.ts';
import { dropDisabledFields } from './pod-disabled-fields.ts';
import { isSidecar } from './pod-parts.ts';
import { keepMetadata, wholePod } from './pod-subresource.ts';
import { qosClassOf } from './qos.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { without } from '../../validation/without.ts';

export const podResize: SpecPartRules<Pod> = {
  prepareForUpdate: keepAllButResources,
  refuse: refuseResize,
  validateUpdate: validateResize,
};

const lists = ['initContainers', 'containers'] as const;
type ContainerList = (typeof lists)[number];

/** Containers that were added, removed, renamed or reordered stay as they are sent: validation says what is wrong with that. */
function keepAllButResources(pod: Pod, old: Pod): void {
  if (lists.some((list) => (pod.spec[list] ?? []).length !== (old.spec[list] ?? []).length)) return;
  const { resources } = pod.spec;
  const resized = lists.map((list) => [list, withResources(pod.spec[list] ?? undefined, old.spec[list] ?? [])] as const);
  pod.spec = { ...(resources === undefined ? without(old.spec, 'resources') : { ...old.spec, resources }) };
  for (const [list, containers] of resized) if (containers !== undefined) pod.spec[list] = containers;
  pod.status = old.status;
  keepMetadata(pod, old);
  dropDisabledFields(pod.spec);
}

function withResources(containers: Container[] | undefined, old: readonly Container[]): Container[] | undefined {
  if (containers === undefined || containers.some(({ name }, i) => name !== old[i]?.name)) return containers;
  return containers.map(({ resources, resizePolicy }, i) => {
    const kept = without(old[i] ?? ({} as Container), 'resizePolicy');
    return { ...kept, resources, ...(resizePolicy === undefined ? {} : { resizePolicy }) };
  });
}

function refuseResize({ metadata, spec }: Pod): FieldError[] {
  if (entry(metadata.annotations, MIRROR_POD) !== undefined) return [forbidden(wholePod, 'static pods cannot be resized')];
  return spec.os?.name === 'windows' ? [forbidden(wholePod, 'windows pods cannot be resized')] : [];
}

function validateResize(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = [];
  if ((old.status.qosClass ?? qosClassOf(old)) !== qosClassOf(pod)) {
    errors.push(invalid('spec', pod.status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!canBeResized(old)) errors.push(forbidden('spec', 'Pod running on node without support for resize'));
  errors.push(...validatePodLevel(pod.spec, old.spec));
  if ((old.status.nodeAllocatableResourceClaimStatuses ?? []).length > 0) {
    errors.push(forbidden('spec', 'pods with node allocatable resource claims cannot be resized'));
  }
  const order = validateOrder(pod.spec, old.spec);
  if (order.length > 0) return [...errors, ...order];
  errors.push(...lists.flatMap((list) => validateNothingRemoved(pod.spec, old.spec, list)), ...validateOnlyResources(pod.spec, old.spec));
  if (errors.length > 0 || sameMeaning(withOldAmounts(pod.spec, old.spec), old.spec)) return errors;
  return [forbidden('spec', 'only cpu and memory resources are mutable')];
}

/** Old kubelets do not report the resources of running containers, and a pod that does not run yet has none to report. */
function canBeResized({ status }: Pod): boolean {
  const running = (status.containerStatuses ?? []).find(({ state }) => state.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

const isSet = ({ resources }: PodSpec): boolean => Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;

function validatePodLevel(spec: PodSpec, old: PodSpec): FieldError[] {
  if (!isSet(spec) && !isSet(old)) return [];
  if (old.resources !== undefined && spec.resources === undefined) return [forbidden('spec.resources', 'pod-level resources cannot be removed')];
  const errors = (['requests', 'limits'] as const)
    .filter((list) => old.resources !== undefined && isRemoved(spec.resources?.[list], old.resources[list]))
    .map((list) => forbidden(`spec.resources.${list}`, `pod-level resource ${list} cannot be removed`));
  return sameMeaning(podLevelWithOldAmounts(spec, old), old.resources)
    ? errors
    : [...errors, forbidden('spec', 'only cpu and memory resources are mutable at pod-level')];
}

function isRemoved(now: Readonly<Record<string, string>> = {}, before: Readonly<Record<string, string>> = {}): boolean {
  return Object.keys(before).some((name) => !Object.hasOwn(now, name));
}

const orderedLists = ['containers', 'initContainers'] as const;

function validateOrder(spec: PodSpec, old: PodSpec): FieldError[] {
  return orderedLists.flatMap((list) => {
    const [now, before] = [spec[list] ?? [], old[list] ?? []];
    if (now.length !== before.length) return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
    return before.flatMap(({ name }, i) =>
      now[i]?.name === name ? [] : [forbidden(`spec.${list}[${i}].name`, `${list} may not be renamed or reordered on resize`)],
    );
  });
}

const validateNothingRemoved = (spec: PodSpec, old: PodSpec, list: ContainerList): FieldError[] =>
  (old[list] ?? []).flatMap(({ resources: before }, i) => {
    const now = spec[list]?.[i]?.resources ?? {};
    return (['requests', 'limits'] as const)
      .filter((part) => isRemoved(now[part], before[part]))
      .map((part) => forbidden(`spec.${list}[${i}].resources.${part}`, `resource ${part} cannot be removed`));
  });

/** Everything but cpu and memory is as it was. */
function validateOnlyResources(spec: PodSpec, old: PodSpec): FieldError[] {
  const isOther = (list: ContainerList) => (container: Container, i: number) => {
    const before = old[list]?.[i];
    return before === undefined || !sameMeaning(containerWithOldAmounts(container, before), before);
  };
  const containers = (spec.containers ?? []).filter(isOther('containers')).map(() => forbidden('spec', 'only cpu and memory resources are mutable'));
  const isOtherInit = isOther('initContainers');
  const inits = (spec.initContainers ?? []).flatMap((container, i) => {
    const at = `spec.initContainers[${i}]`;
    const errors = isOtherInit(container, i) ? [forbidden(at, 'only cpu and memory resources for init or sidecar containers are mutable')] : [];
    if (isSidecar(container) || sameMeaning(container, old.initContainers?.[i])) return errors;
    const restarts = (container.resizePolicy ?? []).filter(({ restartPolicy }) => restartPolicy === 'RestartContainer');
    return [...errors, ...restarts.map(() => forbidden(at, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'))];
  });
  return [...containers, ...inits];
}

/** The new spec with the old amounts of cpu and memory. */
function withOldAmounts(spec: PodSpec, old: PodSpec): PodSpec {
  const copy: PodSpec = { ...spec };
  for (const list of lists) {
    const containers = spec[list] ?? undefined;
    if (containers !== undefined) copy[list] = containers.map((container, i) => containerWithOldAmounts(container, old[list]?.[i] ?? container));
  }
  const resources = isSet(spec) || isSet(old) ? podLevelWithOldAmounts(spec, old) : spec.resources;
  if (resources === undefined) delete copy.resources;
  else copy.resources = resources;
  return copy;
}

/** Without claims of devices, so that a container which has any differs from what it was, and is refused: Kubernetes resizes none of those. */
const containerWithOldAmounts = (container: Container, old: Container): Container => ({
  ...container,
  resources: oldAmounts(container.resources, old.resources),
});

function podLevelWithOldAmounts({ resources }: PodSpec, old: PodSpec): ResourceRequirements | undefined {
  if (resources === undefined) return undefined;
  const { claims = [] } = resources;
  const kept: ResourceRequirements = { ...oldAmounts(resources, old.resources ?? {}), ...(claims.length === 0 ? {} : { claims }) };
  return old.resources === undefined && Object.keys(kept).length === 0 ? undefined : kept;
}

const resizable = ['cpu', 'memory'];

function oldAmounts(now: ResourceRequirements, before: ResourceRequirements): ResourceRequirements {
  const amounts: ResourceRequirements = {};
  for (const list of ['limits', 'requests'] as const) {
    const others = Object.entries(now[list] ?? {}).filter(([name]) => !resizable.includes(name));
    const kept = Object.entries(before[list] ?? {}).filter(([name]) => resizable.includes(name));
    if (others.length + kept.length > 0) amounts[list] = Object.fromEntries([...others, ...kept]);
  }
  return amounts;
}
