import type { Asset, AttemptFailure } from './intent.ts';

/** The capabilities of a driver in this process that decisions read; to call it is an action. */
export interface DriverCapabilities {
  /** The name in classes, volumes and annotations: 'kubernetes.io/host-path', 'ebs.csi.aws.com'. */
  readonly name: string;
  readonly provisions: boolean;
  readonly deletes: boolean;
  /** Its volumes can have mount options. */
  readonly mountOptions: boolean;
  /** It provisions raw block volumes. */
  readonly block: boolean;
  /** `opt-in`: only for classes with the expand annotation, since Kubernetes' plugin of that name cannot. */
  readonly expands: 'always' | 'opt-in' | 'never';
  /** Its volumes have to be attached to nodes, and it attaches them. */
  readonly attaches: boolean;
}

/** The outcome of a call to a driver. */
export type CreateOutcome = { readonly type: 'created'; readonly asset: Asset } | ({ readonly type: 'failed' } & AttemptFailure);
export type DeleteOutcome = { readonly type: 'deleted' } | ({ readonly type: 'failed' } & AttemptFailure);
export type ExpandOutcome =
  | { readonly type: 'expanded'; readonly capacity: string; readonly nodeExpansionRequired: boolean }
  /** `infeasible`: it would fail again, however often it is called. */
  | ({ readonly type: 'failed'; readonly infeasible: boolean } & AttemptFailure);
export type PublishOutcome =
  /** `context`: what the node needs to find the device. */
  { readonly type: 'published'; readonly context: Readonly<Record<string, string>> } | ({ readonly type: 'failed' } & AttemptFailure);
export type UnpublishOutcome = { readonly type: 'unpublished' } | ({ readonly type: 'failed' } & AttemptFailure);
