/** Live reads before an action that cannot be undone: a cache may be behind. */
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Client, type Ref, refOf } from '../client.ts';
import { type Outcome, outcomeOf } from './loop.ts';

/** `done`: no object of that uid exists. `conflict`: it does, and the cache will show it soon. */
export async function confirmGone<T extends KubeObject>(client: Client, kind: Kind<T>, { uid, ...ref }: Ref & { readonly uid: string }): Promise<Outcome> {
  const found = await client.get(kind, ref);
  if (found.ok) return found.value.metadata.uid === uid ? 'conflict' : 'done';
  return found.reason === 'notFound' ? 'done' : outcomeOf(found);
}

/** `done`: the object still has the resourceVersion that was decided from. */
export async function confirmCurrent<T extends KubeObject>(client: Client, kind: Kind<T>, object: T): Promise<Outcome> {
  const found = await client.get(kind, refOf(object));
  if (!found.ok) return outcomeOf(found);
  return found.value.metadata.resourceVersion === object.metadata.resourceVersion ? 'done' : 'conflict';
}
