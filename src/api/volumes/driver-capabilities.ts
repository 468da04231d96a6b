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
  /** Of a CSI driver behind a socket. */
  readonly csi?: CsiCapabilities;
}

/** CSI's capabilities that decisions read. */
export interface CsiCapabilities {
  /** VOLUME_ACCESSIBILITY_CONSTRAINTS */
  readonly topology: boolean;
  /** CLONE_VOLUME */
  readonly clones: boolean;
  /** CREATE_DELETE_SNAPSHOT */
  readonly restores: boolean;
  /** MODIFY_VOLUME */
  readonly modifies: boolean;
  /** GET_CAPACITY */
  readonly reportsCapacity: boolean;
  /** When the driver came, or last came back after it could not be reached; milliseconds since 1970. */
  readonly answersSince?: number;
}

/** The outcome of a call to a driver. */
export type CreateOutcome =
  /** `mismatch`: why the asset is not what was asked for, and has to be deleted again. */
  { readonly type: 'created'; readonly asset: Asset; readonly mismatch?: string } | ({ readonly type: 'failed' } & AttemptFailure);
export type DeleteOutcome = { readonly type: 'deleted' } | ({ readonly type: 'failed' } & AttemptFailure);
export type ExpandOutcome =
  | { readonly type: 'expanded'; readonly capacity: string; readonly nodeExpansionRequired: boolean }
  /** `infeasible`: it would fail again, however often it is called. */
  | ({ readonly type: 'failed'; readonly infeasible: boolean } & AttemptFailure);
export type PublishOutcome =
  /** `context`: what the node needs to find the device. */
  | { readonly type: 'published'; readonly context: Readonly<Record<string, string>> }
  /** `errorCode`: gRPC's number; 8: the node has no room for further volumes. */
  | ({ readonly type: 'failed'; readonly errorCode?: number } & AttemptFailure);
export type UnpublishOutcome = { readonly type: 'unpublished' } | ({ readonly type: 'failed' } & AttemptFailure);
export type ModifyOutcome =
  | { readonly type: 'modified' }
  /** `infeasible`: nothing was changed, and the parameters would be refused again. `code`: gRPC's word. */
  | ({ readonly type: 'failed'; readonly infeasible: boolean; readonly code: string } & AttemptFailure);
