/**
 * Not in Kubernetes, and only for StatefulSets with the annotation `mooring.dev/grow-claims`: claims are expanded when their template
 * requests more storage. One after the other, from the highest ordinal down as in a rolling update: if an expansion fails or damages a
 * file system, one replica is affected and not all.
 */
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { mayGrowClaims } from '../../../api/kinds/apps/claim-expansion.ts';
import { compareQuantities, type Quantity } from '../../../api/quantity.ts';
import { showAmount, storageAmount, zero } from '../../../api/volumes/capacity.ts';
import type { StatefulSetAction } from './actions.ts';
import type { ClaimsSnapshot } from './claims.ts';
import { claimName, claimTemplates, ordinalOf } from './identity.ts';

export interface ClaimExpansion {
  readonly actions: readonly StatefulSetAction[];
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
}

const none: ClaimExpansion = { actions: [], reasons: [] };

interface MembersToExpand {
  at(ordinal: number): Stored<Pod> | undefined;
  /** Wanted ordinals downwards. */
  toExpand(): Iterable<number>;
}

export function expandClaims(snapshot: ClaimsSnapshot, members: MembersToExpand): ClaimExpansion {
  if (!mayGrowClaims(snapshot.set)) return none;
  const bound = [...members.toExpand()].flatMap((ordinal) => members.at(ordinal) ?? []).flatMap((pod) => boundClaims(snapshot, pod));
  const expanding = bound.find(({ claim }) => isExpanding(claim));
  if (expanding !== undefined) return { actions: [], reasons: [{ code: 'ClaimGrows', text: `claim ${expanding.claim.metadata.name} is being expanded` }] };
  const next = bound.find(isTooSmall);
  return next === undefined ? none : expand(snapshot.set, next);
}

/** Whether an expansion has to start, or to end, before the claims of the pod are as large as their templates. */
export const hasClaimToExpand = (snapshot: ClaimsSnapshot, pod: Stored<Pod>): boolean =>
  mayGrowClaims(snapshot.set) && boundClaims(snapshot, pod).some((bound) => isExpanding(bound.claim) || isTooSmall(bound));

const isTooSmall = ({ claim, wanted }: BoundClaim): boolean => compareQuantities(requestOf(claim), wanted) < 0;

interface BoundClaim {
  readonly pod: Stored<Pod>;
  readonly claim: Stored<PersistentVolumeClaim>;
  readonly wanted: Quantity;
}

function boundClaims({ set, claim }: ClaimsSnapshot, pod: Stored<Pod>): readonly BoundClaim[] {
  return claimTemplates(set).flatMap((template) => {
    const found = claim(claimName(template, set, ordinalOf(pod)));
    const isBound = found?.status.phase === 'Bound' && found.metadata.deletionTimestamp === undefined;
    return isBound ? [{ pod, claim: found, wanted: requestOf(template) }] : [];
  });
}

const requestOf = ({ spec }: PersistentVolumeClaim): Quantity => storageAmount(spec.resources.requests) ?? zero;

/** The claim requests more than its capacity. With FileSystemResizePending it does not hold up the next: a pod may have to be restarted first. */
function isExpanding(claim: PersistentVolumeClaim): boolean {
  const lacks = compareQuantities(storageAmount(claim.status.capacity) ?? zero, requestOf(claim)) < 0;
  const waitsForNode = claim.status.conditions?.some(({ type, status }) => type === 'FileSystemResizePending' && status === 'True') ?? false;
  return lacks && !waitsForNode;
}

function expand(set: Stored<StatefulSet>, { pod, claim, wanted }: BoundClaim): ClaimExpansion {
  const { resources } = claim.spec;
  const expanded = { ...claim, spec: { ...claim.spec, resources: { ...resources, requests: { ...resources.requests, storage: showAmount(wanted) } } } };
  const text = `claim ${claim.metadata.name} asks for ${showAmount(requestOf(claim))}, its template for ${showAmount(wanted)}`;
  return {
    actions: [{ do: 'expandClaim', set, podName: pod.metadata.name, claim: expanded, from: claim }],
    reasons: [{ code: 'ClaimTooSmall', text }],
  };
}
