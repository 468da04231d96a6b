/**
 * What the pod worker and the volume manager of a node know of each other. The volume manager follows the node's pods itself and mounts
 * what they need. The pod worker asks it for the state of a pod's volumes, and tells it only when a pod's last container is gone.
 *
 *     mountState(pod)     { ready: false }: the volume manager notifies when that may have changed
 *     containerMounts     right before a container is created: what is mounted where, sub-paths included
 *     podStopped(uid)     no container of the pod runs, and none will: its volumes are unmounted
 *     isUnmounted(uid)    nothing of the pod is mounted any more: the object may be deleted
 *
 * The volume manager records what is wrong with a volume as events on the pod, in the kubelet's words.
 */
import type { Container, EphemeralContainer, Pod } from '../api/generated/types.ts';
import type { Stored } from '../api/stored.ts';
import type { Cancel } from '../world/world.ts';

/** A node's volume manager, as its pod worker sees it. */
export interface PodMounts {
  /** The state of the volumes of a pod of this node. Reads memory only. */
  mountState(pod: Stored<Pod>): PodMountState;
  /**
   * What a container of the pod sees. `expand`: `$(NAME)` in `subPathExpr`, from the container's own variables. Sub-paths are
   * made and bound, so that no symbolic link in a volume leads out of it.
   */
  containerMounts(pod: Stored<Pod>, container: Container | EphemeralContainer, expand: (subPathExpr: string) => string): Promise<ContainerMounts>;
  /** `PodActivity.mayRun` is false from now on. */
  podStopped(uid: string): void;
  /** Nothing of the pod is mounted on the node. */
  isUnmounted(uid: string): boolean;
  /** Bytes of the disk that a volume of the pod takes; undefined: it is not mounted, or not a directory. Walks the whole directory. */
  usedBytes(pod: Stored<Pod>, volume: string): Promise<number | undefined>;
  /** Called with the uid of a pod whose mount state has changed, and with '' when a volume is unstaged. */
  subscribe(listener: (uid: string) => void): Cancel;
}

export type PodMountState =
  /** `waiting`: the volumes' names in the pod. `rejected`: they will not be ready on this node, and why. */
  | { readonly ready: false; readonly waiting: readonly string[]; readonly rejected?: string | undefined }
  | {
      readonly ready: true;
      /** By the volume's name in the pod; those that containers use. */
      readonly mounts: ReadonlyMap<string, MountedVolume>;
      /** Groups that own volumes (`pv.beta.kubernetes.io/gid`): every container of the pod is a member. */
      readonly supplementalGroups: readonly number[];
    };

export interface MountedVolume {
  /** Of files: a directory (or, with hostPath, perhaps a file). Of a block volume: the device. */
  readonly hostPath: string;
  readonly mode: 'Filesystem' | 'Block';
  /** Even if a container asks for more. */
  readonly readOnly: boolean;
}

export type ContainerMounts =
  | { readonly ok: true; readonly mounts: readonly ContainerMount[]; readonly devices: readonly ContainerDevice[] }
  /** In the kubelet's words: the container waits with reason CreateContainerConfigError and this message. */
  | { readonly ok: false; readonly error: string };

export interface ContainerMount {
  readonly hostPath: string;
  /** The volume's name in the pod. */
  readonly volume: string;
  readonly containerPath: string;
  readonly readOnly: boolean;
  /** Mounts below it are read-only too. */
  readonly recursiveReadOnly: boolean;
  /** Of an image volume: the directories of the image's layers, the uppermost first. It has no `hostPath`. */
  readonly imageLayers?: readonly string[];
  /** Of an image volume: a path in the image; '' or absent: all of it. */
  readonly imageSubPath?: string;
  /** As mount(8) calls them: private, slave (HostToContainer), shared (Bidirectional). */
  readonly propagation: 'private' | 'slave' | 'shared';
}

export interface ContainerDevice {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly readOnly: boolean;
}

/** What the volume manager asks of the pod worker. */
export interface PodActivity {
  /**
   * Whether a container of the pod runs or may yet be started. True for every pod until the runtime has recovered what an earlier agent left
   * running: a volume that a container uses is never unmounted.
   */
  mayRun(uid: string): boolean;
}
