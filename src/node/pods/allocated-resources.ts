/** The resources that are allocated to pods, which may differ from those that their specs ask for. */
import type { ContainerStatus, Pod, PodSpec, ResourceRequirements } from '../../api/generated/types.ts';
import { sameMeaning } from '../../api/validation/semantic-equality.ts';
import { without } from '../../api/validation/without.ts';
import { resourcesOf } from './status/pod-status.ts';

/** A pod whose resize is pending counts with what it has: otherwise two pending resizes would block each other. */
export const withAllocatedResources = <T extends Pod>(pod: T): T => (isResizePending(pod) ? { ...pod, spec: specBeforeResize(pod) ?? pod.spec } : pod);

/** The pod's status says that there is no capacity for what its spec asks for. */
export const isResizePending = ({ metadata, status }: Pod): boolean =>
  (status.conditions ?? []).some(({ type, observedGeneration }) => type === 'PodResizePending' && observedGeneration === metadata.generation);

const lists = ['initContainers', 'containers'] as const;

/** The spec with the resources of the status; undefined: they are the same. */
export function specBeforeResize({ spec, status }: Pod): PodSpec | undefined {
  let isOther = false;
  const had: PodSpec = { ...spec };
  for (const list of lists) {
    const statuses = statusesOf(status[list === 'containers' ? 'containerStatuses' : 'initContainerStatuses']);
    const containers = spec[list]?.map((container) => {
      const resources = statuses.get(container.name)?.resources;
      if (resources === undefined || sameMeaning(resources, container.resources)) return container;
      isOther = true;
      return { ...container, resources };
    });
    if (containers !== undefined) had[list] = containers;
  }
  const podLevel = sameMeaning(resourcesOf({ spec }).resources, status.resources) ? undefined : podLevelBefore(spec, status.resources);
  if (podLevel === undefined) return isOther ? had : undefined;
  return { ...had, resources: podLevel };
}

export const statusesOf = (statuses: readonly ContainerStatus[] = []): ReadonlyMap<string, ContainerStatus> =>
  new Map(statuses.map((each) => [each.name, each]));

/** Pod-level resources. */
function podLevelBefore({ resources }: PodSpec, before: ResourceRequirements | undefined): ResourceRequirements | undefined {
  if (resources === undefined || before === undefined) return undefined;
  const requested = without(resources, 'claims');
  const had: ResourceRequirements = {};
  for (const list of ['limits', 'requests'] as const) {
    const names = Object.keys(requested[list] ?? {}).filter((name) => before[list]?.[name] !== undefined);
    if (names.length > 0) had[list] = Object.fromEntries(names.map((name) => [name, before[list]?.[name] ?? '']));
  }
  return sameMeaning(had, requested) ? undefined : had;
}
