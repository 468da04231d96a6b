import type { Stored } from '../../api/stored.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Client, refOf } from '../../client/client.ts';
import { type Outcome, outcomeOf } from '../../client/controller/loop.ts';
import type { OwnershipAction } from './ownership.ts';

/** `kindOf`: the kinds of owner and dependents. The uid in each patch protects a new object of the same name. */
export async function performOwnership(action: OwnershipAction, client: Client, kindOf: (object: Stored<KubeObject>) => Kind): Promise<Outcome> {
  switch (action.do) {
    case 'confirmOwner':
      return await confirmOwner(client, kindOf(action.owner), action.owner);
    case 'adopt': {
      const { object, reference, finalizers } = action;
      const metadata = { uid: object.metadata.uid, ownerReferences: [reference], ...(finalizers === undefined ? {} : { finalizers }) };
      const result = await client.patch(kindOf(object), refOf(object), { type: 'strategic', body: { metadata } });
      // Another object has that name, or another controller adopted it: the cache will show it.
      return !result.ok && result.reason === 'invalid' ? 'conflict' : doneIfGone(result);
    }
    case 'release': {
      const { object, ownerUid, finalizers } = action;
      const removed = finalizers === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': finalizers };
      const metadata = { uid: object.metadata.uid, ownerReferences: [{ $patch: 'delete', uid: ownerUid }], ...removed };
      const result = await client.patch(kindOf(object), refOf(object), { type: 'strategic', body: { metadata } });
      return !result.ok && result.reason === 'invalid' ? 'done' : doneIfGone(result);
    }
  }
}

async function confirmOwner(client: Client, kind: Kind, owner: Stored<KubeObject>): Promise<Outcome> {
  const found = await client.get(kind, refOf(owner));
  if (!found.ok) return outcomeOf(found);
  const { uid, deletionTimestamp } = found.value.metadata;
  return uid === owner.metadata.uid && deletionTimestamp === undefined ? 'done' : 'conflict';
}

const doneIfGone = (result: Parameters<typeof outcomeOf>[0]): Outcome => (!result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result));
