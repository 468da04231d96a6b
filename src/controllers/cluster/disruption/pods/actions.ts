import type { Pod } from '../../../../api/generated/types.ts';
import type { Decision } from '../../../../client/decision.ts';
import type { DisruptionEventAction } from '../actions.ts';

export type DisruptedPodAction = { readonly do: 'write-status'; readonly pod: Pod } | DisruptionEventAction;

export type DisruptedPodDecision = Decision<DisruptedPodAction>;
