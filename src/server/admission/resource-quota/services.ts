import type { Service } from '../../../api/generated/types.ts';
import { quantityOf } from '../../../api/quantity.ts';
import type { Resource } from '../../registry/resources.ts';
import { countName, type Evaluator, one } from './evaluator.ts';
import type { Usage } from './usage.ts';

/** Services count by number, and those that need node ports or load balancers by these as well. */
export function serviceEvaluator(resource: Resource): Evaluator {
  const count = countName(resource);
  const names: ReadonlySet<string> = new Set([count, 'services', 'services.nodeports', 'services.loadbalancers']);
  return {
    handles: (operation, subresource) => operation !== 'delete' && subresource === '',
    covers: (name) => names.has(name),
    usage: (object) => usageOf(object as Service, count),
    matchesScope: () => false,
  };
}

function usageOf({ spec }: Service, count: string): Usage {
  const balanced = spec.type === 'LoadBalancer';
  return new Map([
    [count, one],
    ['services', one],
    ['services.nodeports', quantityOf(nodePorts(spec))],
    ['services.loadbalancers', quantityOf(balanced ? 1 : 0)],
  ]);
}

/** Ports are not allocated yet when a service is admitted: what it will need counts. */
function nodePorts({ type, ports = [], allocateLoadBalancerNodePorts }: Service['spec']): number {
  if (type === 'NodePort') return ports.length;
  if (type !== 'LoadBalancer') return 0;
  return allocateLoadBalancerNodePorts === false ? ports.filter((port) => (port.nodePort ?? 0) !== 0).length : ports.length;
}
