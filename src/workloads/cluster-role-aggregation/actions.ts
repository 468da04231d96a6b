import type { ClusterRole } from '../../api/generated/types.ts';
import { clusterRoleKind } from '../../api/kinds/rbac/roles.ts';
import type { Client } from '../../machinery/client.ts';
import { type Decision as AnyDecision, type Outcome, outcomeOf } from '../../machinery/loop.ts';

export interface Action {
  readonly type: 'update-role';
  readonly role: ClusterRole;
}

export type Decision = AnyDecision<Action>;

export const perform = async ({ role }: Action, client: Client): Promise<Outcome> => outcomeOf(await client.update(clusterRoleKind, role));
