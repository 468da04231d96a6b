import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import type { Decision } from '../../client/decision.ts';
import type { Stored } from '../../api/stored.ts';
import type { MountWaitState } from '../volumes/mount-events.ts';
import type { PublishedRecord, StagedRecord } from './journal.ts';
import type { PodVolume } from './pod-volume.ts';

/** What a node has to expand for a claim. */
export interface NodeExpansion {
  readonly claim: PersistentVolumeClaim;
  /** A quantity. */
  readonly size: string;
}

/** Runs beside the control loop, at most one at a time for each volume. */
export type VolumeOperation =
  /** NodeStageVolume: once for the node. */
  | { readonly do: 'stage'; readonly pod: Stored<Pod>; readonly volume: PodVolume; readonly attached: string | undefined }
  /** NodePublishVolume: for one pod. */
  | { readonly do: 'publish'; readonly pod: Stored<Pod>; readonly volume: PodVolume; readonly attached: string | undefined }
  /** NodeExpandVolume. `mounted`: the volume is published for the pod as well. */
  | { readonly do: 'expand'; readonly pod: Stored<Pod>; readonly volume: PodVolume; readonly growth: NodeExpansion; readonly mounted: boolean }
  | { readonly do: 'unpublish'; readonly record: PublishedRecord }
  /** `waits`: the uid of a pod for which the volume is staged again. */
  | { readonly do: 'unstage'; readonly record: StagedRecord; readonly waits?: string };

export type VolumeAction =
  | VolumeOperation
  /** Nothing of the pod is mounted any more: its directories are removed. */
  | { readonly do: 'clean'; readonly uid: string }
  | { readonly do: 'record-event'; readonly pod: Stored<Pod>; readonly reason: string; readonly message: string }
  | { readonly do: 'remember'; readonly pod: Stored<Pod>; readonly mounts: MountWaitState };

export type VolumeDecision = Decision<VolumeAction>;
