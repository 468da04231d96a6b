import type { Container, ObjectReference, Pod, PodStatus } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { Decision } from '../../client/decision.ts';
import type { BackOff } from '../pods/restart.ts';
import type { Waiting } from '../pods/runtime-state.ts';

/** What a node does about one of its pods: the very pod that was decided about, not a later one of the same name. */
export type PodWorkerAction =
  | ({ readonly pod: Stored<Pod> } & (
      | { readonly do: 'admit' }
      /** The resources that the spec asks for are allocated to the pod, instead of those that it had. */
      | { readonly do: 'allocate' }
      | { readonly do: 'write-status'; readonly status: PodStatus }
      /** `address`: undefined: the pod uses the host's network. */
      | { readonly do: 'start-sandbox'; readonly address: string | undefined }
      | StartContainer
      | KillContainer
      | ResizeContainer
      /** Nothing of the pod runs or ever will: its sandbox is stopped, and its volumes may be unmounted. */
      | { readonly do: 'stop-sandbox' }
      /** Nothing of the pod is left on the node: the object is deleted. */
      | { readonly do: 'delete-pod' }
      | { readonly do: 'remember'; readonly changes: Partial<PodWorkerState> }
      | RecordPodEvent
    ))
  /** The runtime has something of a pod that is gone. */
  | { readonly do: 'discard'; readonly uid: string; readonly node: string };

export interface StartContainer {
  readonly do: 'start';
  readonly container: Container;
  readonly attempt: number;
  /** For the next time that the container ends; undefined: it did not run before. */
  readonly backOff: BackOff | undefined;
}

export interface KillContainer {
  readonly do: 'kill';
  readonly container: Container;
  /** Of the run. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  /** The message of the Killing event. */
  readonly message: string;
}

/** Other limits for a container that runs. */
export interface ResizeContainer {
  readonly do: 'resize';
  readonly container: Container;
  /** Of the run. */
  readonly id: string;
}

export interface RecordPodEvent {
  readonly do: 'record-event';
  /** The pod itself, unless given. */
  readonly about?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What a pod worker knows of a pod besides the objects and the runtime. It is lost when the agent ends. */
export interface PodWorkerState {
  /** By container. */
  readonly backOffs: ReadonlyMap<string, BackOff>;
  /** Why containers do not run although they should; by container. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** By which time each run that is being stopped will have ended; by its id. Milliseconds since 1970. */
  readonly stopping: ReadonlyMap<string, number>;
  /** postStart hooks that run or have failed; by the run's id. */
  readonly hooks: ReadonlyMap<string, 'running' | 'failed'>;
  /** When to retry containers that could not be created; by container. Milliseconds since 1970. */
  readonly retryAt: ReadonlyMap<string, number>;
  readonly deadlineRecorded: boolean;
  /** Why the pod is evicted; undefined: it is not. */
  readonly evicted: string | undefined;
  readonly evictionRecorded: boolean;
  /** The volume manager may unmount the pod's volumes. */
  readonly volumesReleased: boolean;
}

export const initialWorkerState: PodWorkerState = {
  backOffs: new Map<string, BackOff>(),
  waiting: new Map<string, Waiting>(),
  stopping: new Map<string, number>(),
  hooks: new Map<string, 'running' | 'failed'>(),
  retryAt: new Map<string, number>(),
  deadlineRecorded: false,
  evicted: undefined,
  evictionRecorded: false,
  volumesReleased: false,
};

export type PodWorkerDecision = Decision<PodWorkerAction>;
