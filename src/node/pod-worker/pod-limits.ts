import type { Container, Pod } from '../../api/generated/types.ts';
import { podLimits, podRequests } from '../../api/kinds/pod/pod-resources.ts';
import { type Quantity, quantityMilliValue, quantityValue } from '../../api/quantity.ts';
import type { ContainerLimits } from '../runtime.ts';

/**
 * The limits of a pod as a whole, with its overhead, after the kubelet's ResourceConfigForPod (pkg/kubelet/cm/helpers_linux.go). A resource that one container may use
 * without a limit has none, unless the pod itself says one. A pod without requests gets the least share of the processor.
 */
export function podLimitsOf(pod: Pick<Pod, 'spec'>): ContainerLimits {
  const { spec } = pod;
  const [requests, limits] = [podRequests(pod), podLimits(pod)];
  const containers: readonly Container[] = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const isLimited = (name: string): boolean => {
    const isOn = (given: Readonly<Record<string, string>> | undefined): boolean => Number(quantityMilliValue(given?.[name] ?? '0')) > 0;
    return isOn(spec.resources?.limits) || containers.every(({ resources }) => isOn(resources.limits));
  };
  const limitOf = (name: string, valueOf: (quantity: Quantity) => bigint): number | undefined => {
    const limit = limits.get(name);
    return limit === undefined || !isLimited(name) ? undefined : Number(valueOf(limit));
  };
  const cpu = requests.get('cpu');
  return {
    cpuMilli: limitOf('cpu', quantityMilliValue),
    cpuRequestMilli: cpu === undefined ? 0 : Number(quantityMilliValue(cpu)),
    memoryBytes: limitOf('memory', quantityValue),
  };
}
