import { type NodeInfo, type Plugin, rejection } from '../framework.ts';
import { anyAddress, type HostPort, readHostPorts } from '../pod-info.ts';

const name = 'NodePorts';

/** NodePorts: a host port is used by one pod of a node. */
export const nodePorts: Plugin = {
  name,
  preFilter: ({ hostPorts }) => {
    if (hostPorts.length === 0) return 'skip';
    const taken = (node: NodeInfo) => hostPorts.find((port) => !node.isPortFree(port));
    const rejected = rejection('unschedulable', name, {
      text: "node(s) didn't have free ports for the requested pod ports",
      rule: 'ports',
      detail: (node) => {
        const ports = hostPorts.filter((port) => node?.isPortFree(port) !== true).map(show);
        return { found: `has another pod on host port ${ports.join(', ')}`, wanted: `host port ${ports.join(', ')} to be free` };
      },
    });
    return { filter: (node) => (taken(node) === undefined ? undefined : rejected) };
  },
  queueingHints: {
    events: ['node', 'pod'],
    hint: (pod, change) => {
      if (change.resource === 'node') return change.before === undefined;
      if (change.resource !== 'pod' || change.after !== undefined || change.before === undefined) return false;
      return readHostPorts(change.before).some((freed) => pod.hostPorts.some((wanted) => clash(freed, wanted)));
    },
  },
};

const clash = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress);

const show = ({ ip, protocol, port }: HostPort): string => `${ip === anyAddress ? '' : `${ip}:`}${port}/${protocol}`;
