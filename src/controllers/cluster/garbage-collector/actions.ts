import { apiVersionOf, type Kind } from '../../../api/kind.ts';
import type { OwnerReference } from '../../../api/generated/types.ts';
import type { Client, Ref, Result } from '../../../client/client.ts';
import type { Decision } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

/** Everything that the garbage collector may do. */
export type GarbageCollectorAction =
  /** Asks the server whether an owner exists that is in no cache. */
  | { readonly do: 'lookUp'; readonly owner: Coordinates }
  | { readonly do: 'setOwners'; readonly target: Target; readonly ownerReferences: readonly OwnerReference[] }
  | { readonly do: 'setFinalizers'; readonly target: Target; readonly finalizers: readonly string[] }
  | { readonly do: 'delete'; readonly target: Target; readonly propagation: Propagation };

export type GarbageCollectorDecision = Decision<GarbageCollectorAction>;

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

/** Identifies an object by kind, namespace, name and uid. */
export interface Coordinates {
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined: cluster-scoped. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
}

/** An object at the resourceVersion of the decision: actions apply to no other version. */
export interface Target extends Coordinates {
  readonly resourceVersion: string;
  readonly ownerReferences: readonly OwnerReference[];
}

export interface OwnerLookup {
  readonly kindOf: (of: Pick<Coordinates, 'apiVersion' | 'kind'>) => Kind | undefined;
  /** `dependent`: the uid of the object that names the owner. */
  readonly lookedUp: (owner: Coordinates, exists: boolean, dependent: string) => void;
}

export function garbageCollectorHandlers(client: Client, { kindOf, lookedUp }: OwnerLookup) {
  /** Of a kind that is not served any more, nothing can be written. */
  const withKind =
    <Action extends GarbageCollectorAction>(handler: (action: Action, kind: Kind, uid: string) => Promise<Outcome>) =>
    async (action: Action, uid: string): Promise<Outcome> => {
      const subject = action.do === 'lookUp' ? action.owner : action.target;
      const kind = kindOf(subject);
      return kind === undefined ? { retry: `${subject.apiVersion}/${subject.kind} is not served` } : await handler(action, kind, uid);
    };
  type Handled<Verb> = Extract<GarbageCollectorAction, { do: Verb }>;
  return {
    lookUp: withKind(async ({ owner }: Handled<'lookUp'>, kind, uid) => {
      const found = await client.get(kind, refOf(owner));
      if (!found.ok && found.reason !== 'notFound') return outcomeOf(found);
      // Another object of that name is not the owner.
      lookedUp(owner, found.ok && found.value.metadata.uid === owner.uid, uid);
      return 'done';
    }),
    setOwners: withKind(({ target, ownerReferences }: Handled<'setOwners'>, kind) => setMetadata(client, kind, target, { ownerReferences })),
    setFinalizers: withKind(({ target, finalizers }: Handled<'setFinalizers'>, kind) => setMetadata(client, kind, target, { finalizers })),
    delete: withKind((action: Handled<'delete'>, kind) => remove(client, kind, action)),
  };
}

async function setMetadata(client: Client, kind: Kind, target: Target, metadata: object): Promise<Outcome> {
  const body = { metadata: { resourceVersion: target.resourceVersion, ...metadata } };
  return doneIfGone(await client.patch(kind, refOf(target), { type: 'merge', body }));
}

/**
 * An object that is written all the time would never be deleted at the resourceVersion of the decision. So a conflict is retried with
 * the current resourceVersion, as long as the owner references are unchanged. Without that check, an object that is being adopted
 * at this moment would be deleted.
 */
async function remove(client: Client, kind: Kind, { target, propagation }: Extract<GarbageCollectorAction, { do: 'delete' }>): Promise<Outcome> {
  const { uid } = target;
  let { resourceVersion } = target;
  for (let tries = 0; tries < triesLimit; tries++) {
    const result = await client.delete(kind, refOf(target), { preconditions: { uid, resourceVersion }, propagation });
    if (result.ok || result.reason !== 'conflict') return doneIfGone(result);
    const live = await client.get(kind, refOf(target));
    if (!live.ok) return doneIfGone(live);
    if (live.value.metadata.uid !== uid) return 'done';
    if (!sameOwners(live.value.metadata.ownerReferences ?? [], target.ownerReferences)) return 'conflict';
    resourceVersion = live.value.metadata.resourceVersion;
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

/** Kinds by apiVersion and kind, as in owner references. */
export function kindsByName(kinds: readonly Kind[]): OwnerLookup['kindOf'] {
  const byName = new Map(kinds.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));
  return ({ apiVersion, kind }) => byName.get(`${apiVersion}/${kind}`);
}
