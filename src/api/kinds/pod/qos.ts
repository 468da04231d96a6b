import type { Pod, PodSpec, ResourceRequirements } from '../../generated/types.ts';
import { addQuantities, compareQuantities, quantitySign } from '../../quantity.ts';
import { amountsOf, type ResourceAmounts } from './resource-amounts.ts';

export { podLimits, podRequests } from './pod-resources.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const countedResources = ['cpu', 'memory'];

/**
 * How a pod is treated when its node runs short: BestEffort if it asks for nothing, Guaranteed if every container is
 * limited in cpu and memory and asks for just that, Burstable otherwise.
 */
export function qosClassOf(pod: Pick<Pod, 'spec'>): QosClass {
  const parts = countedParts(pod.spec);
  const requests: ResourceAmounts = new Map();
  const limits: ResourceAmounts = new Map();
  for (const part of parts) {
    addCounted(requests, part.requests);
    addCounted(limits, part.limits);
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isLimited = parts.every((part) => countedResources.every((name) => isLimitedIn(part, name)));
  return isLimited && areEqual(requests, limits) ? 'Guaranteed' : 'Burstable';
}

/** Resources of the pod as a whole count instead of those of its containers. Ephemeral containers have none. */
function countedParts(spec: PodSpec): ResourceRequirements[] {
  if (spec.resources !== undefined) return [spec.resources];
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((container) => container.resources);
}

const isLimitedIn = ({ limits = {} }: ResourceRequirements, name: string): boolean => limits[name] !== undefined && quantitySign(limits[name]) > 0;

function addCounted(total: ResourceAmounts, list: ResourceRequirements['limits']): void {
  for (const [name, quantity] of amountsOf(list)) {
    if (!countedResources.includes(name) || quantitySign(quantity) <= 0) continue;
    const current = total.get(name);
    total.set(name, current === undefined ? quantity : addQuantities(current, quantity));
  }
}

function areEqual(requests: ResourceAmounts, limits: ResourceAmounts): boolean {
  if (requests.size !== limits.size) return false;
  return [...requests].every(([name, request]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(limit, request) === 0;
  });
}
