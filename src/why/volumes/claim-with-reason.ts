import type { BinderReason } from '../../storage/binder/decide.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

/** A claim, the objects around it, and the binder's reason. */
export interface ClaimWithReason {
  readonly claim: Claim;
  readonly graph: ObjectGraph;
  readonly reason: BinderReason;
}
