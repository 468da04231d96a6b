import type { Kind } from '../../api/kind.ts';
import type { Stored } from '../../api/stored.ts';
import { type Client, refOf, type Result } from '../../client/client.ts';
import { type Outcome, outcomeOf } from '../../client/controller/loop.ts';
import type { OwnershipAction } from './ownership.ts';

type Handled<Verb> = Extract<OwnershipAction, { readonly do: Verb }>;

/** `kinds`: those of owner and dependents. The uid in each patch protects a new object of the same name. */
export function ownershipHandlers(client: Client, kinds: readonly Kind[]) {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  const kindOf = ({ kind }: Stored): Kind => {
    const known = byName.get(kind);
    if (known === undefined) throw new Error(`the controller owns no ${kind}`);
    return known;
  };
  const patch = (object: Stored, metadata: object) =>
    client.patch(kindOf(object), refOf(object), { type: 'strategic', body: { metadata: { uid: object.metadata.uid, ...metadata } } });
  return {
    async confirmOwner({ owner }: Handled<'confirmOwner'>): Promise<Outcome> {
      const found = await client.get(kindOf(owner), refOf(owner));
      if (!found.ok) return outcomeOf(found);
      const { uid, deletionTimestamp } = found.value.metadata;
      return uid === owner.metadata.uid && deletionTimestamp === undefined ? 'done' : 'conflict';
    },
    async adopt({ object, reference, finalizers }: Handled<'adopt'>): Promise<Outcome> {
      const result = await patch(object, { ownerReferences: [reference], ...(finalizers === undefined ? {} : { finalizers }) });
      // Another object has that name, or another controller adopted it: the cache will show it.
      return !result.ok && result.reason === 'invalid' ? 'conflict' : doneIfGone(result);
    },
    async release({ object, ownerUid, finalizers }: Handled<'release'>): Promise<Outcome> {
      const removed = finalizers === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': finalizers };
      const result = await patch(object, { ownerReferences: [{ $patch: 'delete', uid: ownerUid }], ...removed });
      return !result.ok && result.reason === 'invalid' ? 'done' : doneIfGone(result);
    },
  };
}

const doneIfGone = (result: Result<unknown>): Outcome => (!result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result));
