import type { OwnerReference } from '../../../api/generated/types.ts';
import type { GarbageCollectorAction, Coordinates, GarbageCollectorDecision, Propagation, Target } from './actions.ts';

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** One object with the states of its owners and dependents. */
export interface GarbageCollectorSnapshot {
  readonly target: Target;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly owners: readonly Owner[];
  readonly hasDependents: boolean;
  /** A dependent has blockOwnerDeletion. */
  readonly isBlocked: boolean;
  /** A dependent waits for dependents of its own, perhaps for this object. */
  readonly dependentWaits: boolean;
}

export interface Owner {
  readonly reference: OwnerReference;
  /** The owner as the reference identifies it. */
  readonly coordinates: Coordinates;
  readonly state: OwnerState;
}

/**
 * - `solid`: it exists, and keeps the object alive
 * - `orphaning`: it is being deleted with propagation Orphan
 * - `waiting`: it is being deleted with propagation Foreground
 * - `absent`: no object has this uid, name and namespace; none ever will, since a uid is known only once its object exists
 * - `unknown`: it is in no cache, and the server was not asked yet
 * - `unseen`: the server says that it exists, but it is in no cache yet, and never will be if it is deleted before
 * - `unserved`: the server does not serve its kind
 * - `unreachable`: its kind is namespaced, but the object is cluster-scoped
 */
export type OwnerState =
  | { readonly type: 'solid' | 'orphaning' | 'waiting' | 'absent' | 'unknown' | 'unserved' | 'unreachable' }
  | { readonly type: 'unseen'; readonly checkAgainAt: number };

/** Decides about one object only; its owners and dependents have their own passes. */
export function decideGarbage(snapshot: GarbageCollectorSnapshot, now: number): GarbageCollectorDecision {
  const leaving = snapshot.owners.filter((owner) => owner.state.type === 'orphaning');
  if (leaving.length > 0) return act('Orphaned', 'its owner is deleted without its dependents', withoutOwners(snapshot, leaving));
  if (snapshot.deleting) return decideDeleting(snapshot);
  if (snapshot.owners.length === 0) return nothing('NoOwner', 'it has no owner');
  const undecidable = snapshot.owners.find((owner) => owner.state.type === 'unserved' || owner.state.type === 'unreachable');
  if (undecidable !== undefined) return nothing('OwnerUndecidable', describeUndecidable(undecidable));
  const unclear = snapshot.owners.filter((owner) => mustLookUp(owner.state, now));
  if (unclear.length > 0) return { ...act('OwnerUnknown', 'whether its owner exists has to be asked'), actions: unclear.map(lookUp) };
  return decideOwned(snapshot);
}

/** For an object that is being deleted, only the collector's own finalizers are left to handle. */
function decideDeleting(snapshot: GarbageCollectorSnapshot): GarbageCollectorDecision {
  if (snapshot.finalizers.includes(ORPHAN)) {
    return snapshot.hasDependents
      ? nothing('WaitsForOrphans', 'its dependents still name it as owner')
      : act('Orphaned', 'no dependent is left', withoutFinalizer(snapshot, ORPHAN));
  }
  if (snapshot.finalizers.includes(FOREGROUND)) {
    return snapshot.isBlocked
      ? nothing('WaitsForDependents', 'a dependent blocks its deletion')
      : act('NotBlocked', 'no dependent blocks it', withoutFinalizer(snapshot, FOREGROUND));
  }
  return nothing('Deleting', 'it is being deleted');
}

/** For an object whose owners are all known. */
function decideOwned(snapshot: GarbageCollectorSnapshot): GarbageCollectorDecision {
  const alive = snapshot.owners.filter(({ state }) => state.type === 'solid' || state.type === 'unseen');
  const waiting = snapshot.owners.filter(({ state }) => state.type === 'waiting');
  if (alive.length > 0) {
    // The object stays: owners in foreground deletion would wait for it for ever.
    const rest = snapshot.owners.filter((owner) => !alive.includes(owner));
    const decision = rest.length > 0 ? act('OwnerGone', 'another owner keeps it alive', withoutOwners(snapshot, rest)) : nothing('Owned', 'an owner exists');
    return { ...decision, ...checkAgain(alive) };
  }
  if (waiting.length > 0 && snapshot.hasDependents) {
    const blocks = snapshot.owners.some(({ reference }) => reference.blockOwnerDeletion === true);
    // The object and a dependent wait for each other, maybe through others: the cycle is broken here.
    if (snapshot.dependentWaits && blocks) return act('Circle', 'owner and dependent wait for each other', unblocked(snapshot));
    return act('OwnersGo', 'its owner waits for it', remove(snapshot, 'Foreground'));
  }
  return act('OwnersGone', 'none of its owners exists', remove(snapshot, propagationOf(snapshot)));
}

const mustLookUp = (state: OwnerState, now: number): boolean => state.type === 'unknown' || (state.type === 'unseen' && state.checkAgainAt <= now);

function checkAgain(owners: readonly Owner[]): { again?: number } {
  const times = owners.map(({ state }) => (state.type === 'unseen' ? state.checkAgainAt : Number.POSITIVE_INFINITY));
  const again = Math.min(...times);
  return Number.isFinite(again) ? { again } : {};
}

/** The propagation that the finalizers of the object ask for. */
function propagationOf(snapshot: GarbageCollectorSnapshot): Propagation {
  if (snapshot.finalizers.includes(ORPHAN)) return 'Orphan';
  return snapshot.finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

const lookUp = (owner: Owner): GarbageCollectorAction => ({ do: 'lookUp', owner: owner.coordinates });

const remove = (snapshot: GarbageCollectorSnapshot, propagation: Propagation): GarbageCollectorAction => ({
  do: 'delete',
  target: snapshot.target,
  propagation,
});

const withoutFinalizer = (snapshot: GarbageCollectorSnapshot, finalizer: string): GarbageCollectorAction => ({
  do: 'setFinalizers',
  target: snapshot.target,
  finalizers: snapshot.finalizers.filter((other) => other !== finalizer),
});

const withoutOwners = (snapshot: GarbageCollectorSnapshot, gone: readonly Owner[]): GarbageCollectorAction => ({
  do: 'setOwners',
  target: snapshot.target,
  ownerReferences: snapshot.owners.filter((owner) => !gone.includes(owner)).map(({ reference }) => reference),
});

const unblocked = (snapshot: GarbageCollectorSnapshot): GarbageCollectorAction => ({
  do: 'setOwners',
  target: snapshot.target,
  ownerReferences: snapshot.owners.map(({ reference }) => (reference.blockOwnerDeletion === true ? { ...reference, blockOwnerDeletion: false } : reference)),
});

const nothing = (code: string, text: string): GarbageCollectorDecision => ({ actions: [], reasons: [{ code, text }] });
const act = (code: string, text: string, ...actions: readonly GarbageCollectorAction[]): GarbageCollectorDecision => ({ actions, reasons: [{ code, text }] });

function describeUndecidable({ reference, state }: Owner): string {
  const owner = `${reference.apiVersion}/${reference.kind} ${reference.name}`;
  return state.type === 'unserved' ? `${owner} may exist: its kind is not served` : `${owner} is namespaced, and the object is not`;
}
