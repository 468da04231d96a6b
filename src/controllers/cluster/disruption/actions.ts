import type { PodDisruptionBudget } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../../client/decision.ts';

export type BudgetAction = ObjectWrite<Stored<PodDisruptionBudget>> | RecordEvent;

export type BudgetDecision = Decision<BudgetAction>;
