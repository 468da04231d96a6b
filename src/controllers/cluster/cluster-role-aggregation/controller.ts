import type { ClusterRole } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import { clusterRoleKind } from '../../../api/kinds/rbac/roles.ts';
import type { Client } from '../../../client/client.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { ObjectWrite } from '../../../client/decision.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { type ClusterRoleAggregationSnapshot, decideAggregation } from './decide.ts';

export interface ClusterRoleAggregationContext {
  readonly client: Client;
  readonly informers: Informers;
}

/**
 * Writes the rules of aggregated ClusterRoles. Keys are names. A change of any ClusterRole enqueues every aggregated one:
 * ClusterRoles are few, and no index of what a selector matched before is kept.
 */
export function clusterRoleAggregation({
  client,
  informers,
}: ClusterRoleAggregationContext): Controller<string, ClusterRoleAggregationSnapshot, ObjectWrite<ClusterRole>> {
  const roles = informers.cache(clusterRoleKind);
  return defineController({
    name: 'cluster-role-aggregation',
    sources: [
      source(clusterRoleKind, () => [...roles.list()].flatMap(({ metadata, aggregationRule }) => (aggregationRule === undefined ? [] : [metadata.name]))),
    ],
    snapshot(name) {
      const role = roles.getKey(name);
      return role === undefined ? undefined : { role, roles: [...roles.list()] };
    },
    decide: decideAggregation,
    writer: new ObjectWriter(client, [untypedKind(clusterRoleKind)]),
    actions: {},
  });
}
