import type { ClusterRole } from '../../../api/generated/types.ts';
import { clusterRoleKind } from '../../../api/kinds/rbac/roles.ts';
import type { Client } from '../../../client/client.ts';
import type { Decision } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

export interface ClusterRoleAggregationAction {
  readonly type: 'update-role';
  readonly role: ClusterRole;
}

export type ClusterRoleAggregationDecision = Decision<ClusterRoleAggregationAction>;

export const perform = async ({ role }: ClusterRoleAggregationAction, client: Client): Promise<Outcome> =>
  outcomeOf(await client.update(clusterRoleKind, role));
