import type { Service } from '../generated/types.ts';
import { quantityOf } from '../quantity.ts';
import { countName, type Evaluator } from './evaluator.ts';
import { one, type Usage } from './usage.ts';

const count = countName({ group: '', plural: 'services' });
const names: ReadonlySet<string> = new Set([count, 'services', 'services.nodeports', 'services.loadbalancers']);

/** Services count by number, and by their node ports and load balancers. */
export const serviceEvaluator: Evaluator = {
  covers: (name) => names.has(name),
  usage: (object) => usageOf(object as Service),
  matchesScope: () => false,
  scopeChanged: () => false,
};

function usageOf({ spec }: Service): Usage {
  return new Map([
    [count, one],
    ['services', one],
    ['services.nodeports', quantityOf(nodePorts(spec))],
    ['services.loadbalancers', quantityOf(spec.type === 'LoadBalancer' ? 1 : 0)],
  ]);
}

/** Ports are not allocated yet at admission: the ports that the service will need count. */
function nodePorts({ type, ports = [], allocateLoadBalancerNodePorts }: Service['spec']): number {
  if (type === 'NodePort') return ports.length;
  if (type !== 'LoadBalancer') return 0;
  return allocateLoadBalancerNodePorts === false ? ports.filter((port) => (port.nodePort ?? 0) !== 0).length : ports.length;
}
