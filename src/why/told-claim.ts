import type { BinderReason } from '../controllers/volume-binder/decide.ts';
import type { Claim } from '../domain/volumes/claim.ts';
import type { Sight } from './sight.ts';

/** A claim, what was seen around it, and what the binder says of it. */
export interface ToldClaim {
  readonly claim: Claim;
  readonly sight: Sight;
  readonly reason: BinderReason;
}
