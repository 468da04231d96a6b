import type { Pod } from '../../../../api/generated/types.ts';
import type { Ref } from '../../../../client/client.ts';
import type { Decision } from '../../../../client/decision.ts';

export type OrphanPodAction =
  /** Goes on only if the server has no such job either. */
  { readonly do: 'confirmJobGone'; readonly job: Ref & { readonly uid: string } } | { readonly do: 'release'; readonly pod: Pod };

export type OrphanPodDecision = Decision<OrphanPodAction>;
