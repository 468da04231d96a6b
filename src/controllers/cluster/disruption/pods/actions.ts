import type { Pod } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../../../client/decision.ts';

export type DisruptedPodAction = ObjectWrite<Stored<Pod>> | RecordEvent;

export type DisruptedPodDecision = Decision<DisruptedPodAction>;
