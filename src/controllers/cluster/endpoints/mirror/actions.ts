import type { EndpointSlice } from '../../../../api/generated/types.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../../../client/decision.ts';

export type MirrorAction = ObjectWrite<EndpointSlice> | RecordEvent;

export type MirrorDecision = Decision<MirrorAction>;
