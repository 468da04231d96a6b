import type { Container, Pod, PodSpec, ResourceRequirements } from '../../generated/types.ts';
import { addQuantities, formatQuantity, isZeroQuantity, type Quantity } from '../../quantity.ts';
import { isHugePages, isOvercommitAllowed } from '../../validation/resources.ts';
import { isSidecar } from './pod-parts.ts';
import { addAmounts, amountsOf, raiseAmounts, type ResourceAmounts } from './resource-amounts.ts';

type List = 'limits' | 'requests';

/** What can be given for a pod as a whole. */
export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

/** All that a pod asks for, as the scheduler and quotas count it: with what running it costs beside its containers. */
export function podRequests(pod: Pick<Pod, 'spec'>): ResourceAmounts {
  const requests = withPodLevel(containerAmounts(pod.spec, 'requests'), pod.spec.resources?.requests);
  addAmounts(requests, amountsOf(pod.spec.overhead));
  return requests;
}

/** All that a pod may use. What is not limited stays so: overhead is added to limits only where there are any. */
export function podLimits(pod: Pick<Pod, 'spec'>): ResourceAmounts {
  const limits = withPodLevel(containerAmounts(pod.spec, 'limits'), pod.spec.resources?.limits);
  for (const [name, overhead] of amountsOf(pod.spec.overhead)) {
    const limit = limits.get(name);
    if (limit !== undefined && !isZeroQuantity(limit)) limits.set(name, addQuantities(limit, overhead));
  }
  return limits;
}

/** What is said for the pod as a whole replaces what its containers add up to. */
function withPodLevel(amounts: ResourceAmounts, podLevel: ResourceRequirements[List]): ResourceAmounts {
  for (const [name, quantity] of amountsOf(podLevel)) if (isPodLevelResource(name)) amounts.set(name, quantity);
  return amounts;
}

/**
 * What the containers of a pod need at the worst moment. Init containers run one after another, before the others, but a
 * sidecar that was started stays: with sidecar s (1), init container i (3) and container c (2) that is max(1+3, 1+2) = 4.
 */
export function containerAmounts(spec: PodSpec, list: List): ResourceAmounts {
  const running: ResourceAmounts = new Map();
  for (const container of spec.containers ?? []) addAmounts(running, of(container, list));
  const sidecars: ResourceAmounts = new Map();
  const starting: ResourceAmounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const own = of(container, list);
    if (isSidecar(container)) {
      addAmounts(running, own);
      addAmounts(sidecars, own);
      raiseAmounts(starting, sidecars);
    } else {
      addAmounts(own, sidecars);
      raiseAmounts(starting, own);
    }
  }
  raiseAmounts(running, starting);
  return running;
}

const of = (container: Container, list: List): ResourceAmounts => amountsOf(container.resources[list]);

/** Completes what a pod says of its resources as a whole, if it says anything. */
export function defaultPodResources({ resources, ...spec }: PodSpec): void {
  if (resources === undefined) return;
  limitHugePages(resources, spec);
  if (Object.keys(resources.limits ?? {}).length === 0) return;
  for (const [name, quantity] of containerAmounts(spec, 'requests')) {
    if (isPodLevelResource(name) && isOvercommitAllowed(name)) setIfAbsent(resources, 'requests', { name, quantity });
  }
  for (const [name, quantity] of amountsOf(resources.limits)) if (isPodLevelResource(name)) setIfAbsent(resources, 'requests', { name, quantity });
}

/** Huge pages cannot be overcommitted: if only containers limit them, the pod is limited to their sum. */
function limitHugePages(resources: ResourceRequirements, spec: PodSpec): void {
  if (Object.keys(resources.limits ?? {}).length + Object.keys(resources.requests ?? {}).length === 0) return;
  for (const [name, quantity] of containerAmounts(spec, 'limits')) {
    const isRequested = Object.hasOwn(resources.requests ?? {}, name);
    if (isHugePages(name) && !isRequested) setIfAbsent(resources, 'limits', { name, quantity });
  }
}

function setIfAbsent(resources: ResourceRequirements, list: List, { name, quantity }: { name: string; quantity: Quantity }): void {
  if (Object.hasOwn(resources[list] ?? {}, name)) return;
  resources[list] = { ...resources[list], [name]: formatQuantity(quantity) };
}
