import type { Asset, AttemptFailure } from './intent.ts';

/** What a decision has to know of a driver in this process; calling it is an action. */
export interface DriverFacts {
  /** As classes, volumes and annotations name it: 'kubernetes.io/host-path', 'ebs.csi.aws.com'. */
  readonly name: string;
  readonly provisions: boolean;
  readonly deletes: boolean;
  /** Volumes of it can be mounted with options. */
  readonly mountOptions: boolean;
  /** It makes raw block volumes. */
  readonly block: boolean;
}

/** What came of asking a driver to make an asset, or to delete one. */
export type CreateOutcome = { readonly type: 'created'; readonly asset: Asset } | ({ readonly type: 'failed' } & AttemptFailure);
export type DeleteOutcome = { readonly type: 'deleted' } | ({ readonly type: 'failed' } & AttemptFailure);
