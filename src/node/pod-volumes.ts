import type { Pod, VolumeMount } from '../api/generated/types.ts';

/** What the volume manager does for pods, as the loop that runs them sees it. */
export interface NodeVolumes {
  /** The pod is to have its volumes, from now until `release`. As often as one likes: the latest object counts. */
  want(pod: Pod): void;
  /** No container of the pod runs any more: its volumes may go. Also for pods that were never wanted. */
  release(uid: string): void;
  /** Undefined: not all of them are mounted yet. */
  mounted(uid: string): PodVolumes | undefined;
  /** Nothing of the pod is mounted, and nothing is being mounted or unmounted for it. */
  isReleased(uid: string): boolean;
  /** Calls back with a pod's uid whenever `mounted` or `isReleased` may answer something else. */
  observe(listener: (uid: string) => void): void;
}

export interface PodVolumes {
  /** Where each of the pod's volumes is; by its name in the pod. */
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  /** Groups that volumes bring with them (pv.beta.kubernetes.io/gid). */
  readonly groups: readonly number[];
  /** The host path of one mount of a container, its sub-path made if need be and followed safely. Rejects in a kubelet's words. */
  mountPath(mount: VolumeMount, subPath: string): Promise<string>;
}

export interface MountedVolume {
  /** A directory or file; of a block volume: the device. */
  readonly hostPath: string;
  readonly readOnly: boolean;
  readonly block: boolean;
}
