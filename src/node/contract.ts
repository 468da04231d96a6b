/**
 * What those who run a node's pods and those who mount their volumes know of each other. The keeper of volumes follows the
 * node's pods itself and mounts what they need; whoever runs containers (a runtime: hollow, sandbox, CRI) asks it how a pod's
 * volumes stand, and tells it nothing but when a pod's last container is gone.
 *
 *     look(pod)           { ready: false }: it is woken when that may have changed
 *     containerMounts     right before a container is made: what is mounted where, sub-paths included
 *     vacated(uid)        no container of the pod runs, and none will: its volumes are unmounted
 *     isVacant(uid)       nothing of the pod is mounted any more: the object may go
 *
 * Whatever is wrong with a volume is told by the keeper, as events on the pod in the words of kubelets.
 */
import type { Container, EphemeralContainer, Pod } from '../api/generated/types.ts';
import type { Cancel } from '../world/world.ts';

export interface PodMounts {
  /** How the volumes of a pod stand that is to run here. Costs nothing: asked whenever the pod is looked at. */
  mountState(pod: Pod): PodMountState;
  /**
   * What a container of the pod sees. `expand`: `$(NAME)` in `subPathExpr`, from the container's own variables. Sub-paths are
   * made and bound, so that no symbolic link in a volume leads out of it.
   */
  containerMounts(pod: Pod, container: Container | EphemeralContainer, expand: (subPathExpr: string) => string): Promise<ContainerMounts>;
  /** `Tenants.mayRun` says no from now on. */
  podStopped(uid: string): void;
  /** Nothing of the pod is mounted on the node. */
  isUnmounted(uid: string): boolean;
  /** Bytes of the disk that a volume of the pod takes; undefined: it is not mounted, or not a directory that can be looked through. Takes its time. */
  usedBytes(pod: Pod, volume: string): Promise<number | undefined>;
  /** Called with the uid of a pod whose volumes stand otherwise than before. */
  subscribe(listener: (uid: string) => void): Cancel;
}

export type PodMountState =
  /** `waiting`: the volumes' names in the pod. */
  | { readonly ready: false; readonly waiting: readonly string[] }
  | {
      readonly ready: true;
      /** By the volume's name in the pod; those that containers use. */
      readonly mounts: ReadonlyMap<string, MountedVolume>;
      /** Groups that own volumes (`pv.beta.kubernetes.io/gid`): every container of the pod belongs to them. */
      readonly supplementalGroups: readonly number[];
    };

export interface MountedVolume {
  /** Of files: a directory (or, with hostPath, perhaps a file). Of a block volume: the device. */
  readonly hostPath: string;
  readonly mode: 'Filesystem' | 'Block';
  /** Whatever a container asks for. */
  readonly readOnly: boolean;
}

export type ContainerMounts =
  | { readonly ok: true; readonly mounts: readonly ContainerMount[]; readonly devices: readonly ContainerDevice[] }
  /** In the words of kubelets: the container waits with reason CreateContainerConfigError and this message. */
  | { readonly ok: false; readonly error: string };

export interface ContainerMount {
  readonly hostPath: string;
  /** The volume's name in the pod. */
  readonly volume: string;
  readonly containerPath: string;
  readonly readOnly: boolean;
  /** Whatever is mounted below it is read-only too. */
  readonly recursiveReadOnly: boolean;
  /** As mount(8) calls them: private, slave (HostToContainer), shared (Bidirectional). */
  readonly propagation: 'private' | 'slave' | 'shared';
}

export interface ContainerDevice {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly readOnly: boolean;
}

/** What the keeper of volumes asks of whoever runs containers. */
export interface PodActivity {
  /**
   * Whether a container of the pod runs or may yet be started. A runtime that has not found out yet what an earlier agent left running
   * says yes to all: what a container uses is never unmounted.
   */
  mayRun(uid: string): boolean;
}
