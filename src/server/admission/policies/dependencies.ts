import type { Authorizer } from '../../auth/authorizer.ts';
import type { ClusterReader } from '../cluster-reader.ts';
import type { MatchDependencies } from './hooks.ts';

/** What policies look things up with. */
export interface PolicyDependencies extends MatchDependencies {
  readonly reader: ClusterReader;
  readonly authorizer: Authorizer | undefined;
}
