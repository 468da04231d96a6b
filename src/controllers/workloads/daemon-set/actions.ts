import type { ControllerRevision, DaemonSet, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Draft } from '../../../client/client.ts';
import type { Decision, EventDraft, ObjectWrite, RecordEvent } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';
import type { FailureBackoff } from './failure-backoff.ts';

/** Everything that the controller may do. */
export type DaemonSetAction =
  | OwnershipAction
  | { readonly do: 'createRevision'; readonly revision: RevisionDraft }
  | { readonly do: 'renumberRevision'; readonly revision: Stored<ControllerRevision>; readonly number: number }
  | { readonly do: 'deleteRevision'; readonly revision: Stored<ControllerRevision> }
  /** Labels the pod with the revision that it has in fact. */
  | { readonly do: 'relabelPod'; readonly pod: Stored<Pod>; readonly hash: string }
  | { readonly do: 'createPods'; readonly set: Stored<DaemonSet>; readonly pods: readonly PodDraft[] }
  | { readonly do: 'deletePods'; readonly set: Stored<DaemonSet>; readonly pods: readonly Stored<Pod>[] }
  | ObjectWrite<Stored<DaemonSet>>
  | { readonly do: 'rememberFailure'; readonly key: string; readonly backoff: FailureBackoff }
  | RecordEvent;

export type DaemonSetDecision = Decision<DaemonSetAction>;
export type PodDraft = Draft<Pod>;
export type RevisionDraft = Draft<ControllerRevision>;

export const foundFailedPod = ({ metadata }: Stored<Pod>, node: string): EventDraft => ({
  type: 'Warning',
  reason: 'FailedDaemonPod',
  message: `Found failed daemon pod ${metadata.namespace ?? ''}/${metadata.name} on node ${node}, will try to kill it`,
});

export const foundSucceededPod = ({ metadata }: Stored<Pod>, node: string): EventDraft => ({
  type: 'Normal',
  reason: 'SucceededDaemonPod',
  message: `Found succeeded daemon pod ${metadata.namespace ?? ''}/${metadata.name} on node ${node}, will try to delete it`,
});
