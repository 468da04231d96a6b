import type { BinderReason } from '../../storage/binder/decide.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

/** A claim, what was seen around it, and what the binder says of it. */
export interface ClaimWithReason {
  readonly claim: Claim;
  readonly graph: ObjectGraph;
  readonly reason: BinderReason;
}
