import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { MatchContext } from './hooks.ts';

/** The context of all policies. */
export interface PolicyContext extends MatchContext {
  readonly reader: ClusterReader;
  readonly authorizer: Authorizer | undefined;
}
