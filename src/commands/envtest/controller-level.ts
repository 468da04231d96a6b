import type { ClusterOptions } from '../../cluster/cluster.ts';
import { defaultNodes } from '../../cluster/nodes/node-settings.ts';
import type { Flag } from '../command.ts';

/** What runs beside the API server. */
export type ControllerLevel = 'bare' | 'storage' | 'workloads' | 'all';

export const levels: readonly ControllerLevel[] = ['bare', 'storage', 'workloads', 'all'];
export const usualLevel: ControllerLevel = 'storage';

/** It provisions volumes without disks. */
export const hollowDriverName = defaultNodes.csiDrivers[0];

export const controllersFlag: Flag = {
  name: 'controllers',
  value: 'LEVEL',
  about: `what runs beside the API server: bare (nothing, as in envtest), storage (volumes, protection, snapshots, namespaces, garbage,
service accounts), workloads (also StatefulSets, Deployments, Jobs and Services: pods are created, and stay Pending), all (also
a scheduler and three hollow nodes: pods become Running)`,
  default: usualLevel,
  oneOf: levels,
};

/** The cluster of a level. */
export function clusterOf(level: ControllerLevel): Pick<ClusterOptions, 'bare' | 'nodes' | 'controllers' | 'scheduler' | 'controllerGroups'> {
  if (level === 'all') return {};
  if (level === 'bare') return { bare: true, controllers: false };
  return { bare: true, nodes: { csiDrivers: [hollowDriverName] }, scheduler: false, controllerGroups: { workloads: level === 'workloads', nodes: false } };
}
