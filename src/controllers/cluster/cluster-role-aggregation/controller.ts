import type { ClusterRole } from '../../../api/generated/types.ts';
import { clusterRoleKind } from '../../../api/kinds/rbac/roles.ts';
import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { type ClusterRoleAggregationAction, perform } from './actions.ts';
import { decideAggregation, type ClusterRoleAggregationSnapshot } from './decide.ts';

/**
 * Keeps the rules of roles that are made of others. Keys are names. Whatever role changes, every aggregated one is looked at:
 * roles are few, and which of them a selector picked before is not kept.
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
