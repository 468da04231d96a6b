import type { ClusterRole } from '../../../api/generated/types.ts';
import { clusterRoleKind } from '../../../api/kinds/rbac/roles.ts';
import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { type ClusterRoleAggregationAction, perform } from './actions.ts';
import { decideAggregation, type ClusterRoleAggregationSnapshot } from './decide.ts';

/**
 * Writes the rules of aggregated ClusterRoles. Keys are names. A change of any ClusterRole enqueues every aggregated one:
 * ClusterRoles are few, and no index of what a selector matched before is kept.
 */
export function clusterRoleAggregation({
  client,
  informers,
}: {
  readonly client: Client;
  readonly informers: Informers;
}): Controller<string, ClusterRoleAggregationSnapshot, ClusterRoleAggregationAction> {
  const roles = informers.cache(clusterRoleKind);
  const all = (): readonly ClusterRole[] => [...roles.list()];
  return {
    name: 'cluster-role-aggregation',
    sources: [source(clusterRoleKind, () => all().flatMap(({ metadata, aggregationRule }) => (aggregationRule === undefined ? [] : [metadata.name ?? ''])))],
    snapshot(name) {
      const role = roles.getKey(name);
      return role === undefined ? undefined : { role, roles: all() };
    },
    decide: decideAggregation,
    perform: (action) => perform(action, client),
    parallelism: 1,
  };
}
