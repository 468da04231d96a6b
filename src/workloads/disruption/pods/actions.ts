import type { Pod } from '../../../api/generated/types.ts';
import type { Decision as AnyDecision } from '../../../machinery/loop.ts';
import type { Tell } from '../actions.ts';

export type PodAction = { readonly do: 'write-status'; readonly pod: Pod } | Tell;

export type Decision = AnyDecision<PodAction>;
