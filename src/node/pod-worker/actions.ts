import type { Container, ObjectReference, Pod, PodStatus } from '../../api/generated/types.ts';
import type { BackOff } from '../pods/restart.ts';
import type { Waiting } from '../pods/runtime-state.ts';

/** What a node does about one of its pods: the one that it decided about, not another one of the same name. */
export type PodWorkerAction =
  | ({ readonly pod: Pod } & (
      | /** It has its place on the node from now on. */
      { readonly do: 'admit' }
      /** What it asks for now is its own, instead of what it had. */
      | { readonly do: 'give' }
      | { readonly do: 'write-status'; readonly status: PodStatus }
      /** `address`: undefined: it shares the host's network. */
      | { readonly do: 'start-sandbox'; readonly address: string | undefined }
      | StartContainer
      | KillContainer
      | ResizeContainer
      /** Nothing of it runs or ever will: its namespaces go, its volumes may go. */
      | { readonly do: 'vacate' }
      /** Nothing of it is left on the node: the object may go. */
      | { readonly do: 'remove' }
      | { readonly do: 'remember'; readonly news: Partial<PodWorkerState> }
      | RecordPodEvent
    ))
  /** Something runs, or has run, for a pod that is gone. */
  | { readonly do: 'discard'; readonly uid: string };

export interface StartContainer {
  readonly do: 'start';
  readonly container: Container;
  readonly attempt: number;
  /** For the next time that it ends; undefined: it did not run before. */
  readonly backOff: BackOff | undefined;
}

export interface KillContainer {
  readonly do: 'kill';
  readonly container: Container;
  /** Of the run. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  /** Why, for people. */
  readonly message: string;
}

/** A container that runs may use so much from now on. */
export interface ResizeContainer {
  readonly do: 'resize';
  readonly container: Container;
  /** Of the run. */
  readonly id: string;
}

export interface RecordPodEvent {
  readonly do: 'tell';
  /** The pod itself, unless said. */
  readonly about?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What a node knows of a pod besides the objects and its runtime, and forgets when its agent ends. */
export interface PodWorkerState {
  /** By container. */
  readonly backOffs: ReadonlyMap<string, BackOff>;
  /** Why containers do not run although they should; by container. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** By which time each run that is being stopped will have ended; by its id. Milliseconds since 1970. */
  readonly stopping: ReadonlyMap<string, number>;
  /** How far what has to follow a start has come; by the run's id. Absent: there is nothing, or it is done. */
  readonly hooks: ReadonlyMap<string, 'running' | 'failed'>;
  /** When to try again what could not be done; by container. Milliseconds since 1970. */
  readonly retryAt: ReadonlyMap<string, number>;
  readonly deadlineRecorded: boolean;
  /** Why it may not stay on the node; undefined: it may. */
  readonly evicted: string | undefined;
  readonly evictionRecorded: boolean;
  /** Its volumes were let go. */
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

export interface PodWorkerDecision {
  /** Any prefix may be all that happens. */
  readonly actions: readonly PodWorkerAction[];
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}
