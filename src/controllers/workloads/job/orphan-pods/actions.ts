import type { Pod } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import type { Ref } from '../../../../client/client.ts';
import type { Decision } from '../../../../client/decision.ts';

export type OrphanPodAction =
  /** Goes on only if the server has no such Job either. */
  { readonly do: 'confirmJobGone'; readonly job: Ref & { readonly uid: string } } | { readonly do: 'release'; readonly pod: Stored<Pod> };

export type OrphanPodDecision = Decision<OrphanPodAction>;
