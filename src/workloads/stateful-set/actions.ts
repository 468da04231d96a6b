/** Everything that the controller of StatefulSets may do, and what it says about it. */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts';
import type { Draft } from '../../machinery/client.ts';
import type { Decision as AnyDecision } from '../../machinery/loop.ts';
import type { Report } from '../../machinery/recorder.ts';
import type { OwnershipAction } from '../pods/ownership.ts';

export type PodDraft = Draft<Pod>;
export type RevisionDraft = Draft<ControllerRevision>;

export type Action =
  | OwnershipAction
  | { readonly do: 'createRevision'; readonly revision: RevisionDraft }
  | { readonly do: 'update'; readonly object: ControllerRevision; readonly from: ControllerRevision }
  | { readonly do: 'updateStatus'; readonly object: StatefulSet; readonly from: StatefulSet }
  | { readonly do: 'delete'; readonly object: ControllerRevision }
  | Step
  /** Side by side, few at first: one that fails leaves those behind it undone. */
  | { readonly do: 'together'; readonly steps: readonly Step[] }
  /** Asks for more storage. */
  | {
      readonly do: 'growClaim';
      readonly set: StatefulSet;
      readonly podName: string;
      readonly claim: PersistentVolumeClaim;
      readonly from: PersistentVolumeClaim;
    };

/** What is done for one pod. Several writes, each of which may be the last: those that were done are found done the next time. */
export type Step =
  /** First its claims, then the pod: it never starts without them. */
  | { readonly do: 'createPod'; readonly set: StatefulSet; readonly pod: PodDraft; readonly claims: ClaimWork }
  /** `pod`: as it has to be; absent: it is like that, only its claims are not. */
  | {
      readonly do: 'updatePod';
      readonly set: StatefulSet;
      readonly podName: string;
      readonly pod?: { readonly object: Pod; readonly from: Pod };
      readonly claims: ClaimWork;
    }
  /** A pod that waits for claims which are not there. */
  | { readonly do: 'restoreClaims'; readonly set: StatefulSet; readonly podName: string; readonly claims: ClaimWork }
  /** A pod that is to be deleted: what happens to its claims. */
  | { readonly do: 'markClaims'; readonly set: StatefulSet; readonly podName: string; readonly claims: ClaimWork }
  | { readonly do: 'deletePod'; readonly set: StatefulSet; readonly pod: Pod };

/** What one pod's claims lack. */
export interface ClaimWork {
  readonly toCreate: readonly PersistentVolumeClaim[];
  /** Names of those that are being deleted: a pod must not start on them. */
  readonly going: readonly string[];
  /** Those whose owners are not as the retention policy wants. */
  readonly toMark: readonly { readonly claim: PersistentVolumeClaim; readonly from: PersistentVolumeClaim }[];
  /** Names of those that somebody else manages: the policy does not reach them. */
  readonly foreign: readonly string[];
}

export type Decision = AnyDecision<Action>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'statefulset-controller';

type Verb = 'Create' | 'Update' | 'Delete' | 'Expand';

const setName = ({ metadata }: StatefulSet): string => metadata.name ?? '';

export function podReport(verb: Verb, set: StatefulSet, pod: { readonly name: string; readonly error?: string | undefined }): Report {
  const what = `${verb} Pod ${pod.name} in StatefulSet ${setName(set)}`;
  return report(verb, pod.error, { success: `${what} successful`, failure: what });
}

export interface ClaimAndPod {
  readonly claim: string;
  readonly pod: string;
  readonly error?: string | undefined;
}

export function claimReport(verb: Verb, set: StatefulSet, { claim, pod, error }: ClaimAndPod): Report {
  const where = `Pod ${pod} in StatefulSet ${setName(set)}`;
  return report(verb, error, { success: `${verb} Claim ${claim} ${where} success`, failure: `${verb} Claim ${claim} for ${where}` });
}

function report(verb: Verb, error: string | undefined, texts: { readonly success: string; readonly failure: string }): Report {
  if (error === undefined) return { type: 'Normal', reason: `Successful${verb}`, message: texts.success };
  return { type: 'Warning', reason: `Failed${verb}`, message: `${texts.failure} failed error: ${error}` };
}

export const foreignControllerReport = (claim: string): Report => ({
  type: 'Warning',
  reason: 'ConflictingController',
  message: `PersistentVolumeClaim ${claim} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
});
