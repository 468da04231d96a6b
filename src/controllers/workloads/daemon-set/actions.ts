import type { ControllerRevision, DaemonSet, DaemonSetStatus, Pod } from '../../../api/generated/types.ts';
import type { Draft } from '../../../client/client.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';
import type { FailureBackoff } from './failure-backoff.ts';

/** Everything that the controller may do to the world. */
export type DaemonSetAction =
  | OwnershipAction
  | { readonly do: 'createRevision'; readonly revision: RevisionDraft }
  | { readonly do: 'renumberRevision'; readonly revision: ControllerRevision; readonly number: number }
  | { readonly do: 'deleteRevision'; readonly revision: ControllerRevision }
  /** The pod is of this revision after all. */
  | { readonly do: 'relabelPod'; readonly pod: Pod; readonly hash: string }
  | { readonly do: 'createPods'; readonly set: DaemonSet; readonly pods: readonly PodDraft[] }
  | { readonly do: 'deletePods'; readonly set: DaemonSet; readonly pods: readonly Pod[] }
  | { readonly do: 'updateStatus'; readonly set: DaemonSet; readonly status: DaemonSetStatus }
  | { readonly do: 'rememberFailure'; readonly key: string; readonly backoff: FailureBackoff }
  | { readonly do: 'tell'; readonly set: DaemonSet; readonly report: EventDraft };

export type DaemonSetDecision = Decision<DaemonSetAction>;
export type PodDraft = Draft<Pod>;
export type RevisionDraft = Draft<ControllerRevision>;

export const foundFailedPod = ({ metadata }: Pod, node: string): EventDraft => ({
  type: 'Warning',
  reason: 'FailedDaemonPod',
  message: `Found failed daemon pod ${metadata.namespace ?? ''}/${metadata.name ?? ''} on node ${node}, will try to kill it`,
});

export const foundSucceededPod = ({ metadata }: Pod, node: string): EventDraft => ({
  type: 'Normal',
  reason: 'SucceededDaemonPod',
  message: `Found succeeded daemon pod ${metadata.namespace ?? ''}/${metadata.name ?? ''} on node ${node}, will try to delete it`,
});
