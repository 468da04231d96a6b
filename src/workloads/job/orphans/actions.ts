import type { Pod } from '../../../api/generated/types.ts';
import type { Ref } from '../../../machinery/client.ts';
import type { Decision as AnyDecision } from '../../../machinery/loop.ts';

export type Action =
  /** Goes on only if the server has no such job either. */
  { readonly do: 'confirmJobGone'; readonly job: Ref & { readonly uid: string } } | { readonly do: 'release'; readonly pod: Pod };

export type Decision = AnyDecision<Action>;
