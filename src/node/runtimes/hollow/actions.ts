import type { ObjectReference, Pod, PodStatus } from '../../../api/generated/types.ts';
import type { PodAssignment } from '../../allocations.ts';
import type { BackOff } from '../../pods/restart.ts';
import { type MountWaitState, notWaiting } from '../../volumes/mount-events.ts';

/** What a node does about one of its pods: the one that it decided about, not another one of the same name. */
export type Action = { readonly pod: Pod } & (
  | /** It has its place on the node from now on. */
  { readonly do: 'admit' }
  /** What it asks for now is its own, instead of what it had. */
  | { readonly do: 'give' }
  /** Its volumes are mounted and it has an address. */
  | { readonly do: 'occupy'; readonly holding: PodAssignment }
  /** Its volumes are unmounted, its address is free. */
  | { readonly do: 'vacate' }
  | { readonly do: 'write-status'; readonly status: PodStatus }
  /** Nothing of it is left on the node: the object may go. */
  | { readonly do: 'remove' }
  | { readonly do: 'remember'; readonly memory: PodMemory; readonly pulled: readonly string[] }
  | Tell
);

export interface Tell {
  readonly do: 'tell';
  /** The pod itself, unless said. */
  readonly about?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What a node knows of a pod besides the objects, and forgets when its agent ends. */
export interface PodMemory {
  readonly mounts: MountWaitState;
  /** By container. */
  readonly backOffs: ReadonlyMap<string, BackOff>;
  /** It was said that the pod is being stopped. */
  readonly toldStopping: boolean;
}

export const noMemory: PodMemory = { mounts: notWaiting, backOffs: new Map<string, BackOff>(), toldStopping: false };

export interface Decision {
  /** Any prefix may be all that happens. */
  readonly actions: readonly Action[];
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}
