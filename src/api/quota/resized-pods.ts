import type { Container, ContainerStatus, Pod } from '../generated/types.ts';
import { isSidecar } from '../kinds/pod/pod-parts.ts';
import { amountsOf, raiseAmounts, toResourceList } from '../kinds/pod/resource-amounts.ts';

type List = Readonly<Record<string, string>> | undefined;

/**
 * A pod as it counts while it is being resized: each container counts with the largest of its request, its allocation and its actual
 * resources. Of an infeasible resize only the latter two count.
 */
export function withResizes(pod: Pod): Pod {
  const { status, spec } = pod;
  const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].filter(({ resources }) => resources !== undefined);
  if (statuses.length === 0) return pod;
  const reported = new Map(statuses.map((each) => [each.name, each]));
  const asked = !isInfeasible(pod);
  const resized = (container: Container) => resizedContainer(container, reported.get(container.name), asked);
  return {
    ...pod,
    spec: {
      ...spec,
      containers: (spec.containers ?? []).map(resized),
      ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map((each) => (isSidecar(each) ? resized(each) : each)) }),
    },
  };
}

const isInfeasible = ({ status }: Pod): boolean => status.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';

/** `asked`: the container's request counts as well. */
function resizedContainer(container: Container, status: ContainerStatus | undefined, asked: boolean): Container {
  if (status?.resources === undefined) return container;
  const { requests, limits } = container.resources;
  return {
    ...container,
    resources: {
      ...container.resources,
      requests: most(asked ? requests : {}, status.resources.requests, status.allocatedResources),
      limits: most(asked ? limits : {}, status.resources.limits),
    },
  };
}

function most(first: List, ...others: readonly List[]): Record<string, string> {
  const amounts = amountsOf(first);
  for (const other of others) raiseAmounts(amounts, amountsOf(other));
  return toResourceList(amounts);
}
