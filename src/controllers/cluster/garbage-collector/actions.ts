import { apiVersionOf, type Kind } from '../../../api/kind.ts';
import type { OwnerReference } from '../../../api/generated/types.ts';
import type { Client, Ref, Result } from '../../../client/client.ts';
import type { Decision } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

/** Everything that the collector may do to the world. */
export type GarbageCollectorAction =
  /** Ask the server whether an owner that no informer has told of exists. */
  | { readonly type: 'look-up'; readonly owner: Coordinates }
  | { readonly type: 'set-owners'; readonly target: Target; readonly ownerReferences: readonly OwnerReference[] }
  | { readonly type: 'set-finalizers'; readonly target: Target; readonly finalizers: readonly string[] }
  | { readonly type: 'delete'; readonly target: Target; readonly propagation: Propagation };

export type GarbageCollectorDecision = Decision<GarbageCollectorAction>;

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

/** Where an object is said to be, and which one it is said to be. */
export interface Coordinates {
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined: cluster-scoped. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
}

/** An object in the state in which it was decided upon: nothing is done to any other. */
export interface Target extends Coordinates {
  readonly resourceVersion: string;
  readonly ownerReferences: readonly OwnerReference[];
}

export interface OwnerLookup {
  readonly kindOf: (of: Pick<Coordinates, 'apiVersion' | 'kind'>) => Kind | undefined;
  readonly lookedUp: (owner: Coordinates, exists: boolean) => void;
}

export async function perform(action: GarbageCollectorAction, client: Client, facts: OwnerLookup): Promise<Outcome> {
  const subject = action.type === 'look-up' ? action.owner : action.target;
  const kind = facts.kindOf(subject);
  if (kind === undefined) return { retry: `${subject.apiVersion}/${subject.kind} is not served` };
  switch (action.type) {
    case 'look-up':
      return await lookUp(action.owner, kind, { client, facts });
    case 'set-owners':
      return await setMetadata(client, kind, action.target, { ownerReferences: action.ownerReferences });
    case 'set-finalizers':
      return await setMetadata(client, kind, action.target, { finalizers: action.finalizers });
    case 'delete':
      return await remove(client, kind, action);
  }
}

async function lookUp(owner: Coordinates, kind: Kind, { client, facts }: { client: Client; facts: OwnerLookup }): Promise<Outcome> {
  const found = await client.get(kind, refOf(owner));
  if (!found.ok && found.reason !== 'notFound') return outcomeOf(found);
  // Somebody else of that name is not the owner.
  facts.lookedUp(owner, found.ok && found.value.metadata.uid === owner.uid);
  return 'done';
}

async function setMetadata(client: Client, kind: Kind, target: Target, metadata: object): Promise<Outcome> {
  const body = { metadata: { resourceVersion: target.resourceVersion, ...metadata } };
  return doneIfGone(await client.patch(kind, refOf(target), { type: 'merge', body }));
}

/**
 * An object that is written all the time would never be collected in the state that was decided upon. What counts is that
 * its owners are still the same: then it is tried again in the state that it is in by now. Never in just any state:
 * somebody may be adopting it at this very moment.
 */
async function remove(client: Client, kind: Kind, { target, propagation }: Extract<GarbageCollectorAction, { type: 'delete' }>): Promise<Outcome> {
  const { uid } = target;
  let { resourceVersion } = target;
  for (let tries = 0; tries < triesLimit; tries++) {
    const result = await client.delete(kind, refOf(target), { preconditions: { uid, resourceVersion }, propagation });
    if (result.ok || result.reason !== 'conflict') return doneIfGone(result);
    const live = await client.get(kind, refOf(target));
    if (!live.ok) return doneIfGone(live);
    if (live.value.metadata.uid !== uid) return 'done';
    if (!sameOwners(live.value.metadata.ownerReferences ?? [], target.ownerReferences)) return 'conflict';
    resourceVersion = live.value.metadata.resourceVersion ?? '';
  }
  return 'conflict';
}

const triesLimit = 10;

const doneIfGone = (result: Result<unknown>): Outcome => (!result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result));

const refOf = ({ namespace, name }: Coordinates): Ref => ({ namespace, name });

export function sameOwners(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return a.length === b.length && a.every((owner, i) => sameOwner(owner, b[i]));
}

function sameOwner(a: OwnerReference, b: OwnerReference | undefined): boolean {
  return (
    b !== undefined &&
    a.uid === b.uid &&
    a.name === b.name &&
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.controller === b.controller &&
    a.blockOwnerDeletion === b.blockOwnerDeletion
  );
}

/** Kinds by what owner references call them. */
export function kindsByName(kinds: readonly Kind[]): OwnerLookup['kindOf'] {
  const byName = new Map(kinds.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));
  return ({ apiVersion, kind }) => byName.get(`${apiVersion}/${kind}`);
}
