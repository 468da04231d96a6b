/** Everything that the controller of StatefulSets may do, and what it says about it. */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/generated/types.ts';
import type { Draft } from '../../../client/client.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';

export type PodDraft = Draft<Pod>;
export type RevisionDraft = Draft<ControllerRevision>;

export type StatefulSetAction =
  | OwnershipAction
  | { readonly do: 'createRevision'; readonly revision: RevisionDraft }
  | { readonly do: 'update'; readonly object: ControllerRevision; readonly from: ControllerRevision }
  | { readonly do: 'updateStatus'; readonly object: StatefulSet; readonly from: StatefulSet }
  | { readonly do: 'delete'; readonly object: ControllerRevision }
  | PodStep
  /** Side by side, few at first: one that fails leaves those behind it undone. */
  | { readonly do: 'together'; readonly steps: readonly PodStep[] }
  /** Asks for more storage. */
  | {
      readonly do: 'growClaim';
      readonly set: StatefulSet;
      readonly podName: string;
      readonly claim: PersistentVolumeClaim;
      readonly from: PersistentVolumeClaim;
    };

/** What is done for one pod. Several writes, each of which may be the last: those that were done are found done the next time. */
export type PodStep =
  /** First its claims, then the pod: it never starts without them. */
  | { readonly do: 'createPod'; readonly set: StatefulSet; readonly pod: PodDraft; readonly claims: ClaimChanges }
  /** `pod`: as it has to be; absent: it is like that, only its claims are not. */
  | {
      readonly do: 'updatePod';
      readonly set: StatefulSet;
      readonly podName: string;
      readonly pod?: { readonly object: Pod; readonly from: Pod };
      readonly claims: ClaimChanges;
    }
  /** A pod that waits for claims which are not there. */
  | { readonly do: 'restoreClaims'; readonly set: StatefulSet; readonly podName: string; readonly claims: ClaimChanges }
  /** A pod that is to be deleted: what happens to its claims. */
  | { readonly do: 'markClaims'; readonly set: StatefulSet; readonly podName: string; readonly claims: ClaimChanges }
  | { readonly do: 'deletePod'; readonly set: StatefulSet; readonly pod: Pod };

/** What one pod's claims lack. */
export interface ClaimChanges {
  readonly toCreate: readonly PersistentVolumeClaim[];
  /** Names of those that are being deleted: a pod must not start on them. */
  readonly terminating: readonly string[];
  /** Those whose owners are not as the retention policy wants. */
  readonly toUpdate: readonly { readonly claim: PersistentVolumeClaim; readonly from: PersistentVolumeClaim }[];
  /** Names of those that somebody else manages: the policy does not reach them. */
  readonly foreign: readonly string[];
}

export type StatefulSetDecision = Decision<StatefulSetAction>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'statefulset-controller';

type Verb = 'Create' | 'Update' | 'Delete' | 'Expand';

const setName = ({ metadata }: StatefulSet): string => metadata.name ?? '';

export function podReport(verb: Verb, set: StatefulSet, pod: { readonly name: string; readonly error?: string | undefined }): EventDraft {
  const what = `${verb} Pod ${pod.name} in StatefulSet ${setName(set)}`;
  return report(verb, pod.error, { success: `${what} successful`, failure: what });
}

export interface ClaimAndPod {
  readonly claim: string;
  readonly pod: string;
  readonly error?: string | undefined;
}

export function claimReport(verb: Verb, set: StatefulSet, { claim, pod, error }: ClaimAndPod): EventDraft {
  const where = `Pod ${pod} in StatefulSet ${setName(set)}`;
  return report(verb, error, { success: `${verb} Claim ${claim} ${where} success`, failure: `${verb} Claim ${claim} for ${where}` });
}

function report(verb: Verb, error: string | undefined, texts: { readonly success: string; readonly failure: string }): EventDraft {
  if (error === undefined) return { type: 'Normal', reason: `Successful${verb}`, message: texts.success };
  return { type: 'Warning', reason: `Failed${verb}`, message: `${texts.failure} failed error: ${error}` };
}

export const foreignControllerReport = (claim: string): EventDraft => ({
  type: 'Warning',
  reason: 'ConflictingController',
  message: `PersistentVolumeClaim ${claim} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
});
