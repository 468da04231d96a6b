/** Everything that the StatefulSet controller may do, and its events. */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Draft } from '../../../client/client.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';

export type PodDraft = Draft<Pod>;
export type RevisionDraft = Draft<ControllerRevision>;

export type StatefulSetAction =
  | OwnershipAction
  | { readonly do: 'createRevision'; readonly revision: RevisionDraft }
  | { readonly do: 'update'; readonly object: Stored<ControllerRevision>; readonly from: Stored<ControllerRevision> }
  | { readonly do: 'updateStatus'; readonly object: Stored<StatefulSet>; readonly from: Stored<StatefulSet> }
  | { readonly do: 'delete'; readonly object: Stored<ControllerRevision> }
  | PodStep
  /** In parallel with slow start: a failure leaves the later steps undone. */
  | { readonly do: 'together'; readonly steps: readonly PodStep[] }
  /** Raises the storage request of a claim. */
  | {
      readonly do: 'expandClaim';
      readonly set: Stored<StatefulSet>;
      readonly podName: string;
      readonly claim: Stored<PersistentVolumeClaim>;
      readonly from: Stored<PersistentVolumeClaim>;
    };

/** The writes for one pod. A crash may come after each of them: the next pass finds the earlier ones done. */
export type PodStep =
  /** First the claims, then the pod: it never starts without them. */
  | { readonly do: 'createPod'; readonly set: Stored<StatefulSet>; readonly pod: PodDraft; readonly claims: ClaimChanges }
  /** `pod`: the corrected pod; absent: only its claims need an update. */
  | {
      readonly do: 'updatePod';
      readonly set: Stored<StatefulSet>;
      readonly podName: string;
      readonly pod?: { readonly object: Stored<Pod>; readonly from: Stored<Pod> };
      readonly claims: ClaimChanges;
    }
  /** For a Pending pod whose claims are missing. */
  | { readonly do: 'restoreClaims'; readonly set: Stored<StatefulSet>; readonly podName: string; readonly claims: ClaimChanges }
  /** Before the pod is deleted: sets the owners of its claims. */
  | { readonly do: 'updateClaims'; readonly set: Stored<StatefulSet>; readonly podName: string; readonly claims: ClaimChanges }
  | { readonly do: 'deletePod'; readonly set: Stored<StatefulSet>; readonly pod: Stored<Pod> };

/** What has to be written to the claims of one pod. */
export interface ClaimChanges {
  readonly toCreate: readonly PersistentVolumeClaim[];
  /** Names of claims that are being deleted: no pod must start on them. */
  readonly terminating: readonly string[];
  /** Claims whose owner references do not follow the retention policy. */
  readonly toUpdate: readonly { readonly claim: PersistentVolumeClaim; readonly from: Stored<PersistentVolumeClaim> }[];
  /** Names of claims with another controller: the policy does not apply to them. */
  readonly foreign: readonly string[];
}

export type StatefulSetDecision = Decision<StatefulSetAction>;

type Verb = 'Create' | 'Update' | 'Delete' | 'Expand';

const setName = ({ metadata }: Stored<StatefulSet>): string => metadata.name;

export function podReport(verb: Verb, set: Stored<StatefulSet>, pod: { readonly name: string; readonly error?: string | undefined }): EventDraft {
  const what = `${verb} Pod ${pod.name} in StatefulSet ${setName(set)}`;
  return report(verb, pod.error, { success: `${what} successful`, failure: what });
}

export interface ClaimAndPod {
  readonly claim: string;
  readonly pod: string;
  readonly error?: string | undefined;
}

export function claimReport(verb: Verb, set: Stored<StatefulSet>, { claim, pod, error }: ClaimAndPod): EventDraft {
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
