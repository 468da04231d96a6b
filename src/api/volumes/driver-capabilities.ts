import type { Asset, AttemptFailure } from './intent.ts';

/** What a decision has to know of a driver in this process; calling it is an action. */
export interface DriverCapabilities {
  /** As classes, volumes and annotations name it: 'kubernetes.io/host-path', 'ebs.csi.aws.com'. */
  readonly name: string;
  readonly provisions: boolean;
  readonly deletes: boolean;
  /** Volumes of it can be mounted with options. */
  readonly mountOptions: boolean;
  /** It makes raw block volumes. */
  readonly block: boolean;
  /** It makes volumes larger. `opt-in`: only of classes that say so, since Kubernetes' plugin of that name cannot. */
  readonly expands: 'always' | 'opt-in' | 'never';
  /** Its volumes have to be attached to nodes, and it does that. */
  readonly attaches: boolean;
}

/** What came of asking a driver. */
export type CreateOutcome = { readonly type: 'created'; readonly asset: Asset } | ({ readonly type: 'failed' } & AttemptFailure);
export type DeleteOutcome = { readonly type: 'deleted' } | ({ readonly type: 'failed' } & AttemptFailure);
export type ExpandOutcome =
  | { readonly type: 'expanded'; readonly capacity: string; readonly nodeExpansionRequired: boolean }
  /** `infeasible`: it would fail again, however often it is asked. */
  | ({ readonly type: 'failed'; readonly infeasible: boolean } & AttemptFailure);
export type PublishOutcome =
  /** `context`: what the node has to know to find the device. */
  { readonly type: 'published'; readonly context: Readonly<Record<string, string>> } | ({ readonly type: 'failed' } & AttemptFailure);
export type UnpublishOutcome = { readonly type: 'unpublished' } | ({ readonly type: 'failed' } & AttemptFailure);
