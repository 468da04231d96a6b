import type { RequestInfo } from '../../api/request-info.ts';
import type { User } from '../api.ts';

/**
 * Each level has seats of its own: requests that keep the cluster alive never wait for those of users.
 * - `vital`: leases and the status of nodes: a node or leader that is late with them counts as dead
 * - `system`: all other requests of nodes and of the cluster's components
 * - `bulk`: the requests of all other users
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
  // The path of a new lease has no name.
  return vital || (group === 'coordination.k8s.io' && info.verb === 'create') ? 'vital' : 'system';
}

/** By groups that only certificates and the server itself assign. The prefix system: alone proves nothing: anonymous users have it. */
const isClusterComponent = ({ name, groups }: User): boolean => groups.includes(nodes) || groups.includes(ownAccounts) || name.startsWith('system:kube-');
