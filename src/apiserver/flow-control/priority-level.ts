import type { RequestInfo } from '../../api/request-info.ts';
import type { User } from '../api.ts';

/**
 * Who shares seats with whom. What the cluster lives by never waits behind what somebody wants to know.
 * - `vital`: leases and a node's own status: a node or leader that is late with them counts as dead
 * - `system`: everything else of nodes and of the cluster's own components
 * - `bulk`: everybody else
 */
export type PriorityLevelName = 'vital' | 'system' | 'bulk';
export const priorityLevelNames: readonly PriorityLevelName[] = ['vital', 'system', 'bulk'];

const nodes = 'system:nodes';
const ownAccounts = 'system:serviceaccounts:kube-system';

export function priorityLevelOf(user: User, info: RequestInfo): PriorityLevelName {
  if (!isClusterComponent(user)) return 'bulk';
  if (info.type !== 'resource') return 'system';
  const { group, resource, subresource, name } = info;
  const vital =
    name !== '' && ((group === 'coordination.k8s.io' && resource === 'leases') || (group === '' && resource === 'nodes' && subresource === 'status'));
  // A new lease has no name in its path yet.
  return vital || (group === 'coordination.k8s.io' && info.verb === 'create') ? 'vital' : 'system';
}

/** By groups that only certificates and the server itself give out; anonymous users are called system: as well. */
const isClusterComponent = ({ name, groups }: User): boolean => groups.includes(nodes) || groups.includes(ownAccounts) || name.startsWith('system:kube-');
